from __future__ import annotations

import pytest

from odradek.log.open_files import OpenFiles
from odradek.log.producers import CompletedTransaction
from odradek.log.txn_index import AbortedTransaction, TxnIndex
from odradek.testing.sim_disk import SimDisk

FIRST, SECOND = AbortedTransaction(1000, 424, 425, 426), AbortedTransaction(7, 420, 430, 427)


@pytest.fixture
def index(files: OpenFiles) -> TxnIndex:
    index = TxnIndex.open(files, "/0.txnindex", 0)
    index.add(FIRST)
    index.add(SECOND)
    return index


@pytest.mark.parametrize(
    ("offset", "expected"), [(0, [FIRST, SECOND]), (425, [FIRST, SECOND]), (426, [SECOND]), (431, [])]
)
def test_transactions_are_found_by_where_they_end(
    index: TxnIndex, offset: int, expected: list[AbortedTransaction]
) -> None:
    assert list(index.ending_from(offset)) == expected


def test_entries_are_kafkas(index: TxnIndex, disk: SimDisk) -> None:
    index.trim()
    entry = "000000000000000003e800000000000001a800000000000001a900000000000001aa"
    assert disk.read_file("/0.txnindex")[:34].hex() == entry


def test_transactions_whose_marker_was_cut_go(index: TxnIndex) -> None:
    index.cut_from(430)
    assert list(index.ending_from(0)) == [FIRST]


def test_without_an_aborted_transaction_there_is_no_file(disk: SimDisk, files: OpenFiles) -> None:
    index = TxnIndex.open(files, "/1.txnindex", 0)
    assert list(index.ending_from(0)) == []
    assert index.trim() is None
    assert not disk.exists("/1.txnindex")


def test_an_aborted_transaction_is_remembered_as_it_was_completed() -> None:
    completed = CompletedTransaction(1000, 424, 425, aborted=True, last_stable_offset=426)
    assert AbortedTransaction.of(completed) == FIRST
