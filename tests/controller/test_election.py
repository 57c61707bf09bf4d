"""Elections, exhaustively for three replicas: the law, not the algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, permutations, product

import pytest

from odradek.controller.election import (
    elect_first,
    elect_from,
    elect_offline,
    elect_preferred,
    elect_staying,
)
from odradek.model.ids import BrokerId

THREE = (BrokerId(1), BrokerId(2), BrokerId(3))


def subsets(brokers: Sequence[BrokerId]) -> Iterator[tuple[BrokerId, ...]]:
    return chain.from_iterable(combinations(brokers, size) for size in range(len(brokers) + 1))


def orders(brokers: Sequence[BrokerId]) -> Iterator[tuple[BrokerId, ...]]:
    """Every subset in every order: an in-sync set keeps the order in which replicas joined."""
    return chain.from_iterable(permutations(each) for each in subsets(brokers))


def first(brokers: Iterable[BrokerId], among: Iterable[BrokerId]) -> BrokerId | None:
    allowed = set(among)
    return next((each for each in brokers if each in allowed), None)


CASES = list(product(orders(THREE), (frozenset(each) for each in subsets(THREE))))


@pytest.mark.parametrize("allow_unclean", [False, True])
def test_every_election_after_a_leader_is_gone(allow_unclean: bool) -> None:
    assert len(CASES) == 16 * 8
    for isr, live in CASES:
        elected = elect_offline(THREE, isr, live, allow_unclean=allow_unclean)
        if elected is None:
            assert not live.intersection(isr)
            assert not (live and allow_unclean)
        else:
            assert elected.leader in live
            assert elected.leader in elected.isr
            assert elected.unclean == live.isdisjoint(isr)
            assert elected.unclean <= allow_unclean
            assert set(elected.isr) <= live
            assert elected.unclean or elected.isr == tuple(each for each in isr if each in live)
            assert elected.leader == first(THREE, live if elected.unclean else live.intersection(isr))


def test_every_election_of_the_preferred_leader() -> None:
    for isr, live in CASES:
        elected = elect_preferred(THREE, isr, live)
        assert (elected is not None) == (THREE[0] in isr and THREE[0] in live)
        if elected is not None:
            assert elected == (THREE[0], isr, False)


def test_every_election_before_brokers_leave() -> None:
    for isr, staying in CASES:
        elected = elect_staying(THREE, isr, staying)
        assert (elected is not None) == bool(staying.intersection(isr))
        if elected is not None:
            assert elected.leader == first(THREE, staying.intersection(isr))
            assert elected.isr == tuple(each for each in isr if each in staying)
            assert not elected.unclean


def test_every_election_among_other_candidates() -> None:
    for (isr, live), candidates in product(CASES, orders(THREE)):
        elected = elect_from(candidates, isr, live)
        able = live.intersection(isr).intersection(candidates)
        assert (elected is not None) == bool(able)
        if elected is not None:
            assert elected == (first(candidates, able), isr, False)


def test_whoever_lives_begins_in_sync() -> None:
    for live in map(frozenset, subsets(THREE)):
        elected = elect_first(THREE, live)
        assert (elected is not None) == bool(live)
        if elected is not None:
            assert elected.leader == elected.isr[0]
            assert elected.isr == tuple(each for each in THREE if each in live)
