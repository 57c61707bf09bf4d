"""Deleting topics: every replica's log goes first, then all that is written of the topic.

A replica on a broker that is down keeps its topic waiting, because it would come back with the broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from odradek.broker.first_controller.effects import (
    DropDeletionRequests,
    Effect,
    RemoveTopics,
    StopReplicas,
    TellEverybody,
)
from odradek.broker.first_controller.state import ControllerState, by_broker, partitions_of, replicas_of
from odradek.model.ids import BrokerId, Partition


def begin_deletion(state: ControllerState, topics: frozenset[str]) -> list[Effect]:
    known = frozenset(name for name in topics if name in state.image.topics)
    fresh = known - state.deleting
    effects: list[Effect] = [DropDeletionRequests(topics - known)] if topics - known else []
    if not fresh:
        return effects
    state.deleting |= fresh
    for name in fresh:
        state.stopped[name] = set()
    going = frozenset(_partitions(state, fresh))
    effects.append(TellEverybody(state.live, frozenset(), deleted=going))
    return effects + _stop(state, going) + _finish(state, fresh)


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
    going = frozenset(
        partition
        for partition in _partitions(state, state.deleting)
        if any((broker, partition.number) not in state.stopped[partition.topic] for broker in came)
    )
    return [each for each in _stop(state, going) if isinstance(each, StopReplicas) and each.broker in came]


def _stop(state: ControllerState, going: frozenset[Partition]) -> list[Effect]:
    return [
        StopReplicas(broker, theirs, delete=True)
        for broker, theirs in sorted(by_broker(going, state.image).items())
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


def _partitions(state: ControllerState, topics: Iterable[str]) -> Iterable[Partition]:
    return (partition for name in topics for partition, _ in partitions_of(state.image.topics[name]))
