"""Every state of a group meets every event, and special ways that members come and go."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import pytest

from odradek.groups.group import MAY_BECOME, State
from odradek.groups.settings import GroupSettings
from odradek.model.errors import ErrorCode
from odradek.testing.group_life import RANGE, GroupLife
from odradek.wire.messages.groups import LeaveGroupResponse

NONE = ErrorCode.NONE
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
REBALANCE = ErrorCode.REBALANCE_IN_PROGRESS
OTHER = (("range", b"other"),)
WAITS = None  # has no answer yet

SESSION_MS = 10_000
REBALANCE_MS = 30_000


def life() -> GroupLife:
    return GroupLife(GroupSettings(initial_rebalance_delay_ms=0))


# -- how each state is reached -----------------------------------------------------------------------------
# `ann-1` leads, `bob-2` follows, `cec` is new. Where there are no members, those are former ones.


def stable() -> GroupLife:
    it = completing()
    it.sync(id="ann-1", generation=1, give={"ann-1": b"x", "bob-2": b"y"})
    it.sync(id="bob-2", generation=1)
    return it


def completing() -> GroupLife:
    it = life()
    it.join(name="ann")
    it.join(name="bob")
    it.pass_ms(1)
    return it


def preparing() -> GroupLife:
    it = stable()
    it.join(id="bob-2", protocols=OTHER)
    return it


def empty() -> GroupLife:
    it = stable()
    it.leave(id="ann-1")
    it.leave(id="bob-2")
    it.pass_ms(REBALANCE_MS)
    return it


def dead() -> GroupLife:
    it = empty()
    it.delete()
    return it


REACHED: dict[State, Callable[[], GroupLife]] = {
    State.EMPTY: empty,
    State.PREPARING: preparing,
    State.COMPLETING: completing,
    State.STABLE: stable,
    State.DEAD: dead,
}

# -- what can happen ---------------------------------------------------------------------------------------

Answer: TypeAlias = ErrorCode | None
Event: TypeAlias = Callable[[GroupLife], Answer]


def a_new_member_joins(it: GroupLife) -> Answer:
    return it.error(it.join(name="cec"))


def a_new_member_asks_for_an_id(it: GroupLife) -> Answer:
    return it.error(it.join(name="cec", version=4))


def a_static_member_joins(it: GroupLife) -> Answer:
    return it.error(it.join(name="cec", instance="c"))


def the_leader_joins_again(it: GroupLife) -> Answer:
    return it.error(it.join(id="ann-1"))


def the_follower_joins_again(it: GroupLife) -> Answer:
    return it.error(it.join(id="bob-2"))


def the_follower_joins_with_something_new(it: GroupLife) -> Answer:
    return it.error(it.join(id="bob-2", protocols=(("range", b"third"),)))


def somebody_with_other_protocols_joins(it: GroupLife) -> Answer:
    return it.error(it.join(name="cec", protocols=(("sticky", b""),)))


def a_stranger_joins(it: GroupLife) -> Answer:
    return it.error(it.join(id="nobody"))


def the_leader_syncs(it: GroupLife) -> Answer:
    return it.error(it.sync(id="ann-1", give={"ann-1": b"x", "bob-2": b"y"}))


def the_follower_syncs(it: GroupLife) -> Answer:
    return it.error(it.sync(id="bob-2"))


def a_former_generation_syncs(it: GroupLife) -> Answer:
    return it.error(it.sync(id="bob-2", generation=0))


def a_member_shows_that_it_lives(it: GroupLife) -> Answer:
    return it.heartbeat(id="ann-1")


def a_former_generation_shows_that_it_lives(it: GroupLife) -> Answer:
    return it.heartbeat(id="ann-1", generation=0)


def a_member_commits(it: GroupLife) -> Answer:
    return it.commit(id="ann-1", generation=1)


def a_former_generation_commits(it: GroupLife) -> Answer:
    return it.commit(id="ann-1", generation=0)


def somebody_commits_as_no_member(it: GroupLife) -> Answer:
    return it.commit()


def a_transaction_commits_as_no_member(it: GroupLife) -> Answer:
    return it.commit(producer_id=9)


def the_leader_leaves(it: GroupLife) -> Answer:
    return _left(it, "ann-1")


def a_stranger_leaves(it: GroupLife) -> Answer:
    return _left(it, "nobody")


def sessions_end(it: GroupLife) -> Answer:
    it.pass_ms(SESSION_MS)
    return NONE


def time_is_up(it: GroupLife) -> Answer:
    """For joining and for syncing, while all who are there show that they live."""
    for _ in range(REBALANCE_MS // 5_000):
        it.heartbeat(id="ann-1")
        it.heartbeat(id="bob-2")
        it.pass_ms(5_000)
    return NONE


def it_is_deleted(it: GroupLife) -> Answer:
    return it.delete()


def another_broker_takes_over(it: GroupLife) -> Answer:
    it.reload()
    return NONE


def _left(it: GroupLife, id: str) -> Answer:
    response = it.answers[it.leave(id=id)]
    assert isinstance(response, LeaveGroupResponse)
    return ErrorCode.of(response.members[0].error_code)


class After(NamedTuple):
    """What the event is answered, and which state it leads to."""

    answer: Answer
    state: State


EMPTY, PREPARING, COMPLETING, STABLE, DEAD = State
LISTED: dict[Event, tuple[After, After, After, After, After]] = {
    # Empty, PreparingRebalance, CompletingRebalance, Stable, Dead
    a_new_member_joins: (
        After(WAITS, PREPARING), After(WAITS, PREPARING), After(WAITS, PREPARING), After(WAITS, PREPARING),
        After(WAITS, PREPARING),
    ),
    a_new_member_asks_for_an_id: (
        After(ErrorCode.MEMBER_ID_REQUIRED, EMPTY), After(ErrorCode.MEMBER_ID_REQUIRED, PREPARING),
        After(ErrorCode.MEMBER_ID_REQUIRED, COMPLETING), After(ErrorCode.MEMBER_ID_REQUIRED, STABLE),
        After(ErrorCode.MEMBER_ID_REQUIRED, EMPTY),
    ),
    a_static_member_joins: (
        After(WAITS, PREPARING), After(WAITS, PREPARING), After(WAITS, PREPARING), After(WAITS, PREPARING),
        After(WAITS, PREPARING),
    ),
    the_leader_joins_again: (
        After(UNKNOWN, EMPTY), After(NONE, COMPLETING), After(NONE, COMPLETING), After(WAITS, PREPARING),
        After(UNKNOWN, DEAD),
    ),
    the_follower_joins_again: (
        After(UNKNOWN, EMPTY), After(WAITS, PREPARING), After(NONE, COMPLETING), After(NONE, STABLE),
        After(UNKNOWN, DEAD),
    ),
    the_follower_joins_with_something_new: (
        After(UNKNOWN, EMPTY), After(WAITS, PREPARING), After(WAITS, PREPARING), After(WAITS, PREPARING),
        After(UNKNOWN, DEAD),
    ),
    somebody_with_other_protocols_joins: (
        After(WAITS, PREPARING), After(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, PREPARING),
        After(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, COMPLETING),
        After(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, STABLE), After(WAITS, PREPARING),
    ),
    a_stranger_joins: (
        After(UNKNOWN, EMPTY), After(UNKNOWN, PREPARING), After(UNKNOWN, COMPLETING), After(UNKNOWN, STABLE),
        After(UNKNOWN, DEAD),
    ),
    the_leader_syncs: (
        After(UNKNOWN, EMPTY), After(REBALANCE, PREPARING), After(NONE, STABLE), After(NONE, STABLE),
        After(UNKNOWN, DEAD),
    ),
    the_follower_syncs: (
        After(UNKNOWN, EMPTY), After(REBALANCE, PREPARING), After(WAITS, COMPLETING), After(NONE, STABLE),
        After(UNKNOWN, DEAD),
    ),
    a_former_generation_syncs: (
        After(UNKNOWN, EMPTY), After(ErrorCode.ILLEGAL_GENERATION, PREPARING),
        After(ErrorCode.ILLEGAL_GENERATION, COMPLETING), After(ErrorCode.ILLEGAL_GENERATION, STABLE),
        After(UNKNOWN, DEAD),
    ),
    a_member_shows_that_it_lives: (
        After(UNKNOWN, EMPTY), After(REBALANCE, PREPARING), After(NONE, COMPLETING), After(NONE, STABLE),
        After(UNKNOWN, DEAD),
    ),
    a_former_generation_shows_that_it_lives: (
        After(UNKNOWN, EMPTY), After(ErrorCode.ILLEGAL_GENERATION, PREPARING),
        After(ErrorCode.ILLEGAL_GENERATION, COMPLETING), After(ErrorCode.ILLEGAL_GENERATION, STABLE),
        After(UNKNOWN, DEAD),
    ),
    a_member_commits: (
        After(UNKNOWN, EMPTY), After(NONE, PREPARING), After(REBALANCE, COMPLETING), After(NONE, STABLE),
        After(ErrorCode.ILLEGAL_GENERATION, DEAD),
    ),
    a_former_generation_commits: (
        After(UNKNOWN, EMPTY), After(ErrorCode.ILLEGAL_GENERATION, PREPARING),
        After(ErrorCode.ILLEGAL_GENERATION, COMPLETING), After(ErrorCode.ILLEGAL_GENERATION, STABLE),
        After(ErrorCode.ILLEGAL_GENERATION, DEAD),
    ),
    somebody_commits_as_no_member: (
        After(NONE, EMPTY), After(UNKNOWN, PREPARING), After(UNKNOWN, COMPLETING), After(UNKNOWN, STABLE),
        After(NONE, EMPTY),
    ),
    a_transaction_commits_as_no_member: (
        After(NONE, EMPTY), After(NONE, PREPARING), After(NONE, COMPLETING), After(NONE, STABLE),
        After(NONE, EMPTY),
    ),
    the_leader_leaves: (
        After(UNKNOWN, EMPTY), After(NONE, COMPLETING), After(NONE, PREPARING), After(NONE, PREPARING),
        After(UNKNOWN, DEAD),
    ),
    a_stranger_leaves: (
        After(UNKNOWN, EMPTY), After(UNKNOWN, PREPARING), After(UNKNOWN, COMPLETING), After(UNKNOWN, STABLE),
        After(UNKNOWN, DEAD),
    ),
    sessions_end: (
        After(NONE, EMPTY), After(NONE, COMPLETING), After(NONE, EMPTY), After(NONE, EMPTY),
        After(NONE, DEAD),
    ),
    time_is_up: (
        After(NONE, EMPTY), After(NONE, COMPLETING), After(NONE, EMPTY), After(NONE, STABLE),
        After(NONE, DEAD),
    ),
    it_is_deleted: (
        After(NONE, DEAD), After(ErrorCode.NON_EMPTY_GROUP, PREPARING),
        After(ErrorCode.NON_EMPTY_GROUP, COMPLETING), After(ErrorCode.NON_EMPTY_GROUP, STABLE),
        After(ErrorCode.GROUP_ID_NOT_FOUND, DEAD),
    ),
    another_broker_takes_over: (
        After(NONE, EMPTY), After(NONE, STABLE), After(NONE, DEAD), After(NONE, STABLE), After(NONE, DEAD),
    ),
}  # fmt: skip
PAIRS = [
    pytest.param(state, event, after, id=f"{state.value}, {event.__name__}")
    for event, afters in LISTED.items()
    for state, after in zip(State, afters, strict=True)
]


@pytest.mark.parametrize(("state", "event", "after"), PAIRS)
def test_every_state_meets_every_event(state: State, event: Event, after: After) -> None:
    it = REACHED[state]()
    assert it.state() is state
    answer = event(it)
    assert (answer, it.state()) == after
    it.check()


def test_no_other_transition_is_legal() -> None:
    expected = {
        EMPTY: {PREPARING},
        PREPARING: {COMPLETING, EMPTY},
        COMPLETING: {STABLE, PREPARING},
        STABLE: {PREPARING},
        DEAD: set(),
    }
    assert expected == MAY_BECOME


# -- who comes, who goes, and when -------------------------------------------------------------------------


def names(it: GroupLife) -> list[str]:
    return [member.id for member in it.group().members]


def test_a_static_member_may_miss_a_rebalance_but_not_its_session() -> None:
    it = life()
    it.join(name="ann", rebalance_ms=6_000, session_ms=20_000)
    it.join(name="bob", instance="b", rebalance_ms=6_000, session_ms=20_000)
    it.pass_ms(1)
    it.sync(id="ann-1", give={})
    it.join(id="ann-1", rebalance_ms=6_000, session_ms=20_000)
    it.pass_ms(6_001)
    assert (it.state(), names(it)) == (COMPLETING, ["ann-1", "b-2"])
    it.sync(id="ann-1", generation=2)
    it.heartbeat(id="ann-1", generation=2)
    it.pass_ms(6_001)
    assert names(it) == ["ann-1"]  # it has not asked for its assignment either


def test_nobody_who_is_static_may_rejoin_until_one_does() -> None:
    """A group of static members that are all away keeps its generation for as long as their sessions last."""
    it = life()
    for instance in "ab":
        it.join(instance=instance, rebalance_ms=6_000, session_ms=30_000)
    it.pass_ms(1)
    it.sync(id="a-1", give={})
    it.sync(id="b-2")
    it.join(name="cec", rebalance_ms=6_000)
    it.leave(id="cec-3")
    assert it.state() is PREPARING
    it.pass_ms(20_000)
    assert (it.state(), names(it), it.group().generation) == (PREPARING, ["a-1", "b-2"], 1)
    ticket = it.join(id="b-2", instance="b", rebalance_ms=6_000)
    it.pass_ms(6_000)
    assert it.joined(ticket).leader == "b-2"


def test_who_syncs_late_in_one_generation_is_not_put_out_in_the_next() -> None:
    it = life()
    it.join(name="ann", rebalance_ms=6_000, session_ms=30_000)
    it.join(name="bob", rebalance_ms=6_000, session_ms=30_000)
    it.pass_ms(4_000)
    it.join(id="bob-2", rebalance_ms=6_000, session_ms=30_000, protocols=OTHER)
    it.join(id="ann-1", rebalance_ms=6_000, session_ms=30_000)
    it.sync(id="ann-1", generation=2, give={})
    it.pass_ms(4_000)
    assert (it.state(), names(it)) == (STABLE, ["ann-1", "bob-2"])
    it.pass_ms(3_000)
    assert names(it) == ["ann-1"]


def test_who_joins_again_instead_of_syncing_is_not_put_out_for_it() -> None:
    it = life()
    it.join(name="ann", rebalance_ms=6_000, session_ms=30_000)
    it.join(name="bob", rebalance_ms=6_000, session_ms=30_000)
    it.pass_ms(4_000)
    ticket = it.join(id="bob-2", rebalance_ms=6_000, session_ms=30_000, protocols=OTHER)
    it.pass_ms(3_000)
    assert it.error(ticket) is WAITS
    it.pass_ms(3_000)
    assert it.joined(ticket).leader == "bob-2"


def test_a_new_member_is_not_waited_with_forever() -> None:
    """Its session does not end while it waits for its id, but after five minutes its client has gone."""
    it = life()
    it.join(name="ann", session_ms=600_000, rebalance_ms=600_000)
    it.pass_ms(1)
    it.sync(id="ann-1", give={})
    ticket = it.join(name="bob", session_ms=6_000, rebalance_ms=600_000)
    it.pass_ms(299_000)
    assert it.error(ticket) is WAITS
    it.pass_ms(1_001)
    assert it.error(ticket) is UNKNOWN
    assert names(it) == ["ann-1"]


@pytest.mark.parametrize("shows_itself", [True, False])
def test_a_session_begins_anew_with_whatever_a_member_says(shows_itself: bool) -> None:
    signs: list[Callable[[GroupLife], object]] = [
        lambda it: it.heartbeat(id="ann-1"),
        lambda it: it.commit(id="ann-1", generation=1),
        lambda it: it.sync(id="ann-1"),
    ]
    for sign in signs:
        it = life()
        it.join(name="ann")
        it.pass_ms(1)
        it.sync(id="ann-1", give={})
        it.pass_ms(SESSION_MS - 1)
        if shows_itself:
            sign(it)
        it.pass_ms(SESSION_MS - 1)
        assert (names(it) == ["ann-1"]) is shows_itself


def test_a_session_begins_anew_when_a_wait_is_over() -> None:
    it = completing()
    it.sync(id="bob-2")
    it.pass_ms(SESSION_MS - 2)
    it.heartbeat(id="ann-1")
    it.pass_ms(SESSION_MS - 1)  # bob-2 waits, and is excused
    it.sync(id="ann-1", give={})
    it.pass_ms(SESSION_MS - 1)
    assert names(it) == ["ann-1", "bob-2"]
    it.pass_ms(1)
    assert it.state() is EMPTY


def test_who_waits_in_vain_has_a_session_to_join_again() -> None:
    it = completing()
    ticket = it.sync(id="bob-2")
    it.pass_ms(SESSION_MS - 1)
    it.join(name="cec")
    assert it.error(ticket) is REBALANCE
    it.pass_ms(SESSION_MS - 1)
    assert "bob-2" in names(it)
    it.pass_ms(1)
    assert "bob-2" not in names(it)


def test_a_member_that_was_excused_is_watched_again_once_it_speaks() -> None:
    it = completing()
    it.sync(id="bob-2")
    it.pass_ms(SESSION_MS + 1)  # ann-1 is gone, and so is what bob-2 waited for
    assert names(it) == ["bob-2"]
    it.heartbeat(id="bob-2")
    it.pass_ms(SESSION_MS + 1)
    assert it.state() is EMPTY


def test_an_empty_group_gathers_members_for_no_longer_than_they_may_wait() -> None:
    it = GroupLife(GroupSettings(initial_rebalance_delay_ms=3_000))
    ticket = it.join(name="ann", rebalance_ms=7_000)
    for number in range(6):
        it.pass_ms(1_000)
        it.join(name=f"m{number}", rebalance_ms=7_000)
    assert it.error(ticket) is WAITS
    it.pass_ms(1_000)
    assert len(it.joined(ticket).members) == 7


def test_a_group_that_once_grew_while_it_gathered_does_not_wait_longer_the_next_time() -> None:
    it = GroupLife(GroupSettings(initial_rebalance_delay_ms=3_000))
    it.join(name="ann", rebalance_ms=3_000)
    it.join(name="bob", rebalance_ms=3_000)
    it.pass_ms(3_000)
    it.leave(id="ann-1")
    it.leave(id="bob-2")
    it.pass_ms(3_000)
    ticket = it.join(name="cec", rebalance_ms=30_000)
    it.pass_ms(3_000)
    assert it.joined(ticket).generation_id == 3


def test_a_request_that_is_repeated_takes_the_place_of_the_one_before() -> None:
    it = completing()
    first = it.sync(id="bob-2")
    second = it.sync(id="bob-2")
    assert (it.error(first), it.error(second)) == (REBALANCE, WAITS)
    it = preparing()
    first, second = it.join(id="bob-2"), it.join(id="bob-2")
    assert (it.error(first), it.error(second)) == (REBALANCE, WAITS)


def test_an_assignment_that_cannot_be_stored_can_be_tried_again() -> None:
    it = completing()
    follower = it.sync(id="bob-2")
    it.refuses_writes = True
    leader = it.sync(id="ann-1", give={"ann-1": b"x", "bob-2": b"y"})
    unavailable = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (it.error(leader), it.error(follower), it.state()) == (unavailable, unavailable, COMPLETING)
    it.refuses_writes = False
    it.join(id="ann-1")
    it.sync(id="ann-1", give={"ann-1": b"x", "bob-2": b"y"})
    assert it.synced(it.sync(id="bob-2")).assignment == b"y"


def test_who_takes_over_gives_every_member_a_whole_session() -> None:
    it = stable()
    it.pass_ms(SESSION_MS - 1)
    it.reload()
    it.pass_ms(SESSION_MS - 1)
    assert it.synced(it.sync(id="bob-2")).assignment == b"y"
    it.pass_ms(1)
    assert names(it) == ["bob-2"]


def test_who_takes_over_a_group_that_is_too_large_makes_it_join_again() -> None:
    it = stable()
    it.settings = GroupSettings(members_max=1)
    it.reload()
    assert it.state() is PREPARING
    first, second = it.join(id="bob-2"), it.join(id="ann-1")
    assert it.error(second) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert it.joined(first).leader == "bob-2"


def test_a_member_that_is_known_again_keeps_what_else_it_can_do() -> None:
    """Only the metadata of the chosen protocol is stored; who has been there all the time knows more."""
    both = (("range", b"meta"), ("sticky", b"meta"))
    it = life()
    it.join(name="ann", protocols=both)
    it.pass_ms(1)
    it.sync(id="ann-1", give={})
    assert it.group().members["ann-1"].protocols == both
    it.reload()
    assert it.group().members["ann-1"].protocols == RANGE
