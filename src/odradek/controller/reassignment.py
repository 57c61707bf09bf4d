"""The next step of moving a partition's replicas: those to come are added, wait to be in sync, others go.

While it lasts the partition is held by all of them: first those it is to have, then those to be removed.
It may be given another target or be called off at any time; what was being added and is not wanted goes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import NamedTuple

from odradek.controller.election import elect_from
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import BrokerId
from odradek.model.image import PartitionImage


class Moved(NamedTuple):
    """The partition as it is next, under the epochs it had, and the brokers that hold it no longer."""

    state: PartitionImage
    dropped: tuple[BrokerId, ...]


def is_moving(state: PartitionImage) -> bool:
    return bool(state.adding or state.removing)


def target(state: PartitionImage) -> tuple[BrokerId, ...]:
    """Who holds the partition when the reassignment is done."""
    return _without(state.replicas, state.removing)


def origin(state: PartitionImage) -> tuple[BrokerId, ...]:
    """Who held it before, as far as they are known in order."""
    return _without(state.replicas, state.adding)


def check_target(wanted: Sequence[BrokerId], live: Collection[BrokerId]) -> None:
    """`ApiError` if no partition can be held by these."""
    shown = ", ".join(str(each) for each in wanted)
    if not wanted:
        complaint = "Empty replica list specified in partition reassignment."
    elif len(set(wanted)) < len(wanted):
        complaint = f"Duplicate replica ids in partition reassignment replica list: {shown}"
    elif min(wanted) < 0:
        complaint = f"Invalid broker id in replica list: {shown}"
    elif not set(wanted) <= set(live):
        known = ", ".join(str(each) for each in sorted(live))
        complaint = (
            "Replica assignment has brokers that are not alive. "
            f"Replica list: {shown}, live broker list: {known}"
        )
    else:
        return
    raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, complaint)


def begin(state: PartitionImage, wanted: Sequence[BrokerId], can_lead: Set[BrokerId]) -> Moved | None:
    """On the way to `wanted`. None if nobody who is in sync would be left to lead."""
    before = origin(state)
    replicas = (*wanted, *_without(before, wanted))
    return _held_by(
        state._replace(adding=_without(replicas, before), removing=_without(replicas, wanted)),
        replicas,
        can_lead,
    )


def finish(state: PartitionImage, can_lead: Set[BrokerId]) -> Moved | None:
    """Done, once all that are to hold it are in sync. None: not yet."""
    if not is_moving(state) or not set(target(state)) <= set(state.isr):
        return None
    return _held_by(state._replace(adding=(), removing=()), target(state), can_lead)


def _held_by(state: PartitionImage, replicas: tuple[BrokerId, ...], can_lead: Set[BrokerId]) -> Moved | None:
    isr = tuple(each for each in state.isr if each in replicas)
    leader = state.leader
    if leader not in replicas or leader not in can_lead:
        elected = elect_from(replicas, isr, can_lead)
        if elected is None:
            return None
        leader = elected.leader
    return Moved(
        state._replace(replicas=replicas, leader=leader, isr=isr), _without(state.replicas, replicas)
    )


def _without(brokers: Sequence[BrokerId], those: Collection[BrokerId]) -> tuple[BrokerId, ...]:
    return tuple(each for each in brokers if each not in those)
