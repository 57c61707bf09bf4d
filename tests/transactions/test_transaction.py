"""Who a producer is: what it is given, whom it fences, what it may repeat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.transactions.states import State
from odradek.transactions.transaction import LAST_EPOCH, Identity, Protocol, Transaction

ORDERS = frozenset({Partition("orders", 0), Partition("orders", 1)})
FRESH = 99


def opened(before: Transaction, expected: Identity | None = None) -> Transaction:
    return before.opened(expected, 1000, FRESH, 200)


def refusal(before: Transaction, expected: Identity | None) -> ErrorCode:
    with pytest.raises(ApiError) as raised:
        opened(before, expected)
    return raised.value.error


def complete(identity: Identity, protocol: Protocol = Protocol.V0) -> Transaction:
    return Transaction(identity, 1000, State.COMPLETE_ABORT, 100, 50, protocol=protocol)


def in_v2(identity: Identity) -> Transaction:
    return complete(identity).added(identity, ORDERS, Protocol.V2, 150)


# -- InitProducerId ----------------------------------------------------------------------------------------


def test_every_opening_has_a_greater_epoch_until_they_are_used_up() -> None:
    producer = Transaction.new(7, 1000, 100)
    assert producer.identity == (7, 0)
    for epoch in range(1, 10):
        producer = opened(producer)
        assert producer.identity == (7, epoch)
    assert opened(complete(Identity(7, LAST_EPOCH - 1))).identity == (7, LAST_EPOCH)
    assert opened(complete(Identity(7, LAST_EPOCH))).identity == (FRESH, 0)


def test_opening_during_a_transaction_aborts_it_and_fences_its_producer() -> None:
    ongoing = complete(Identity(7, 3)).added(Identity(7, 3), ORDERS, Protocol.V0, 150)
    aborting = opened(ongoing)
    assert (aborting.state, aborting.identity, aborting.partitions) == (State.PREPARE_ABORT, (7, 4), ORDERS)
    assert opened(aborting.marked(300)).identity == (7, 5)


def test_the_last_epoch_can_still_be_fenced() -> None:
    who = Identity(7, LAST_EPOCH)
    aborting = opened(complete(who).added(who, ORDERS, Protocol.V0, 150))
    assert aborting.identity == (7, LAST_EPOCH + 1)
    assert opened(aborting.marked(300)).identity == (FRESH, 0)


def test_a_producer_that_comes_back_gets_its_next_epoch_and_may_ask_twice() -> None:
    again = opened(complete(Identity(7, 3)), Identity(7, 3))
    assert again.identity == (7, 4)
    assert opened(again, Identity(7, 3)).identity == (7, 4)
    assert opened(opened(again, Identity(7, 3)), Identity(7, 3)).identity == (7, 4)
    assert opened(again, Identity(7, 4)).identity == (7, 5)


def test_a_producer_that_comes_back_is_fenced_by_another_that_came_since() -> None:
    other = opened(complete(Identity(7, 3)))
    assert other.identity == (7, 4)
    assert refusal(other, Identity(7, 3)) is ErrorCode.PRODUCER_FENCED
    assert refusal(other, Identity(8, 4)) is ErrorCode.PRODUCER_FENCED
    assert refusal(opened(opened(other, Identity(7, 4))), Identity(7, 4)) is ErrorCode.PRODUCER_FENCED


def test_a_producer_that_was_timed_out_does_not_come_back() -> None:
    ongoing = complete(Identity(7, 3)).added(Identity(7, 3), ORDERS, Protocol.V0, 150)
    assert refusal(ongoing.timed_out(9999).marked(9999), Identity(7, 3)) is ErrorCode.PRODUCER_FENCED


def test_a_producer_that_comes_back_with_its_last_epoch_gets_an_id_and_may_ask_twice() -> None:
    who = Identity(7, LAST_EPOCH)
    again = opened(complete(who), who)
    assert again.identity == (FRESH, 0)
    assert opened(again, who).identity == (FRESH, 0)
    assert refusal(again, Identity(7, 3)) is ErrorCode.PRODUCER_FENCED
    assert refusal(opened(complete(who)), who) is ErrorCode.PRODUCER_FENCED  # another was given the fresh id


def test_a_lost_answer_to_an_end_of_v2_is_made_up_for_by_opening() -> None:
    ended = in_v2(Identity(7, 3)).ended_in_v2(Identity(7, 3), None, committed=False, now_ms=200).marked(200)
    assert opened(ended, Identity(7, 3)).identity == (7, 4)


# -- the transaction ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "error"),
    [
        (Identity(7, 2), ErrorCode.PRODUCER_FENCED),
        (Identity(7, 4), ErrorCode.PRODUCER_FENCED),
        (Identity(8, 3), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_nobody_else_may_do_anything(who: Identity, error: ErrorCode) -> None:
    ongoing = complete(Identity(7, 3)).added(Identity(7, 3), ORDERS, Protocol.V0, 150)
    for attempt in (
        lambda: ongoing.added(who, ORDERS, Protocol.V0, 200),
        lambda: ongoing.ended(who, committed=True, now_ms=200),
        lambda: ongoing.ended_in_v2(who, None, committed=True, now_ms=200),
        lambda: ongoing.check_takes_part(who, Partition("orders", 0)),
    ):
        with pytest.raises(ApiError) as raised:
            attempt()
        assert raised.value.error is error


def test_partitions_add_up_and_the_clock_starts_with_the_first() -> None:
    who = Identity(7, 3)
    first = complete(who).added(who, frozenset({Partition("orders", 0)}), Protocol.V0, 150)
    both = first.added(who, frozenset({Partition("orders", 1)}), Protocol.V0, 180)
    assert (both.partitions, both.started_ms, both.updated_ms) == (ORDERS, 150, 180)
    assert both.added(who, ORDERS, Protocol.V0, 190) is both
    assert not both.is_timed_out(1150)
    assert both.is_timed_out(1151)


def test_a_transaction_does_not_inherit_partitions() -> None:
    who = Identity(7, 3)
    done = (
        complete(who).added(who, ORDERS, Protocol.V0, 150).ended(who, committed=True, now_ms=160).marked(170)
    )
    assert done.partitions == frozenset()
    payments = frozenset({Partition("payments", 0)})
    following = done.added(who, payments, Protocol.V0, 180)
    assert (following.partitions, following.started_ms) == (payments, 180)


@pytest.mark.parametrize("state", State)
def test_who_may_write_where(state: State) -> None:
    who = Identity(7, 3)
    it = replace(complete(who), state=state, partitions=ORDERS)
    if state in (State.PREPARE_COMMIT, State.PREPARE_ABORT):
        with pytest.raises(ApiError, match="CONCURRENT_TRANSACTIONS"):
            it.check_takes_part(who, Partition("orders", 0))
    else:
        it.check_takes_part(who, Partition("orders", 0))
        with pytest.raises(ApiError, match="TRANSACTION_ABORTABLE"):
            it.check_takes_part(who, Partition("payments", 0))


def test_in_v2_every_transaction_has_its_epoch_and_the_last_leads_to_a_fresh_id() -> None:
    who = Identity(7, LAST_EPOCH - 1)
    for _ in range(2):
        ended = in_v2(who).ended_in_v2(who, FRESH, committed=True, now_ms=200)
        assert ended.identity == (7, who.epoch + 1)  # with which the markers fence what is still under way
        who = ended.next_identity
        assert ended.marked(300).identity == who
    assert who == (FRESH, 0)


def test_in_v2_an_end_may_be_repeated_over_a_change_of_id() -> None:
    who = Identity(7, LAST_EPOCH)
    ended = in_v2(who).ended_in_v2(who, FRESH, committed=True, now_ms=200)
    with pytest.raises(ApiError, match="CONCURRENT_TRANSACTIONS"):
        ended.ended_in_v2(who, FRESH + 1, committed=True, now_ms=300)
    done = ended.marked(300)
    assert done.ended_in_v2(who, FRESH + 1, committed=True, now_ms=400) is done
    assert done.next_identity == (FRESH, 0)


def test_in_v2_whom_the_last_epoch_was_taken_from_does_not_go_on() -> None:
    who = Identity(7, LAST_EPOCH)
    fenced = in_v2(who).timed_out(9999).marked(9999)
    with pytest.raises(ApiError, match="PRODUCER_FENCED"):
        fenced.ended_in_v2(who, FRESH, committed=False, now_ms=10_000)
