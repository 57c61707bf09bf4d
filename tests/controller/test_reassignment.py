"""Moving replicas: every way from any to any of four brokers, calling off and redirecting included."""

from __future__ import annotations

from itertools import chain, permutations, product

import pytest

from odradek.controller.reassignment import Moved, begin, check_target, finish, is_moving, origin, target
from odradek.model.errors import ApiError
from odradek.model.ids import BrokerId
from odradek.model.image import PartitionImage

FOUR = tuple(BrokerId(each) for each in (1, 2, 3, 4))
ALL = frozenset(FOUR)
HELD = [each for size in (1, 2, 3) for each in permutations(FOUR[:3], size)]
WANTED = list(chain.from_iterable(permutations(FOUR, size) for size in (1, 2, 3)))


def held(replicas: tuple[BrokerId, ...]) -> PartitionImage:
    return PartitionImage(replicas, replicas[0], replicas)


def begun(state: PartitionImage, wanted: tuple[BrokerId, ...]) -> Moved:
    moved = begin(state, wanted, ALL)
    assert moved is not None
    return moved


def joined(state: PartitionImage) -> PartitionImage:
    """Everybody has caught up."""
    return state._replace(isr=(*state.isr, *(each for each in state.replicas if each not in state.isr)))


def lawful(moved: Moved) -> bool:
    state = moved.state
    return (
        state.leader in state.replicas
        and state.leader in state.isr
        and set(state.isr) <= set(state.replicas)
        and len(set(state.replicas)) == len(state.replicas)
        and not set(state.adding) & set(state.removing)
        and set(state.adding) | set(state.removing) <= set(state.replicas)
        and not set(moved.dropped) & set(state.replicas)
    )


@pytest.mark.parametrize("before", HELD)
def test_every_move_ends_with_what_was_wanted(before: tuple[BrokerId, ...]) -> None:
    for wanted in WANTED:
        moved = begun(held(before), wanted)
        assert lawful(moved)
        assert moved.dropped == ()
        assert target(moved.state) == wanted
        assert set(origin(moved.state)) == set(before)
        assert set(moved.state.adding) == set(wanted) - set(before)
        assert set(moved.state.removing) == set(before) - set(wanted)
        assert is_moving(moved.state) == (set(wanted) != set(before))
        if moved.state.adding:
            assert finish(moved.state, ALL) is None
        done = finish(joined(moved.state), ALL)
        if is_moving(moved.state):
            assert done is not None
            assert lawful(done)
            assert done.state.replicas == wanted
            assert not is_moving(done.state)
            assert set(done.dropped) == set(before) - set(wanted)


def test_every_move_can_be_redirected_or_called_off() -> None:
    for before, wanted in product(HELD, WANTED):
        halfway = begun(held(before), wanted).state
        called_off = begun(halfway, origin(halfway))
        assert lawful(called_off)
        assert not is_moving(called_off.state)
        assert set(called_off.state.replicas) == set(before)
        assert set(called_off.dropped) == set(halfway.adding)
        for other in WANTED:
            redirected = begun(halfway, other)
            assert lawful(redirected)
            assert target(redirected.state) == other
            assert set(origin(redirected.state)) == set(before)
            assert set(redirected.dropped) == set(halfway.adding) - set(other)


def test_a_move_ends_only_when_all_that_come_are_in_sync_and_one_can_lead() -> None:
    moving = begun(held(FOUR[:1]), FOUR[1:3]).state
    for isr in HELD:
        for can_lead in (ALL, frozenset(FOUR[:1]), frozenset(FOUR[2:])):
            state = moving._replace(isr=isr)
            done = finish(state, can_lead)
            assert (done is not None) == (
                {2, 3} <= set(isr) and (state.leader in can_lead & {2, 3} or bool(can_lead & {2, 3}))
            )
            assert done is None or done.state.leader in can_lead


def test_what_would_leave_nobody_to_lead_is_not_begun() -> None:
    lagging = PartitionImage((FOUR[0], FOUR[1]), FOUR[1], (FOUR[1],), adding=(FOUR[1],))
    assert begin(lagging, origin(lagging), ALL) is None


@pytest.mark.parametrize("wanted", [(), (1, 1), (-3,), (1, 9)])
def test_what_nobody_can_hold_is_refused(wanted: tuple[BrokerId, ...]) -> None:
    with pytest.raises(ApiError, match="INVALID_REPLICA_ASSIGNMENT"):
        check_target(wanted, FOUR)
