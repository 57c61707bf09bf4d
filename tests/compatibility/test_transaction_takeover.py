"""Kafka 3.9 takes our transactions over where we left them, and we take them over from Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.transactional import Transactional, decide
from tests.compatibility.kafka import SETTINGS, compact_json, start_kafka, topic_znodes

from odradek.log.disk import OsDisk
from odradek.log.log import PartitionLog, ReadUpTo
from odradek.log.open_files import OpenFiles
from odradek.log.settings import LogSettings
from odradek.model.errors import ErrorCode
from odradek.model.ids import id_text
from odradek.model.outcome import StoredRecord
from odradek.testing.broker import Broker
from odradek.transactions.shard import TransactionShard
from odradek.transactions.transaction import Identity
from odradek.wire.batch import split
from odradek.wire.records import read_records

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

NONE = ErrorCode.NONE
TOPICS = ("topic", "__transaction_state", "__consumer_offsets")
Znodes = dict[str, str]
Identities = dict[str, Identity]


def begun(broker: Broker, id: str, *, v2: bool = False) -> Transactional:
    """With a record and an offset of its own in an open transaction."""
    producer = Transactional(broker.bootstrap, id, v2=v2)
    assert producer.open() is NONE
    assert v2 or producer.add("topic") is NONE
    assert producer.write("topic", id.encode()) is NONE
    assert producer.add_offsets(id) is NONE
    assert producer.commit_offset(id, "topic", 5) is NONE
    return producer


def leave_off(directory: Path) -> tuple[Znodes, Identities]:
    """Our broker stops in the midst of it. What ZooKeeper would hold, and who was who."""
    with Broker(SETTINGS, directory=str(directory)) as broker:
        broker.create_topic("topic")
        returned = Transactional(broker.bootstrap, "returned")
        assert (returned.open(), returned.open(returns=True)) == (NONE, NONE)
        producers = [
            begun(broker, "open"),
            begun(broker, "open in v2", v2=True),
            begun(broker, "committed"),
            begun(broker, "aborted"),
            begun(broker, "decided"),
            returned,
        ]
        for producer, committed in ((producers[2], True), (producers[3], False)):
            assert producer.end(committed=committed) is NONE
            producer.await_state("CompleteCommit" if committed else "CompleteAbort")
        decide(broker, producers[4], committed=True)
        for producer in producers:
            producer.close()
        return znodes_of(broker), {producer.id: producer.who for producer in producers}


def znodes_of(broker: Broker) -> Znodes:
    image = broker.node.metadata.image
    known = {"/cluster/id": compact_json({"version": "1", "id": image.cluster_id})}
    block = {"version": 1, "broker": 0, "block_start": "0", "block_end": "999"}
    known["/latest_producer_id_block"] = compact_json(block)
    for name in TOPICS:
        topic = image.topics[name]
        epochs = [topic.partitions[number].leader_epoch for number in sorted(topic.partitions)]
        known |= topic_znodes(name, id_text(topic.id), epochs)
    return known


def test_kafka_goes_on_where_we_left_off_and_we_where_kafka_did(tmp_path: Path, kafka_jars: str) -> None:
    home = tmp_path / "kafka"
    (home / "broker-0").mkdir(parents=True)
    znodes, identities = leave_off(home / "broker-0")
    with start_kafka(kafka_jars, home, znodes=znodes) as kafka:
        producers = {id: Transactional(kafka.bootstrap, id) for id in identities}
        for id, producer in producers.items():
            producer.who = identities[id]
        producers["decided"].await_state("CompleteCommit")
        states = {id: producer.describe().transaction_state for id, producer in producers.items()}
        assert states == {
            "open": "Ongoing",
            "open in v2": "Ongoing",
            "committed": "CompleteCommit",
            "aborted": "CompleteAbort",
            "decided": "CompleteCommit",
            "returned": "Empty",
        }
        described = {id: producer.describe() for id, producer in producers.items()}
        assert {id: (it.producer_id, it.producer_epoch) for id, it in described.items()} == identities
        for id in ("open", "open in v2"):
            assert producers[id].end(committed=True) is NONE
            producers[id].await_state("CompleteCommit")
        assert producers["open"].read("topic") == [b"open", b"open in v2", b"committed", b"decided"]
        for id in ("open", "open in v2", "committed", "decided", "aborted"):
            assert producers[id].committed_offset(id, "topic") == (-1 if id == "aborted" else 5)
        for producer in producers.values():
            producer.close()
    shard = TransactionShard(900_000, 1000)
    for record in stored(home / "broker-0" / "__transaction_state-0"):
        shard.replay(record, -1)
    kept = {id: transaction.state.label for id, transaction in shard}
    assert kept == {**states, "open": "CompleteCommit", "open in v2": "CompleteCommit"}
    assert {id: transaction.identity for id, transaction in shard} == identities


def stored(directory: Path) -> Iterator[StoredRecord]:
    log = PartitionLog.open(OpenFiles(OsDisk()), str(directory), LogSettings(), now_ms=1, clean=False)
    offset = log.log_start
    while offset < log.log_end:
        found = log.read(offset, 1 << 20, ReadUpTo.LOG_END).slice
        assert found is not None
        data = found.read()
        for at, header in split(data):
            yield from (StoredRecord(each.key or b"", each.value) for each in read_records(data, at))
            offset = header.next_offset
