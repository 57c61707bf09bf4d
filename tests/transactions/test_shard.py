"""What a shard promises, by cases and by all that producers may do in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, invariant, multiple, rule

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.model.outcome import StoredRecord
from odradek.transactions.records import record_of
from odradek.transactions.shard import Completion, TransactionShard
from odradek.transactions.states import PREPARED, State
from odradek.transactions.transaction import LAST_EPOCH, Identity, Protocol, Transaction

ID = "copier"
TIMEOUT_MS_MAX = 900_000
WEEK_MS = 7 * 24 * 3600 * 1000
ORDERS = Partition("orders", 0)


class Live:
    """A shard whose decisions are replayed at once, and the log that keeps them."""

    def __init__(self, *records: StoredRecord) -> None:
        self.shard = TransactionShard(TIMEOUT_MS_MAX, WEEK_MS)
        self.log = list(records)
        self.now_ms = 1000
        self._ids = iter(range(1000, 9999))
        for record in records:
            self.shard.replay(record, -1)

    def take(self, records: Iterable[StoredRecord]) -> None:
        for record in records:
            self.log.append(record)
            self.shard.replay(record, -1)

    def open(self, expected: Identity | None = None) -> Identity | None:
        fresh_id = next(self._ids) if self.shard.needs_id(ID) else None
        outcome = self.shard.open(ID, 60_000, expected=expected, fresh_id=fresh_id, now_ms=self.now_ms)
        self.take(outcome.records)
        return outcome.reply

    def opened(self) -> Identity:
        who = self.open()
        assert who is not None
        return who

    def add(self, who: Identity, partition: Partition, protocol: Protocol = Protocol.V0) -> None:
        self.take(self.shard.add(ID, who, (partition,), now_ms=self.now_ms, protocol=protocol).records)

    def end(self, who: Identity, *, committed: bool) -> None:
        self.take(self.shard.end(ID, who, committed=committed, now_ms=self.now_ms).records)

    def end_in_v2(self, who: Identity, *, committed: bool) -> Identity:
        fresh_id = next(self._ids) if self.shard.needs_id(ID) else None
        outcome = self.shard.end_in_v2(ID, who, committed=committed, fresh_id=fresh_id, now_ms=self.now_ms)
        self.take(outcome.records)
        return outcome.reply

    def complete(self) -> Completion | None:
        completion = self.shard.completion(ID)
        if completion is not None:
            self.take(self.shard.complete(ID, self.now_ms).records)
        return completion

    @property
    def transaction(self) -> Transaction:
        found = self.shard.find(ID)
        assert found is not None
        return found


# -- cases -------------------------------------------------------------------------------------------------


def refusal(attempt: Callable[[], object]) -> ErrorCode:
    with pytest.raises(ApiError) as raised:
        attempt()
    return raised.value.error


def test_no_request_changes_anything_before_it_is_replayed() -> None:
    live = Live()
    who = live.opened()
    live.add(who, ORDERS)
    before = live.transaction
    shard = live.shard
    shard.open(ID, 1000, expected=None, fresh_id=None, now_ms=5)
    shard.open("another", 1000, expected=None, fresh_id=5, now_ms=5)
    shard.add(ID, who, (Partition("payments", 1),), now_ms=5)
    shard.end(ID, who, committed=True, now_ms=5)
    shard.time_out(ID, 5)
    assert list(shard) == [(ID, before)]
    assert shard.completions() == []


def test_an_unknown_id_has_no_producer() -> None:
    shard = Live().shard
    for attempt in (
        lambda: shard.add(ID, Identity(1, 0), (ORDERS,), now_ms=1),
        lambda: shard.end(ID, Identity(1, 0), committed=True, now_ms=1),
        lambda: shard.check_takes_part(ID, Identity(1, 0), ORDERS),
    ):
        assert refusal(attempt) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("timeout_ms", [-1, 0, TIMEOUT_MS_MAX + 1])
def test_a_timeout_has_bounds(timeout_ms: int) -> None:
    shard = Live().shard
    assert refusal(lambda: shard.check_timeout(timeout_ms)) is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    shard.check_timeout(1)
    shard.check_timeout(TIMEOUT_MS_MAX)


def test_what_was_decided_is_completed_by_the_next_coordinator() -> None:
    live = Live()
    who = live.opened()
    live.add(who, ORDERS)
    live.end(who, committed=True)
    decided = Completion(ID, who, committed=True, partitions=frozenset({ORDERS}))
    assert live.shard.completions() == [decided]
    after = Live(*live.log)
    assert after.shard.completions() == [decided]
    after.complete()
    assert after.shard.completions() == []
    assert Live(*after.log).transaction.state is State.COMPLETE_COMMIT


def test_a_transaction_that_takes_too_long_is_aborted_in_an_epoch_of_nobody() -> None:
    live = Live()
    who = live.opened()
    live.add(who, ORDERS)
    assert live.shard.timed_out(live.now_ms + 60_000) == []
    assert live.shard.timed_out(live.now_ms + 60_001) == [ID]
    live.take(live.shard.time_out(ID, live.now_ms + 60_001).records)
    assert live.shard.timed_out(live.now_ms + 99_999) == []
    assert live.complete() == Completion(ID, Identity(who.id, who.epoch + 1), False, frozenset({ORDERS}))
    assert refusal(lambda: live.end(who, committed=True)) is ErrorCode.PRODUCER_FENCED


def test_ids_that_nobody_uses_are_forgotten_and_others_are_not() -> None:
    live = Live()
    who = live.opened()
    assert list(live.shard.expired(live.now_ms + WEEK_MS - 1)) == [None]
    assert list(live.shard.expired(live.now_ms + WEEK_MS)) == [record_of(ID, None)]
    live.add(who, ORDERS)
    assert list(live.shard.expired(live.now_ms + WEEK_MS)) == [None]
    live.end(who, committed=False)
    assert list(live.shard.expired(live.now_ms + WEEK_MS)) == [None]
    live.complete()
    live.take(filter(None, live.shard.expired(live.now_ms + WEEK_MS)))
    assert len(live.shard) == 0


def test_a_record_of_the_future_costs_nobody_else_anything() -> None:
    live = Live(StoredRecord(b"\x00\x07?", b"\x00\x09?"), record_of(ID, Transaction.new(7, 1, 1)))
    assert [transactional_id for transactional_id, _ in live.shard] == [ID]


# -- all that may happen -----------------------------------------------------------------------------------


Given: TypeAlias = Identity | MultipleResults[Identity]  # none, when the request was refused


class Producers(RuleBasedStateMachine):
    """Producers of one transactional id, some of them zombies; the coordinator moves now and then. Laws:

    - only the identity that was given out last is obeyed, and nobody else changes anything;
    - a decision stays what it is until it is complete, and each is completed once;
    - identities never repeat: whoever opens gets one that nobody had, or asked for it before;
    - what another coordinator replays is what this one keeps.
    """

    identities = Bundle("identities")

    def __init__(self) -> None:
        super().__init__()
        self.live = Live(record_of(ID, Transaction.new(7, 60_000, 1)))
        self.given: set[Identity] = set()
        self.latest: Identity | None = None  # who may act; None: who was given it last is fenced
        self.repeatable: dict[Identity, Identity] = {}  # a request's identity -> what it was answered
        self.decided: Completion | None = None

    @rule(target=identities)
    def a_producer_comes(self) -> Given:
        return self._opened(None)

    @rule(target=identities, who=identities)
    def a_producer_comes_back(self, who: Identity) -> Given:
        return self._opened(who)

    @rule(who=identities, number=st.integers(0, 2), protocol=st.sampled_from(Protocol))
    def a_partition_takes_part(self, who: Identity, number: int, protocol: Protocol) -> None:
        partition = Partition("orders", number)
        before = self.live.transaction
        try:
            self.live.add(who, partition, protocol)
        except ApiError:
            assert self.live.transaction == before
            assert who != self.latest or before.state in PREPARED
            return
        assert who == self.latest
        self.repeatable.clear()
        assert partition in self.live.transaction.partitions
        self.live.shard.check_takes_part(ID, who, partition)

    @rule(who=identities, committed=st.booleans())
    def a_transaction_ends(self, who: Identity, committed: bool) -> None:
        before = self.live.transaction
        try:
            self.live.end(who, committed=committed)
        except ApiError:
            assert self.live.transaction == before
            return
        assert who == self.latest
        self._ended(before, committed)

    @rule(target=identities, who=identities, committed=st.booleans())
    def a_transaction_ends_in_v2(self, who: Identity, committed: bool) -> Given:
        before = self.live.transaction
        try:
            reply = self.live.end_in_v2(who, committed=committed)
        except ApiError:
            assert self.live.transaction == before
            return multiple()
        if self.live.transaction == before:
            assert reply == self.repeatable[who]
            self._give(reply)
            return reply
        assert who == self.latest
        self._ended(before, committed)
        self._give(reply)
        self.repeatable = {who: reply}
        return reply

    @rule()
    def the_markers_are_written(self) -> None:
        assert self.live.complete() == self.decided
        self.decided = None

    @rule(later_ms=st.integers(0, 100_000))
    def time_passes(self, later_ms: int) -> None:
        self.live.now_ms += later_ms
        for transactional_id in self.live.shard.timed_out(self.live.now_ms):
            before = self.live.transaction
            self.live.take(self.live.shard.time_out(transactional_id, self.live.now_ms).records)
            self._fenced(before)

    @rule()
    def the_coordinator_moves(self) -> None:
        moved = Live(*self.live.log)
        moved.now_ms, moved._ids = self.live.now_ms, self.live._ids
        assert list(moved.shard) == list(self.live.shard)
        assert moved.shard.completions() == self.live.shard.completions()
        self.live = moved

    @rule(epochs=st.integers(LAST_EPOCH - 2, LAST_EPOCH))
    def epochs_run_out(self, epochs: int) -> None:
        """Instead of opening thirty thousand times."""
        it = self.live.transaction
        if it.state not in PREPARED and it.state is not State.ONGOING and it.identity.epoch < epochs:
            opened = Transaction(Identity(it.identity.id, epochs), 60_000, State.EMPTY, self.live.now_ms)
            self.live.take((record_of(ID, opened),))
            self.latest = None
            self.repeatable.clear()

    @invariant()
    def a_decision_is_kept_until_it_is_complete(self) -> None:
        assert self.live.shard.completion(ID) == self.decided

    def _opened(self, expected: Identity | None) -> Given:
        before = self.live.transaction
        try:
            reply = self.live.open(expected)
        except ApiError as refused:
            assert self.live.transaction == before
            if refused.error is ErrorCode.PRODUCER_FENCED:
                assert expected not in (None, self.latest)
                assert expected not in self.repeatable
            else:
                assert before.state in PREPARED
            return multiple()
        if reply is None:
            self._fenced(before)
            return multiple()
        if expected is not None and expected in self.repeatable:
            assert reply == self.repeatable[expected]
            self._give(reply)
            return reply
        assert expected in (None, self.latest)
        self._give(reply)
        self.repeatable = {} if expected is None else {expected: reply}
        return reply

    def _give(self, identity: Identity) -> None:
        assert identity not in self.given or identity in self.repeatable.values()
        self.given.add(identity)
        self.latest = identity

    def _fenced(self, before: Transaction) -> None:
        assert before.state is State.ONGOING
        after = self.live.transaction
        assert after.state is State.PREPARE_ABORT
        assert after.identity not in self.given
        self.latest = None
        self.repeatable.clear()
        if before.protocol is Protocol.V2 and before.identity.epoch < LAST_EPOCH:
            self.repeatable[before.identity] = after.identity
        self.decided = Completion(ID, after.identity, False, before.partitions)

    def _ended(self, before: Transaction, committed: bool) -> None:
        after = self.live.transaction
        if after != before:
            assert self.decided is None
            self.repeatable.clear()
            self.decided = Completion(ID, after.identity, committed, before.partitions)


TestProducers = Producers.TestCase
TestProducers.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
