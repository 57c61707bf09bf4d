"""Who should lead a partition: after a leader is gone, on request, and before a broker leaves."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from odradek.model.ids import BrokerId


class Elected(NamedTuple):
    leader: BrokerId
    isr: tuple[BrokerId, ...]
    unclean: bool = False  # the new leader may lack what was acknowledged


def elect_offline(
    replicas: Sequence[BrokerId], isr: Set[BrokerId], live: Set[BrokerId], *, allow_unclean: bool
) -> Elected | None:
    """The leader is gone: the first live in-sync replica in assignment order; failing that, any live one if
    allowed."""
    in_sync = tuple(each for each in replicas if each in isr and each in live)
    if in_sync:
        return Elected(in_sync[0], in_sync)
    alive = tuple(each for each in replicas if each in live)
    if alive and allow_unclean:
        return Elected(alive[0], alive[:1], unclean=True)
    return None


def elect_preferred(
    replicas: Sequence[BrokerId], isr: Sequence[BrokerId], live: Set[BrokerId]
) -> Elected | None:
    """The first replica of the assignment, if it may lead."""
    preferred = replicas[0]
    return Elected(preferred, tuple(isr)) if preferred in isr and preferred in live else None


def elect_without(
    leaving: Set[BrokerId], replicas: Sequence[BrokerId], isr: Sequence[BrokerId], live: Set[BrokerId]
) -> Elected | None:
    """These brokers are about to leave: an in-sync replica that stays. None if nobody else can lead."""
    staying = tuple(each for each in isr if each not in leaving)
    for each in replicas:
        if each in staying and each in live:
            return Elected(each, staying)
    return None


def elect_from(target: Sequence[BrokerId], isr: Sequence[BrokerId], live: Set[BrokerId]) -> Elected | None:
    """A reassignment leaves the leader out: the first of the replicas to be that is live and in sync."""
    for each in target:
        if each in isr and each in live:
            return Elected(each, tuple(isr))
    return None
