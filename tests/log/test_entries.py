"""A file of entries against a plain list of them: whatever was written out, cut or reopened in between."""

from __future__ import annotations

from bisect import bisect_right
from random import Random
from struct import Struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.log.entries import PAGE_SIZE, EntryFile
from odradek.log.open_files import OpenFiles
from odradek.model.errors import StorageError
from odradek.testing.sim_disk import SimDisk

PATH = "/entries"


class Pairs(EntryFile):
    ENTRY = Struct(">ii")
    __slots__ = ()


PER_PAGE = PAGE_SIZE // Pairs.ENTRY.size


def entries_of(pairs: EntryFile) -> list[tuple[int, ...]]:
    return [pairs.entry(number) for number in range(pairs.count)]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(1, 700)),
        st.tuples(st.just("cut"), st.integers(0, 1500)),
        st.tuples(st.just("write out"), st.just(0)),
        st.tuples(st.just("trim"), st.just(0)),
        st.tuples(st.just("reopen"), st.just(0)),
    ),
    max_size=12,
)


@given(STEPS, st.lists(st.integers(-1, 5000), max_size=5))
def test_entries_are_what_was_pushed_and_not_cut(steps: list[tuple[str, int]], wanted: list[int]) -> None:
    files = OpenFiles(SimDisk(Random(0)))
    pairs, model = Pairs.open(files, PATH, 0), list[tuple[int, int]]()
    pairs.limit(1 << 20)
    for step, amount in steps:
        match step:
            case "push":
                for _ in range(amount):
                    entry = (model[-1][0] + 2, model[-1][1] + 3) if model else (0, 0)
                    model.append(entry)
                    pairs.push(*entry)
            case "cut":
                pairs.cut(amount)
                del model[amount:]
            case "write out":
                pairs.write_out()
            case "trim":
                pairs.trim()
            case _:
                pairs.trim()
                pairs = Pairs.open(files, PATH, 0)
        for value in wanted:
            assert pairs.count_not_above(value, 0) == bisect_right(model, value, key=lambda each: each[0])
            assert pairs.count_not_above(value, 1) == bisect_right(model, value, key=lambda each: each[1])
    assert entries_of(pairs) == model


def test_nothing_is_written_before_it_is_asked_for(disk: SimDisk, files: OpenFiles) -> None:
    pairs = Pairs.open(files, PATH, 0)
    pairs.push(1, 1)
    assert not disk.exists(PATH)
    pairs.write_out()
    assert disk.read_file(PATH) == Pairs.ENTRY.pack(1, 1)


def test_a_full_page_is_written_whole_and_leaves_memory(disk: SimDisk, files: OpenFiles) -> None:
    pairs = Pairs.open(files, PATH, 0)
    seen = set()
    for number in range(PER_PAGE):
        seen.add(pairs.page_is_full)
        pairs.push(number, number)
    assert seen == {False}
    assert pairs.page_is_full
    pairs.write_out()
    assert disk.size(PATH) == PAGE_SIZE
    assert pairs.entry(PER_PAGE - 1) == (PER_PAGE - 1, PER_PAGE - 1)


def test_a_new_file_looks_as_long_as_it_may_become_until_it_is_trimmed(
    disk: SimDisk, files: OpenFiles
) -> None:
    pairs = Pairs(files, PATH, 0, 0)
    pairs.create(1004)
    assert disk.size(PATH) == 1000
    pairs.push(1, 1)
    file = pairs.trim()
    assert file is not None
    assert disk.size(PATH) == 8
    assert pairs.trim() is None


def test_it_is_full_when_its_size_is_reached(files: OpenFiles) -> None:
    pairs = Pairs(files, PATH, 0, 0)
    pairs.create(16)
    seen = []
    for number in range(3):
        seen.append(pairs.is_full)
        pairs.push(number, number)
    assert seen == [False, False, True]


def test_a_search_reads_few_pages_and_the_next_one_nearby_none(disk: SimDisk, files: OpenFiles) -> None:
    pairs = Pairs.open(files, PATH, 0)
    for number in range(100 * PER_PAGE):
        pairs.push(number, number)
    pairs.trim()
    pairs = Pairs.open(files, PATH, 0)
    disk.counts.clear()
    pairs.count_not_above(33_333, 0)
    assert disk.counts["read"] <= 8
    disk.counts.clear()
    pairs.count_not_above(33_334, 0)
    assert disk.counts["read"] == 0


def test_cleared_it_has_no_entries_and_its_file_is_there(disk: SimDisk, files: OpenFiles) -> None:
    disk.replace_file(PATH, bytes(1000))
    pairs = Pairs.open(files, PATH, 0)
    pairs.clear()
    assert pairs.count == 0
    assert disk.size(PATH) == 0


def test_entries_that_vanish_are_a_failure_of_the_disk(disk: SimDisk, files: OpenFiles) -> None:
    disk.replace_file(PATH, Pairs.ENTRY.pack(1, 1) * 3)
    pairs = Pairs.open(files, PATH, 0)
    disk.open(PATH).truncate(8)
    with pytest.raises(StorageError):
        pairs.entry(2)
