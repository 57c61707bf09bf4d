from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.log.log import PartitionLog
from odradek.model.ids import Partition
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.produce import PartitionData, ProduceRequest, ProduceResponse, TopicData
from odradek.wire.messages.topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.wire.records import read_records


class Kept:
    """A broker, its one log, and a client."""

    def __init__(self, broker: Broker, client: Conversation) -> None:
        self.broker = broker
        self._client = client

    def create(self, **configs: object) -> None:
        topic = CreatableTopic(
            name="orders",
            num_partitions=1,
            replication_factor=1,
            assignments=(),
            configs=tuple(
                CreatableTopicConfig(name=name.replace("_", "."), value=str(value))
                for name, value in configs.items()
            ),
        )
        self._client.ask(CreateTopicsRequest(topics=(topic,), timeout_ms=5000), 7)

    def produce(self, key: bytes) -> None:
        now_ms = self.broker.clock.movable.wall_ms()
        data = PartitionData(index=0, records=memoryview(batch_of(now_ms, key=key)))
        request = ProduceRequest(
            acks=-1, timeout_ms=5000, topic_data=(TopicData(name="orders", partition_data=(data,)),)
        )
        answer = self._client.ask(request, 9)
        assert isinstance(answer, ProduceResponse)
        assert answer.responses[0].partition_responses[0].error_code == 0

    @property
    def log(self) -> PartitionLog:
        log = self.broker.node.directories.log(Partition("orders", 0))
        assert log is not None
        return log


@pytest.fixture
def kept() -> Iterator[Kept]:
    with Broker() as broker, Conversation(broker.bootstrap) as client:
        yield Kept(broker, client)


def test_a_week_that_passes_at_once_takes_its_records_along(kept: Kept) -> None:
    kept.create()
    kept.produce(b"a")
    kept.broker.clock.advance(days=6)
    kept.produce(b"b")
    assert kept.log.log_start == 0
    kept.broker.clock.advance(days=8)
    assert (kept.log.log_start, kept.log.log_end) == (2, 2)


@pytest.mark.slow
def test_a_compacted_topic_is_cleaned_by_another_process_as_time_passes(kept: Kept) -> None:
    kept.create(cleanup_policy="compact", segment_ms=1000)
    for key in (b"a", b"b", b"a", b"b", b"c"):
        kept.produce(key)
        kept.broker.clock.advance(seconds=2)
    kept.broker.clock.advance(seconds=20)
    offsets = [
        record.offset
        for segment in kept.log.segments
        for position, header in segment.batches(0)
        for record in read_records(segment.file.read(position, header.size))
    ]
    assert offsets == [2, 3, 4]


def test_who_stops_while_a_chore_is_due_stops_cleanly(kept: Kept) -> None:
    kept.create()
    kept.produce(b"a")
    kept.broker.clock.movable.push(8 * 24 * 3600 * 1000)
