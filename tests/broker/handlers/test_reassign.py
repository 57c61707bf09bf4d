"""What elections, reassignments and log directories promise in versions that Kafka 3.9 does not speak; the
others are compared with Kafka's answers in tests/compatibility/."""

from __future__ import annotations

from pathlib import Path

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.reassign import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    ReassignablePartition,
    ReassignableTopic,
)


def reassigned(client: Conversation, topic: str, *brokers: int, may_resize: bool) -> ErrorCode:
    part = ReassignablePartition(partition_index=0, replicas=brokers)
    request = AlterPartitionReassignmentsRequest(
        allow_replication_factor_change=may_resize,
        topics=(ReassignableTopic(name=topic, partitions=(part,)),),
    )
    answer = client.ask(request, 1)
    assert isinstance(answer, AlterPartitionReassignmentsResponse)
    assert answer.allow_replication_factor_change is may_resize
    return ErrorCode.of(answer.responses[0].partitions[0].error_code)


def test_a_reassignment_may_insist_on_the_number_of_replicas(client: Conversation, topic: str) -> None:
    assert reassigned(client, topic, 0, may_resize=False) is ErrorCode.NONE
    assert reassigned(client, topic, 0, 1, may_resize=False) is ErrorCode.INVALID_REPLICATION_FACTOR
    assert reassigned(client, topic, 0, 1, may_resize=True) is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_log_directory_says_how_much_room_it_has(client: Conversation, topic: str) -> None:
    answer = client.ask(DescribeLogDirsRequest(topics=None), 5)
    assert isinstance(answer, DescribeLogDirsResponse)
    (found,) = answer.results
    assert 0 < found.usable_bytes <= found.total_bytes
    assert not found.is_cordoned
    assert topic in {each.name for each in found.topics}


def test_a_log_directory_that_failed_says_so(tmp_path: Path) -> None:
    paths = [str(tmp_path / "sound"), str(tmp_path / "broken")]
    with Broker({"log.dirs": ",".join(paths)}) as broker, Conversation(broker.bootstrap) as client:
        broker.node.directories.failed(paths[1], "pulled out")
        answer = client.ask(DescribeLogDirsRequest(topics=None), 5)
        assert isinstance(answer, DescribeLogDirsResponse)
        codes = {each.log_dir: each.error_code for each in answer.results}
        assert codes == {paths[0]: 0, paths[1]: ErrorCode.KAFKA_STORAGE_ERROR.code}
