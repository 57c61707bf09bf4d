"""Who should lead a partition: after a leader is gone, on request, and before a broker leaves.

Each way of choosing is a function; None means that nobody can be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from odradek.model.ids import BrokerId


class Elected(NamedTuple):
    leader: BrokerId
    isr: tuple[BrokerId, ...]
    unclean: bool = False  # the new leader may lack what was acknowledged


def elect_offline(
    replicas: Sequence[BrokerId], isr: Sequence[BrokerId], live: Set[BrokerId], *, allow_unclean: bool
) -> Elected | None:
    """The leader is gone: the first live in-sync replica in assignment order; failing that, any live one if
    allowed."""
    elected = elect_from(replicas, isr, live)
    if elected is not None:
        return elected._replace(isr=tuple(each for each in isr if each in live))
    alive = tuple(each for each in replicas if each in live)
    if alive and allow_unclean:
        return Elected(alive[0], alive[:1], unclean=True)
    return None


def elect_first(replicas: Sequence[BrokerId], live: Set[BrokerId]) -> Elected | None:
    """Nobody has led yet: all that are live begin in sync."""
    alive = tuple(each for each in replicas if each in live)
    return Elected(alive[0], alive) if alive else None


def elect_preferred(
    replicas: Sequence[BrokerId], isr: Sequence[BrokerId], live: Set[BrokerId]
) -> Elected | None:
    """The first replica of the assignment, if it may lead."""
    return elect_from(replicas[:1], isr, live)


def elect_staying(
    replicas: Sequence[BrokerId], isr: Sequence[BrokerId], staying: Set[BrokerId]
) -> Elected | None:
    """The leader is about to leave: another in sync that stays. Those that leave are in sync no longer."""
    elected = elect_from(replicas, isr, staying)
    return None if elected is None else elected._replace(isr=tuple(each for each in isr if each in staying))


def elect_from(
    candidates: Sequence[BrokerId], isr: Sequence[BrokerId], live: Set[BrokerId]
) -> Elected | None:
    """The first of the candidates that is live and in sync; nothing else changes."""
    leader = next((each for each in candidates if each in isr and each in live), None)
    return None if leader is None else Elected(leader, tuple(isr))
