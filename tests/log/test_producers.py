"""Idempotence and transactions, as one partition sees them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.log.producers import SEQUENCE_MASK, WINDOW, Duplicate, ProducerStates
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.testing.batches import T0, batch_of, marker_of, stored
from odradek.wire.batch import BatchHeader, read_header
from odradek.wire.records import Producer

PID = 7


def data(sequence: int, count: int = 1, *, epoch: int = 0, pid: int = PID, txn: bool = False) -> BatchHeader:
    batch = batch_of(*[T0] * count, producer=Producer(pid, epoch, sequence), transactional=txn)
    return read_header(batch)


@dataclass
class Log:
    """A log that only counts offsets."""

    states: ProducerStates = field(default_factory=ProducerStates)
    end: int = 0

    def append(self, header: BatchHeader, *, from_client: bool = True) -> Duplicate | None:
        duplicate = self.states.check(header, from_client=from_client)
        if duplicate is None:
            self.states.appended(header, self.end)
            self.end += header.record_count
        return duplicate

    def decide(
        self, pid: int = PID, epoch: int = 0, *, aborted: bool = False, coordinator_epoch: int = 0
    ) -> None:
        marker = stored(marker_of(pid, epoch, aborted=aborted, coordinator_epoch=coordinator_epoch), self.end)
        self.states.check_marker(read_header(marker), coordinator_epoch)
        self.states.stored(read_header(marker), marker)
        self.end += 1


@pytest.fixture
def log() -> Log:
    return Log()


def refusal(log: Log, header: BatchHeader, *, from_client: bool = True) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        log.append(header, from_client=from_client)
    return caught.value.error


# -- sequences ---------------------------------------------------------------------------------------------


def test_sequences_go_on_where_the_last_batch_ended(log: Log) -> None:
    for sequence, count in ((0, 3), (3, 1), (4, 2)):
        assert log.append(data(sequence, count)) is None
    assert log.end == 6


@pytest.mark.parametrize("sequence", [2, 4, 100])
def test_a_gap_is_refused(log: Log, sequence: int) -> None:
    log.append(data(0, 3))
    assert refusal(log, data(sequence)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_unknown_producer_may_begin_anywhere(log: Log) -> None:
    """What it wrote before may have been deleted by retention."""
    assert log.append(data(500)) is None
    assert refusal(log, data(0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_each_of_the_last_five_batches_is_recognised_and_no_older_one(log: Log) -> None:
    sent = [data(2 * number, 2) for number in range(WINDOW + 3)]
    for each in sent:
        log.append(each)
    for number, each in enumerate(sent[-WINDOW:], 3):
        assert log.append(each) == Duplicate(2 * number, 2 * number + 1, T0)
    for each in sent[:-WINDOW]:
        assert refusal(log, each) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_that_only_overlaps_an_old_one_is_no_duplicate(log: Log) -> None:
    log.append(data(0, 3))
    for header in (data(0, 2), data(1, 2), data(0, 4)):
        assert refusal(log, header) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_wrap_around_to_zero(log: Log) -> None:
    log.append(data(SEQUENCE_MASK - 1, 2))
    assert log.append(data(0)) is None
    assert log.append(data(SEQUENCE_MASK - 1, 2)) == Duplicate(0, 1, T0)


def test_one_batch_may_wrap_around(log: Log) -> None:
    log.append(data(SEQUENCE_MASK, 3))
    assert log.append(data(2)) is None
    assert log.append(data(SEQUENCE_MASK, 3)) == Duplicate(0, 2, T0)


def test_producers_do_not_disturb_each_other(log: Log) -> None:
    log.append(data(0, 5))
    assert log.append(data(0, pid=PID + 1)) is None
    assert log.append(data(5)) is None


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 6)), max_size=30))
def test_whatever_is_sent_again_is_written_once(sends: list[tuple[int, int]]) -> None:
    """(records in a new batch, how many batches back something is sent again in between)."""
    log, sent = Log(), list[tuple[BatchHeader, int]]()
    for count, back in sends:
        sequence = sum(header.record_count for header, _ in sent)
        sent.append((data(sequence, count), log.end))
        log.append(sent[-1][0])
        if back < len(sent):
            header, offset = sent[-1 - back]
            if back < WINDOW:
                assert log.append(header) == Duplicate(offset, offset + header.record_count - 1, T0)
            else:
                assert refusal(log, header) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.end == sum(header.record_count for header, _ in sent)


# -- epochs ------------------------------------------------------------------------------------------------


def test_a_new_epoch_begins_at_zero_and_ends_the_old_one(log: Log) -> None:
    log.append(data(0, 3, epoch=1))
    assert refusal(log, data(3, epoch=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.append(data(0, epoch=2)) is None
    assert refusal(log, data(3, epoch=1)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_new_epoch_has_no_duplicates_in_the_old_one(log: Log) -> None:
    log.append(data(0, 3, epoch=1))
    assert log.append(data(0, 3, epoch=2)) is None
    assert log.end == 6


def test_a_coordinator_is_fenced_by_epoch_alone(log: Log) -> None:
    log.append(data(5, epoch=1))
    assert log.append(data(-1, epoch=1, txn=True), from_client=False) is None
    assert refusal(log, data(-1, epoch=0), from_client=False) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_a_newer_epoch_fences_the_old_one(log: Log) -> None:
    log.append(data(0, txn=True))
    log.decide(epoch=1, aborted=True)
    assert refusal(log, data(1, txn=True)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert log.append(data(0, epoch=1, txn=True)) is None


def test_after_a_marker_sequences_go_on(log: Log) -> None:
    log.append(data(0, 2, txn=True))
    log.decide()
    assert log.append(data(2, txn=True)) is None


# -- transactions ------------------------------------------------------------------------------------------


def test_what_is_open_is_unstable_until_its_marker_is_replicated(log: Log) -> None:
    log.append(data(0, 10, pid=1))
    log.append(data(0, txn=True))
    seen = [(log.states.first_open_offset, log.states.first_unstable_offset)]
    log.decide()
    for high_watermark in (10, 11, 12):
        log.states.replicated(high_watermark)
        seen.append((log.states.first_open_offset, log.states.first_unstable_offset))
    assert seen == [(10, 10), (None, 10), (None, 10), (None, None)]


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_the_earliest_undecided_transaction_bounds_what_is_stable(log: Log, order: tuple[int, ...]) -> None:
    begins = {}
    for pid in (1, 2, 3):
        begins[pid] = log.end
        log.append(data(0, pid=pid, txn=True))
    for pid in order:
        log.decide(pid)
        log.states.replicated(log.end)
        del begins[pid]
        assert log.states.first_unstable_offset == min(begins.values(), default=None)


def test_a_completed_transaction_says_what_became_stable(log: Log) -> None:
    log.append(data(0, 3, pid=1, txn=True))
    log.append(data(0, 2, pid=2, txn=True))
    first = stored(marker_of(1, aborted=True), 5)
    assert log.states.stored(read_header(first), first) == (1, 0, 5, True, 3)
    second = stored(marker_of(2, aborted=False), 6)
    assert log.states.stored(read_header(second), second) == (2, 3, 6, False, 7)


def test_a_marker_without_data_decides_nothing(log: Log) -> None:
    marker = stored(marker_of(PID, aborted=True), 0)
    assert log.states.stored(read_header(marker), marker) is None
    assert log.states.first_unstable_offset is None


def test_outside_of_an_open_transaction_its_producer_may_not_write(log: Log) -> None:
    log.append(data(0, txn=True))
    assert refusal(log, data(1)) is ErrorCode.INVALID_TXN_STATE
    log.decide()
    assert log.append(data(1)) is None


def test_an_old_coordinator_is_fenced(log: Log) -> None:
    log.append(data(0, txn=True))
    log.decide(coordinator_epoch=5)
    with pytest.raises(ApiError) as caught:
        log.decide(coordinator_epoch=4)
    assert caught.value.error is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_marker_of_an_old_producer_epoch_is_refused(log: Log) -> None:
    log.append(data(0, epoch=3, txn=True))
    with pytest.raises(ApiError) as caught:
        log.decide(epoch=2)
    assert caught.value.error is ErrorCode.INVALID_PRODUCER_EPOCH


# -- forgetting and remembering ----------------------------------------------------------------------------


def test_a_silent_producer_is_forgotten_unless_it_holds_a_transaction(log: Log) -> None:
    log.append(data(0, pid=1))
    log.append(data(0, pid=2, txn=True))
    assert log.states.expire(T0 + 999, 1000) == 0
    assert log.states.expire(T0 + 1000, 1000) == 1
    assert [each.producer_id for each in log.states.describe()] == [2]


def test_a_snapshot_has_kafkas_bytes(log: Log) -> None:
    log.append(data(0, 3, epoch=2, txn=True))
    pid, epoch, last_sequence = "0000000000000007", "0002", "00000002"
    last_offset, delta, timestamp = "0000000000000002", "00000002", f"{T0:016x}"
    entry = pid + epoch + last_sequence + last_offset + delta + timestamp + "ffffffff" + "0000000000000000"
    snapshot = log.states.snapshot().hex()
    assert snapshot[:4] == "0001"
    assert snapshot[12:] == "00000001" + entry
    assert ProducerStates().snapshot().hex()[:4] == "0001"
    assert len(ProducerStates().snapshot()) == 10


def test_from_a_snapshot_sequences_epochs_and_open_transactions_go_on(log: Log) -> None:
    log.append(data(0, 3, pid=1))
    log.append(data(3, 2, pid=1))
    log.append(data(0, pid=2, txn=True))
    log.append(data(0, pid=3, txn=True))
    log.decide(3, coordinator_epoch=4)
    again = Log(ProducerStates.load(log.states.snapshot()), log.end)
    assert list(again.states.describe()) == list(log.states.describe())
    assert again.states.first_unstable_offset == 5
    assert again.append(data(3, 2, pid=1)) == Duplicate(3, 4, T0)
    assert refusal(again, data(0, 3, pid=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert again.append(data(5, pid=1)) is None
    with pytest.raises(ApiError):
        again.decide(3, coordinator_epoch=3)


@given(st.integers(0, 200), st.integers(0, 7))
def test_a_damaged_snapshot_is_not_believed(at: int, bit: int) -> None:
    log = Log()
    log.append(data(0, 3))
    log.append(data(0, pid=8))
    snapshot = bytearray(log.states.snapshot())
    with pytest.raises(StorageError):
        ProducerStates.load(bytes(snapshot[: min(at, len(snapshot) - 1)]))
    snapshot[at % len(snapshot)] ^= 1 << bit
    with pytest.raises(StorageError):
        ProducerStates.load(bytes(snapshot))


def test_the_log_tells_a_follower_what_the_leader_knew(log: Log) -> None:
    """Nothing is asked: the leader has decided."""
    follower = ProducerStates()
    offset = 0
    for batch in (
        batch_of(T0, T0, producer=Producer(1, 0, 0)),
        batch_of(T0, producer=Producer(2, 0, 5), transactional=True),
        marker_of(2, aborted=False),
        batch_of(T0, producer=Producer(1, 0, 2)),
        batch_of(T0),
    ):
        lies = stored(batch, offset)
        follower.stored(read_header(lies), lies)
        offset = read_header(lies).next_offset
    known = {each.producer_id: (each.last_sequence, each.last_offset) for each in follower.describe()}
    assert known == {1: (2, 4), 2: (5, 2)}
    assert len(follower) == 2
