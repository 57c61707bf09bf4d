from __future__ import annotations

from odradek.log.cleaned_transactions import CleanedTransactions
from odradek.log.txn_index import AbortedTransaction
from odradek.wire.batch import read_header
from odradek.wire.markers import Marker, MarkerType, build_marker
from odradek.wire.records import BatchBuilder, Producer, retain

ANN, BOB = 7, 8


def data(producer: int, offset: int, *, transactional: bool = True) -> bytearray:
    builder = BatchBuilder(base_offset=offset, producer=Producer(producer, 0, 0), transactional=transactional)
    builder.append(1, b"key", b"value")
    return builder.build()


def marker(producer: int, offset: int, kind: MarkerType) -> bytearray:
    return build_marker(Marker(kind, 0), producer, 0, 1, base_offset=offset)


def commit(producer: int, offset: int) -> bytearray:
    return marker(producer, offset, MarkerType.COMMIT)


def abort(producer: int, offset: int) -> bytearray:
    return marker(producer, offset, MarkerType.ABORT)


def discarded(transactions: CleanedTransactions, *batches: bytearray) -> list[int]:
    headers = [(read_header(batch), batch) for batch in batches]
    return [header.base_offset for header, batch in headers if transactions.may_discard(header, batch)]


def test_what_was_committed_or_never_in_a_transaction_stays() -> None:
    plain = data(ANN, 0, transactional=False)
    assert discarded(CleanedTransactions([]), plain, data(ANN, 1), data(BOB, 2), commit(ANN, 3)) == []


def test_aborted_data_goes_and_its_marker_stays_this_time() -> None:
    aborted = AbortedTransaction(ANN, 0, 3, 4)
    transactions = CleanedTransactions([aborted])
    assert discarded(transactions, data(ANN, 0), data(BOB, 1), data(ANN, 2), abort(ANN, 3)) == [0, 2]
    assert transactions.indexed == [aborted]


def test_a_marker_goes_when_its_data_is_gone() -> None:
    transactions = CleanedTransactions([AbortedTransaction(BOB, 3, 4, 5)])
    assert discarded(transactions, commit(ANN, 2), abort(BOB, 4)) == [2, 4]
    assert transactions.indexed == []


def test_a_producers_next_transaction_is_another_one() -> None:
    transactions = CleanedTransactions([AbortedTransaction(ANN, 0, 1, 2)])
    assert discarded(transactions, data(ANN, 0), abort(ANN, 1), data(ANN, 2), commit(ANN, 3)) == [0]
    assert discarded(transactions, commit(ANN, 4)) == [4]


def test_a_transaction_that_aborts_later_does_not_touch_the_one_before() -> None:
    transactions = CleanedTransactions([AbortedTransaction(ANN, 2, 3, 4)])
    assert discarded(transactions, data(ANN, 0), commit(ANN, 1), data(ANN, 2), abort(ANN, 3)) == [2]


def test_one_that_began_before_what_is_read_is_known_as_aborted() -> None:
    transactions = CleanedTransactions([AbortedTransaction(ANN, 0, 12, 13)])
    assert discarded(transactions, data(ANN, 10), data(BOB, 11), abort(ANN, 12)) == [10]


def test_a_batch_kept_for_its_sequence_keeps_its_marker() -> None:
    """An empty batch still says that its producer has an open transaction, to whoever rebuilds its state."""
    transactions = CleanedTransactions([AbortedTransaction(ANN, 0, 1, 2)])
    assert discarded(transactions, retain(data(ANN, 0), b"\0"), abort(ANN, 1)) == [0]


def test_an_emptied_marker_decides_nothing() -> None:
    transactions = CleanedTransactions([])
    assert discarded(transactions, data(ANN, 0), retain(commit(ANN, 1), b"\0"), commit(ANN, 2)) == [1]
