"""What outlives members and brokers: offsets, for a time; and what does not: topics that were deleted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.groups.offsets import Place
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.group_offsets import OffsetCommitPartition, OffsetCommitRequest, OffsetCommitTopic
from odradek.wire.messages.metadata import FindCoordinatorRequest, FindCoordinatorResponse


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"offsets.retention.minutes": "60"}) as broker:
        broker.create_topic("t")
        broker.create_topic("u")
        yield broker


def commit(broker: Broker, topic: str, offset: int) -> None:
    part = OffsetCommitPartition(partition_index=0, committed_offset=offset, committed_metadata=None)
    topics = (OffsetCommitTopic(name=topic, partitions=(part,)),)
    with Conversation(broker.bootstrap) as client:
        found = client.ask(FindCoordinatorRequest(coordinator_keys=("g",)), 4)
        assert isinstance(found, FindCoordinatorResponse)
        client.ask(OffsetCommitRequest(group_id="g", topics=topics), 9)


def committed(broker: Broker, topic: str) -> int | None:
    value = broker.node.services.groups.hosting("g").shard.offsets.get(Place("g", topic, 0))
    return None if value is None else value.offset


def test_offsets_outlive_the_broker(broker: Broker) -> None:
    commit(broker, "t", 5)
    broker.restart()
    with Conversation(broker.bootstrap) as client:
        client.ask(FindCoordinatorRequest(coordinator_keys=("g",)), 4)
    assert committed(broker, "t") == 5


def test_offsets_are_forgotten_in_time(broker: Broker) -> None:
    commit(broker, "t", 5)
    broker.clock.advance(minutes=55)
    commit(broker, "u", 6)
    broker.clock.advance(minutes=15)
    assert (committed(broker, "t"), committed(broker, "u")) == (None, 6)


def test_offsets_of_a_deleted_topic_are_forgotten(broker: Broker) -> None:
    commit(broker, "t", 5)
    commit(broker, "u", 6)
    broker.delete_topic("t")
    broker.clock.advance(milliseconds=1)
    assert (committed(broker, "t"), committed(broker, "u")) == (None, 6)
