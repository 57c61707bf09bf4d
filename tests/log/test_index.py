from __future__ import annotations

import pytest

from odradek.log.index import LatestTimestamp, OffsetIndex, TimeIndex
from odradek.log.open_files import OpenFiles
from odradek.testing.sim_disk import SimDisk

BASE = 1000


@pytest.fixture
def index(files: OpenFiles) -> OffsetIndex:
    index = OffsetIndex.open(files, "/1000.index", BASE)
    for offset, position in ((1009, 4200), (1020, 8400), (1031, 12800)):
        index.add(offset, position)
    return index


@pytest.fixture
def times(files: OpenFiles) -> TimeIndex:
    times = TimeIndex.open(files, "/1000.timeindex", BASE)
    for timestamp, offset in ((50, 1009), (70, 1015), (70, 1020), (60, 1021), (90, 1031)):
        times.add_if_later(LatestTimestamp(timestamp, offset))
    return times


@pytest.mark.parametrize(
    ("offset", "position"),
    [
        (1000, 0),
        (1008, 0),
        (1009, 4200),
        (1010, 4200),
        (1020, 8400),
        (1030, 8400),
        (1031, 12800),
        (9999, 12800),
    ],
)
def test_a_search_for_an_offset_begins_at_the_last_entry_not_behind_it(
    index: OffsetIndex, offset: int, position: int
) -> None:
    assert index.position_before(offset) == position


@pytest.mark.parametrize(
    ("position", "offset"), [(0, 1009), (4200, 1009), (4201, 1020), (12800, 1031), (12801, None)]
)
def test_an_offset_is_found_for_a_position(index: OffsetIndex, position: int, offset: int | None) -> None:
    assert index.offset_at(position) == offset


@pytest.mark.parametrize(("position", "count"), [(0, 0), (4200, 0), (4201, 1), (12800, 2), (20000, 3)])
def test_entries_of_what_was_cut_go(index: OffsetIndex, position: int, count: int) -> None:
    index.cut_from(position)
    assert index.count == count


def test_offset_entries_are_kafkas(index: OffsetIndex, disk: SimDisk) -> None:
    index.trim()
    assert disk.read_file("/1000.index")[:16].hex() == "000000090000106800000014000020d0"


def test_the_last_entry_is_told(index: OffsetIndex, files: OpenFiles) -> None:
    assert index.last == (1031, 12800)
    assert OffsetIndex.open(files, "/empty", 0).last is None


def test_a_time_entry_is_added_only_for_a_later_time(times: TimeIndex) -> None:
    assert [times.entry(number) for number in range(times.count)] == [(50, 9), (70, 15), (90, 31)]


@pytest.mark.parametrize(
    ("timestamp", "offset"),
    [(0, 1000), (49, 1000), (50, 1009), (69, 1009), (70, 1015), (89, 1015), (90, 1031)],
)
def test_a_search_for_a_time_begins_where_all_before_is_older(
    times: TimeIndex, timestamp: int, offset: int
) -> None:
    assert times.offset_before(timestamp) == offset


@pytest.mark.parametrize(("offset", "count"), [(1000, 0), (1009, 0), (1010, 1), (1031, 2), (1032, 3)])
def test_time_entries_of_what_was_cut_go(times: TimeIndex, offset: int, count: int) -> None:
    times.cut_from(offset)
    assert times.count == count


def test_time_entries_are_kafkas(times: TimeIndex, disk: SimDisk) -> None:
    times.trim()
    assert disk.read_file("/1000.timeindex")[:12].hex() == "000000000000003200000009"


def test_a_time_index_is_full_one_entry_early(files: OpenFiles) -> None:
    """A segment ends with an entry for its largest timestamp."""
    times = TimeIndex(files, "/0.timeindex", 0, 0)
    times.limit(24)
    times.add_if_later(LatestTimestamp(1, 1))
    assert times.is_full


def test_nothing_is_latest_at_first(files: OpenFiles) -> None:
    assert TimeIndex.open(files, "/none", BASE).last == LatestTimestamp(-1, BASE)
