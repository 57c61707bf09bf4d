"""Records what Apache Kafka 3.9.2 keeps of groups: the partition of __consumer_offsets, and what it answers.

python tests/golden/offsets_topic/capture.py CLASSPATH
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from tests.compatibility.kafka import start_kafka  # noqa: E402

from odradek.testing.conversation import Conversation  # noqa: E402
from odradek.wire.messages import group_offsets, groups, metadata, transactions  # noqa: E402

PARTITION = "__consumer_offsets-0"
SEGMENT = "00000000000000000000.log"
TRANSACTIONAL_IDS = ("committed", "aborted", "ongoing")


def main(jars: str) -> None:
    with tempfile.TemporaryDirectory() as home, start_kafka(jars, Path(home)) as kafka:
        with Conversation(kafka.bootstrap, client_id="ann") as client:
            prepare(client)
            commit(client)
            join(client)
            leave(client)
            delete(client)
            for transactional_id in TRANSACTIONAL_IDS:
                transact(client, transactional_id)
            time.sleep(1)  # for the last marker
            (HERE / "answers.txt").write_text("".join(f"{answer}\n" for answer in answers(client)))
        shutil.copy(kafka.directory(0) / PARTITION / SEGMENT, HERE / SEGMENT)


def prepare(client: Conversation) -> None:
    topics = (metadata.MetadataRequestTopic(name="t"),)
    while True:
        asked = metadata.FindCoordinatorRequest(coordinator_keys=("g", *TRANSACTIONAL_IDS))
        found = client.get(metadata.FindCoordinatorResponse, asked, 4)
        client.ask(metadata.FindCoordinatorRequest(coordinator_keys=TRANSACTIONAL_IDS, key_type=1), 4)
        known = client.get(metadata.MetadataResponse, metadata.MetadataRequest(topics=topics), 12)
        if not (found.coordinators[0].error_code or known.topics[0].error_code):
            return
        time.sleep(0.5)


def commit(client: Conversation) -> None:
    """With a time of its own to expire, and without; with a note, and an epoch; and forgotten again."""
    part = group_offsets.OffsetCommitPartition(
        partition_index=0, committed_offset=41, committed_leader_epoch=3, committed_metadata="nöte"
    )
    topics = (group_offsets.OffsetCommitTopic(name="t", partitions=(part,)),)
    client.ask(group_offsets.OffsetCommitRequest(group_id="forgets", topics=topics), 9)
    gone = group_offsets.OffsetDeleteTopic(
        name="t", partitions=(group_offsets.OffsetDeletePartition(partition_index=0),)
    )
    client.ask(group_offsets.OffsetDeleteRequest(group_id="forgets", topics=(gone,)), 0)
    client.ask(group_offsets.OffsetCommitRequest(group_id="plain", topics=topics), 9)
    client.ask(
        group_offsets.OffsetCommitRequest(group_id="expires", topics=topics, retention_time_ms=10**12), 2
    )


def join(client: Conversation, group: str = "static", instance: str | None = "a") -> str:
    protocols = (
        groups.JoinGroupProtocol(name="range", metadata=b"meta"),
        groups.JoinGroupProtocol(name="sticky", metadata=b"other"),
    )
    joined = client.get(
        groups.JoinGroupResponse,
        groups.JoinGroupRequest(
            group_id=group,
            session_timeout_ms=20_000,
            rebalance_timeout_ms=30_000,
            member_id="",
            group_instance_id=instance,
            protocol_type="connect",
            protocols=protocols,
        ),
        9 if instance else 3,
    )
    given = (groups.SyncGroupAssignment(member_id=joined.member_id, assignment=b"assigned"),)
    client.ask(
        groups.SyncGroupRequest(
            group_id=group,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id=instance,
            protocol_type="connect",
            protocol_name="range",
            assignments=given,
        ),
        5,
    )
    return joined.member_id


def leave(client: Conversation) -> None:
    member_id = join(client, "left", None)
    client.ask(groups.LeaveGroupRequest(group_id="left", member_id=member_id), 2)


def delete(client: Conversation) -> None:
    member_id = join(client, "deleted", None)
    client.ask(groups.LeaveGroupRequest(group_id="deleted", member_id=member_id), 2)
    client.ask(groups.DeleteGroupsRequest(groups_names=("deleted",)), 2)


def transact(client: Conversation, transactional_id: str) -> None:
    wanted = transactions.InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=60_000, producer_id=-1, producer_epoch=-1
    )
    while (
        producer := client.get(transactions.InitProducerIdResponse, wanted, 4)
    ).error_code:  # its coordinator is still being loaded
        time.sleep(0.5)
    client.ask(
        transactions.AddOffsetsToTxnRequest(
            transactional_id=transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            group_id=transactional_id,
        ),
        3,
    )
    part = group_offsets.TxnOffsetCommitPartition(
        partition_index=0, committed_offset=77, committed_metadata=None
    )
    client.ask(
        group_offsets.TxnOffsetCommitRequest(
            transactional_id=transactional_id,
            group_id=transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            topics=(group_offsets.TxnOffsetCommitTopic(name="t", partitions=(part,)),),
        ),
        3,
    )
    if transactional_id != "ongoing":
        client.ask(
            transactions.EndTxnRequest(
                transactional_id=transactional_id,
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                committed=transactional_id == "committed",
            ),
            3,
        )


def answers(client: Conversation) -> list[object]:
    """Of every group: how it is described, and what it has committed."""
    told = []
    for group in ("forgets", "plain", "expires", "static", "left", "deleted", *TRANSACTIONAL_IDS):
        told.append(client.ask(groups.DescribeGroupsRequest(groups=(group,)), 5))
        wanted = (
            group_offsets.OffsetFetchGroup(
                group_id=group,
                topics=(group_offsets.OffsetFetchTopic(name="t", partition_indexes=(0,)),),
            ),
        )
        told.append(client.ask(group_offsets.OffsetFetchRequest(groups=wanted, require_stable=True), 9))
    return told


if __name__ == "__main__":
    main(sys.argv[1])
