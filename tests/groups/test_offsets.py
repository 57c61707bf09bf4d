"""What counts, what may come to count, and what is forgotten."""

from __future__ import annotations

import pytest

from odradek.groups.offsets import Offsets, Place
from odradek.groups.records import offset_record
from odradek.wire.messages.stored import OffsetCommitKey, OffsetCommitValue

P0, P1 = Place("g", "t", 0), Place("g", "t", 1)
ANN, BOB = 7, 8  # producers


def value(offset: int) -> bytes:
    key = OffsetCommitKey(group="", topic="", partition=0)
    stored = offset_record(key, OffsetCommitValue(offset=offset, metadata="m", commit_timestamp=5)).value
    assert stored is not None
    return stored


class Book(Offsets):
    """Offsets, written to by numbers."""

    def set(self, place: Place, offset: int | None) -> None:
        key = OffsetCommitKey(group=place.group, topic=place.topic, partition=place.partition)
        self.commit(key, None if offset is None else value(offset))

    def hope(self, producer_id: int, place: Place, offset: int) -> None:
        key = OffsetCommitKey(group=place.group, topic=place.topic, partition=place.partition)
        self.pend(producer_id, key, value(offset))

    def at(self, place: Place) -> int | None:
        found = self.get(place)
        return None if found is None else found.offset


def test_the_last_commit_counts_until_it_is_taken_back() -> None:
    book = Book()
    book.set(P0, 1)
    book.set(P0, 2)
    book.set(P1, 3)
    assert (book.at(P0), book.at(P1), book.at(Place("h", "t", 0))) == (2, 3, None)
    assert [(place, found.offset) for place, found in book.of("g")] == [(P0, 2), (P1, 3)]
    book.set(P0, None)
    book.set(P1, None)
    assert book.at(P0) is None
    assert list(book.groups()) == []


def test_taking_back_what_was_never_committed_changes_nothing() -> None:
    book = Book()
    book.set(P0, None)
    assert list(book.groups()) == []


@pytest.mark.parametrize("committed", [True, False])
def test_what_a_transaction_commits_counts_once_it_is_decided(committed: bool) -> None:
    book = Book()
    book.set(P0, 1)
    book.hope(ANN, P0, 2)
    book.hope(ANN, P1, 3)
    assert (book.at(P0), book.is_pending(P0), book.at(P1), book.is_pending(P1)) == (1, True, None, True)
    book.decide(ANN, committed=committed)
    assert (book.at(P0), book.at(P1)) == ((2, 3) if committed else (1, None))
    assert not book.is_pending(P0)
    assert not book.is_pending(P1)


def test_a_transaction_is_decided_once_and_only_for_its_producer() -> None:
    book = Book()
    book.hope(ANN, P0, 1)
    book.decide(BOB, committed=True)
    assert book.at(P0) is None
    book.decide(ANN, committed=False)
    book.decide(ANN, committed=True)
    assert book.at(P0) is None


def test_a_later_plain_commit_overtakes_what_is_pending() -> None:
    book = Book()
    book.hope(ANN, P0, 1)
    book.set(P0, 2)
    assert not book.is_pending(P0)
    book.decide(ANN, committed=True)
    assert book.at(P0) == 2


def test_of_two_transactions_the_one_that_wrote_later_counts_whichever_ends_first() -> None:
    for order in ((ANN, BOB), (BOB, ANN)):
        book = Book()
        book.hope(ANN, P0, 1)
        book.hope(BOB, P0, 2)
        for producer_id in order:
            book.decide(producer_id, committed=True)
        assert book.at(P0) == 2
        assert not book.is_pending(P0)


def test_a_producer_that_commits_twice_in_one_transaction_means_the_second() -> None:
    book = Book()
    book.hope(ANN, P0, 1)
    book.hope(BOB, P0, 2)
    book.hope(ANN, P0, 3)
    book.decide(ANN, committed=True)
    book.decide(BOB, committed=True)
    assert book.at(P0) == 3


def test_a_group_is_there_while_anything_of_it_is_pending() -> None:
    book = Book()
    book.hope(ANN, P0, 1)
    assert book.has("g")
    assert list(book.groups()) == ["g"]
    assert book.places("g") == [P0]
    assert book.has_others("g", [])
    assert not book.has_others("g", [P0])
    book.decide(ANN, committed=False)
    assert not book.has("g")
    assert list(book.groups()) == []
