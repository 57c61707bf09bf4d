"""Deleting topics: every replica's log goes first, then all that is written of the topic.

A replica on a broker that is down keeps its topic waiting, because it would come back with the broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from odradek.controller.effects import (
    EPOCH_WHILE_DELETED,
    LEADER_WHILE_DELETED,
    DropDeletionRequests,
    Effect,
    RemoveTopics,
    StopReplicas,
    TellEverybody,
)
from odradek.controller.state import ControllerState, by_broker, partitions_of, replicas_of
from odradek.model.ids import BrokerId, Partition
from odradek.model.image import PartitionImage


def begin_deletion(state: ControllerState, topics: frozenset[str]) -> list[Effect]:
    known = frozenset(name for name in topics if name in state.image.topics)
    fresh = known - state.deleting
    effects: list[Effect] = [DropDeletionRequests(topics - known)] if topics - known else []
    if not fresh:
        return effects
    state.deleting |= fresh
    for name in fresh:
        state.stopped[name] = set()
    going = _partitions(state, fresh)
    forgotten = {each: known._replace(leader=LEADER_WHILE_DELETED) for each, known in going.items()}
    effects.append(TellEverybody(state.live, forgotten))
    return effects + _stop(state, state.live, going) + _finish(state, fresh)


def replicas_stopped(
    state: ControllerState, broker: BrokerId, partitions: Iterable[Partition]
) -> list[Effect]:
    topics = set()
    for partition in partitions:
        if partition.topic in state.deleting:
            state.stopped[partition.topic].add((broker, partition.number))
            topics.add(partition.topic)
    return _finish(state, topics)


def resume_deletion(state: ControllerState, came: Set[BrokerId]) -> list[Effect]:
    """These brokers are back: what they still hold of deleted topics goes."""
    return _stop(state, came, _partitions(state, state.deleting))


def _stop(
    state: ControllerState, brokers: Iterable[BrokerId], going: dict[Partition, PartitionImage]
) -> list[Effect]:
    held = [
        (
            partition,
            [
                broker
                for broker in known.replicas
                if (broker, partition.number) not in state.stopped[partition.topic]
            ],
        )
        for partition, known in going.items()
    ]
    return [
        StopReplicas(broker, dict.fromkeys(theirs, EPOCH_WHILE_DELETED), delete=True)
        for broker, theirs in by_broker(held, brokers).items()
    ]


def _finish(state: ControllerState, topics: Iterable[str]) -> list[Effect]:
    """Those of them whose replicas are all gone."""
    done = frozenset(
        name for name in topics if set(replicas_of(state.image.topics[name])) <= state.stopped[name]
    )
    if not done:
        return []
    state.image = state.image.without_topics(done)
    state.deleting -= done
    for name in done:
        del state.stopped[name]
    return [RemoveTopics(done)]


def _partitions(state: ControllerState, topics: Iterable[str]) -> dict[Partition, PartitionImage]:
    return {
        partition: known
        for name in sorted(topics)
        for partition, known in partitions_of(state.image.topics[name])
    }
