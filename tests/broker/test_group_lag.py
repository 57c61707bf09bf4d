from __future__ import annotations

from itertools import count

import pytest

from odradek.broker.group_lag import READS_MAX, GroupLag
from odradek.observe.sources import ProgressFacts
from odradek.testing.batches import T0, batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.group_offsets import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
)
from odradek.wire.messages.metadata import FindCoordinatorRequest
from odradek.wire.messages.offsets import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from odradek.wire.messages.produce import PartitionData, ProduceRequest, TopicData

COORDINATED_WITHIN = 500  # attempts

_groups = count()


class Reader:
    """A group that commits for one topic."""

    def __init__(self, broker: Broker, client: Conversation, topic: str) -> None:
        self.broker = broker
        self.id = f"readers-{next(_groups)}"
        self.topic = topic
        self.client = client
        self.lag = self.new_lag(READS_MAX)
        self._now_ms = broker.node.services.clock.wall_ms

    def new_lag(self, reads_max: int) -> GroupLag:
        services = self.broker.node.services
        return GroupLag(services.groups, services.replicas, services.clock, reads_max=reads_max)

    def produce(self, *timestamps: int) -> None:
        data = PartitionData(index=0, records=memoryview(batch_of(*timestamps)))
        topic = TopicData(name=self.topic, partition_data=(data,))
        self.client.ask(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=(topic,)), 9)

    def commit(self, offset: int, *, group: str | None = None) -> None:
        place = OffsetCommitPartition(partition_index=0, committed_offset=offset, committed_metadata="")
        topic = OffsetCommitTopic(name=self.topic, partitions=(place,))
        request = OffsetCommitRequest(group_id=group or self.id, topics=(topic,))
        for _ in range(COORDINATED_WITHIN):
            answer = self.client.ask(request, 8)
            assert isinstance(answer, OffsetCommitResponse)
            if not answer.topics[0].partitions[0].error_code:
                return
            self.client.ask(FindCoordinatorRequest(coordinator_keys=(request.group_id,)), 4)
        raise AssertionError(f"{request.group_id} has no coordinator")

    def progress(self, group: str | None = None) -> ProgressFacts:
        (found,) = (facts for facts in self.lag.facts() if facts.id == (group or self.id))
        (place,) = found.progress
        return place

    def age_s(self, timestamp: int) -> float:
        return (self._now_ms() - timestamp) / 1000


@pytest.fixture
def reader(shared_broker: Broker, client: Conversation, topic: str) -> Reader:
    return Reader(shared_broker, client, topic)


def test_who_has_read_everything_is_not_behind(reader: Reader) -> None:
    reader.produce(T0, T0)
    reader.commit(2)
    assert reader.progress() == ProgressFacts(reader.topic, 0, 2, 0, 0.0)


def test_lag_is_as_old_as_the_oldest_batch_that_is_not_read(reader: Reader) -> None:
    for timestamp in (T0, T0 + 10_000, T0 + 20_000):
        reader.produce(timestamp)
    reader.commit(1)
    found = reader.progress()
    assert found.lag == 2
    assert found.lag_s == pytest.approx(reader.age_s(T0 + 10_000), abs=5)


def test_it_grows_younger_as_the_group_goes_on(reader: Reader) -> None:
    for timestamp in (T0, T0 + 10_000_000):
        reader.produce(timestamp)
    reader.commit(0)
    before = reader.progress().lag_s
    reader.commit(1)
    after = reader.progress().lag_s
    assert before is not None
    assert after is not None
    assert before - after == pytest.approx(10_000, abs=5)


def test_what_the_log_has_lost_is_as_old_as_where_it_begins_now(reader: Reader) -> None:
    for timestamp in (T0, T0 + 10_000, T0 + 20_000):
        reader.produce(timestamp)
    reader.commit(0)
    place = DeleteRecordsPartition(partition_index=0, offset=2)
    topic = DeleteRecordsTopic(name=reader.topic, partitions=(place,))
    reader.client.ask(DeleteRecordsRequest(topics=(topic,), timeout_ms=1000), 2)
    found = reader.progress()
    assert found.lag == 3
    assert found.lag_s == pytest.approx(reader.age_s(T0 + 20_000), abs=5)


def test_a_commit_past_the_end_is_not_behind(reader: Reader) -> None:
    reader.produce(T0)
    reader.commit(5)
    assert reader.progress()[2:] == (5, -4, 0.0)


def test_of_more_than_one_scrape_may_read_all_have_their_turn(reader: Reader) -> None:
    """Two headers a scrape; and who stays where it was needs no other."""
    reader.produce(T0, T0, T0)
    groups = [f"{reader.id}-{number}" for number in range(7)]
    for group in groups:
        reader.commit(1, group=group)
    lag = reader.new_lag(reads_max=2)
    told: set[str] = set()
    for _ in range(50):
        now = {
            facts.id for facts in lag.facts() if facts.id in groups and facts.progress[0].lag_s is not None
        }
        assert told <= now
        assert len(now) - len(told) <= 2
        told = now
    assert told == set(groups)
