"""Every state meets every event: what comes of it, asked of the machine and compared with the table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.transactions.states import COMPLETE, ENDED_IN_V2, PREPARED, TABLE, Event, Next, State
from odradek.transactions.transaction import Identity, Protocol, Transaction

ORDERS = Partition("orders", 0)
WHO = Identity(7, 3)
FOR_LONG_MS = 10**9
ENDS = (Event.COMMITTED, Event.ABORTED)


def in_state(state: State, protocol: Protocol = Protocol.V0) -> Transaction:
    takes_part = state in (State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT)
    return Transaction(
        WHO,
        timeout_ms=1000,
        state=state,
        updated_ms=100,
        started_ms=-1 if state is State.EMPTY else 50,
        partitions=frozenset({ORDERS} if takes_part else ()),
        protocol=protocol,
    )


def after(before: Transaction, event: Event) -> Transaction:
    match event:
        case Event.OPENED:
            return before.opened(None, 2000, 99, 200)
        case Event.ADDED:
            return before.added(WHO, frozenset({Partition("orders", 1)}), Protocol.V0, 200)
        case Event.COMMITTED | Event.ABORTED:
            return before.ended(WHO, committed=event is Event.COMMITTED, now_ms=200)
        case Event.MARKED:
            return before.marked(200)
        case Event.TIMED_OUT:
            return before.timed_out(200)
        case Event.EXPIRED:
            return Transaction(WHO, 1000, State.DEAD, 200) if before.is_expired(FOR_LONG_MS, 1000) else before


def ended_in_v2(before: Transaction, who: Identity, event: Event) -> Transaction:
    return before.ended_in_v2(who, None, committed=event is Event.COMMITTED, now_ms=200)


def outcome(before: Transaction, change: Callable[[], Transaction]) -> Next:
    """As the table tells it."""
    try:
        changed = change()
    except ApiError as refusal:
        return refusal.error
    except AssertionError:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return ErrorCode.NONE if changed is before else changed.state


@pytest.mark.parametrize(("state", "event"), list(product(State, Event)))
def test_every_event_in_every_state(state: State, event: Event) -> None:
    before = in_state(state)
    assert outcome(before, lambda: after(before, event)) == TABLE[state][event]


@pytest.mark.parametrize(("state", "event"), list(product(State, ENDS)))
def test_every_end_in_v2(state: State, event: Event) -> None:
    before = in_state(state, Protocol.V2)
    expected = ENDED_IN_V2[state][event]
    if state in PREPARED:
        expected = ErrorCode.PRODUCER_FENCED  # this epoch's producer waits for the answer to the end before
    assert outcome(before, lambda: ended_in_v2(before, WHO, event)) == expected


@pytest.mark.parametrize(("state", "event"), list(product(State, ENDS)))
def test_every_repeated_end_in_v2(state: State, event: Event) -> None:
    """The answer was lost: the producer asks once more, as whom it was before."""
    before = in_state(state, Protocol.V2)
    expected = TABLE[state][event] if state in PREPARED | COMPLETE else ErrorCode.PRODUCER_FENCED
    assert outcome(before, lambda: ended_in_v2(before, Identity(7, 2), event)) == expected


def test_a_decision_is_never_taken_back() -> None:
    for state, decided in (
        (State.PREPARE_COMMIT, State.COMPLETE_COMMIT),
        (State.PREPARE_ABORT, State.COMPLETE_ABORT),
    ):
        assert {each for each in TABLE[state].values() if isinstance(each, State)} == {decided}


def test_only_a_decision_is_marked() -> None:
    marked = {state for state in State if isinstance(TABLE[state][Event.MARKED], State)}
    assert marked == {State.PREPARE_COMMIT, State.PREPARE_ABORT}


def test_nothing_is_forgotten_while_it_is_open() -> None:
    gone = {state for state in State if TABLE[state][Event.EXPIRED] is State.DEAD}
    assert gone == {State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT}


def test_labels_are_kafkas() -> None:
    assert [state.label for state in State] == [
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    ]
