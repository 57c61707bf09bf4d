from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.log.open_files import OpenFiles
from odradek.log.segment import INDEX, KINDS, LOG, TIME_INDEX, TXN_INDEX, BrokenEnd, FoundTimestamp, Segment
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.testing.batches import T0, batch_of, stored
from odradek.testing.sim_disk import SimDisk
from odradek.wire.batch import read_header, split

BASE = 100
SETTINGS = LogSettings(index_interval_bytes=200, segment_bytes=1 << 20, segment_index_bytes=4096)


@pytest.fixture
def segment(files: OpenFiles, directory: str) -> Segment:
    """Fifty batches of two records each, a second apart."""
    segment = Segment.create(files, directory, BASE, SETTINGS)
    for number in range(50):
        append(segment, BASE + 2 * number, T0 + 1000 * number, T0 + 1000 * number + 1)
    return segment


def append(segment: Segment, offset: int, *timestamps: int) -> None:
    batch = stored(batch_of(*timestamps), offset, leader_epoch=3)
    header = read_header(batch)
    segment.append(batch, header.last_offset, header.max_timestamp)


def reopened(segment: Segment, files: OpenFiles) -> Segment:
    for file in segment.finish():
        file.sync()
    return Segment.existing(files, segment.directory, segment.base_offset)


def test_batches_come_back_as_they_were_written(segment: Segment) -> None:
    assert [header.base_offset for _, header in segment.batches()] == list(range(100, 200, 2))
    assert all(read_header(batch) == header for _, header, batch in segment.contents(ahead=300))
    position, _ = list(segment.batches())[7]
    assert next(iter(segment.batches(position)))[1].base_offset == 114


@pytest.mark.parametrize("ahead", [61, 100, 333, 1 << 20])
def test_however_much_is_read_at_a_time_the_batches_are_the_same(segment: Segment, ahead: int) -> None:
    assert list(segment.batches(0, ahead)) == list(segment.batches())
    assert [bytes(batch) for _, _, batch in segment.contents(0, ahead)] == [
        bytes(batch) for _, _, batch in segment.contents()
    ]


@pytest.mark.parametrize("offset", range(95, 203))
def test_every_offset_is_located_as_a_scan_would(segment: Segment, files: OpenFiles, offset: int) -> None:
    expected = next((at for at, header in segment.batches() if header.last_offset >= offset), None)
    assert segment.locate(offset) == expected
    assert reopened(segment, files).locate(offset) == expected


def test_the_index_has_an_entry_every_few_bytes(segment: Segment) -> None:
    positions = [segment.index.entry(number)[1] for number in range(segment.index.count)]
    steps = [after - before for before, after in zip([0, *positions], positions, strict=False)]
    size = segment.size // 50
    assert all(200 < step <= 200 + size for step in steps)


def test_an_index_entry_names_the_last_offset_of_the_batch_it_points_at(segment: Segment) -> None:
    by_position = {at: header.last_offset for at, header in segment.batches()}
    for number in range(segment.index.count):
        relative, position = segment.index.entry(number)
        assert by_position[position] == BASE + relative


def test_a_finished_segment_ends_with_its_largest_timestamp(segment: Segment, files: OpenFiles) -> None:
    append(segment, 200, T0)
    again = reopened(segment, files)
    assert again.max_timestamp == T0 + 49_001
    assert again.time_index.last == (T0 + 49_001, 199)


def test_a_slice_has_as_much_as_is_asked_for(segment: Segment) -> None:
    found = segment.slice(0, segment.size, 300, min_one_message=True)
    assert found is not None
    assert (found.position, found.size) == (0, 300)
    whole = segment.slice(0, segment.size, 1 << 30, min_one_message=True)
    assert whole is not None
    assert len(split(whole.read())) == 50


def test_a_first_batch_that_is_too_large_comes_whole_or_not_at_all(segment: Segment) -> None:
    size = next(iter(segment.batches()))[1].size
    for size_max in (-1, 0, 1, size - 1):
        whole = segment.slice(0, segment.size, size_max, min_one_message=True)
        assert whole is not None
        assert whole.size == size
        assert segment.slice(0, segment.size, size_max, min_one_message=False) is None


def test_a_slice_ends_where_its_reader_wants_even_inside_a_batch(segment: Segment) -> None:
    size = next(iter(segment.batches()))[1].size
    for asked in (True, False):
        found = segment.slice(0, segment.size, size + 1, min_one_message=asked)
        assert found is not None
        assert found.size == size + 1


def test_a_slice_never_passes_its_end(segment: Segment) -> None:
    found = segment.slice(0, 90, 1, min_one_message=True)
    assert found is not None
    assert found.size <= 90
    assert segment.slice(90, 90, 1000, min_one_message=True) is None


# -- by time -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timestamp", "offset"), [(0, 100), (T0, 100), (T0 + 1, 101), (T0 + 2, 102), (T0 + 49_001, 199)]
)
def test_the_first_record_that_is_not_older_is_found(
    segment: Segment, files: OpenFiles, timestamp: int, offset: int
) -> None:
    for each in (segment, reopened(segment, files)):
        found = each.find_timestamp(timestamp, BASE)
        assert found is not None
        assert (found.offset, found.leader_epoch) == (offset, 3)


def test_nothing_is_found_where_all_is_older(segment: Segment) -> None:
    assert segment.find_timestamp(T0 + 49_002, BASE) is None


def test_what_lies_below_the_start_is_not_found(segment: Segment) -> None:
    assert segment.find_timestamp(T0, 151) == FoundTimestamp(T0 + 25_001, 151, 3)


def test_the_first_of_the_latest_records_is_found(segment: Segment) -> None:
    append(segment, 200, T0 + 90_000, T0 + 90_000)
    append(segment, 202, T0 + 90_000)
    assert segment.find_max_timestamp() == FoundTimestamp(T0 + 90_000, 200, 3)


def test_times_that_go_back_are_found_too(files: OpenFiles, directory: str) -> None:
    segment = Segment.create(files, directory, 0, replace(SETTINGS, index_interval_bytes=0))
    for offset, timestamp in enumerate((50, 40, 70, 60, 65, 90)):
        append(segment, offset, timestamp)
    for timestamp, offset in ((41, 0), (51, 2), (66, 2), (71, 5)):
        found = segment.find_timestamp(timestamp, 0)
        assert found is not None
        assert found.offset == offset


def test_without_timestamps_there_is_no_latest_record(files: OpenFiles, directory: str) -> None:
    segment = Segment.create(files, directory, 0, SETTINGS)
    append(segment, 0, -1)
    assert segment.find_max_timestamp() is None
    assert segment.max_timestamp == segment.first_timestamp == -1


def test_a_segment_without_timestamps_is_as_old_as_its_file(
    segment: Segment, files: OpenFiles, directory: str, disk: SimDisk
) -> None:
    assert segment.facts(with_first=True) == (BASE, segment.size, T0 + 49_001, T0 + 1)
    disk.now_ms = 777
    other = Segment.create(files, directory, 0, SETTINGS)
    append(other, 0, -1)
    assert other.facts(with_first=False) == (0, other.size, 777, -1)


# -- opening again -----------------------------------------------------------------------------------------


def test_activated_it_goes_on_where_it_ended(segment: Segment, files: OpenFiles, directory: str) -> None:
    unbroken = Segment.create(files, directory, 5000, SETTINGS)
    again = reopened(segment, files)
    assert again.activate(SETTINGS) == 200
    for each, base in ((again, 200), (unbroken, 5000)):
        for number in range(20):
            append(each, base + number, T0 + 100_000 + number)
    assert [header.base_offset for _, header in again.batches()][-20:] == list(range(200, 220))
    assert again.find_timestamp(T0 + 100_019, BASE) == FoundTimestamp(T0 + 100_019, 219, 3)


def test_activated_it_goes_on_with_its_index_as_if_it_had_never_been_closed(
    segment: Segment, files: OpenFiles, directory: str
) -> None:
    unbroken = [segment.index.entry(number) for number in range(segment.index.count)]
    other = Segment.create(files, "/data", BASE, SETTINGS)
    for number in range(50):
        append(other, BASE + 2 * number, T0 + 1000 * number, T0 + 1000 * number + 1)
        if number % 7 == 0:
            other = reopened(other, files)
            other.activate(SETTINGS)
    assert [other.index.entry(number) for number in range(other.index.count)] == unbroken


def test_an_empty_segment_ends_where_it_begins(files: OpenFiles, directory: str) -> None:
    segment = Segment.create(files, directory, BASE, SETTINGS)
    assert reopened(segment, files).activate(SETTINGS) == BASE


def test_bytes_that_are_no_batch_are_not_overlooked(
    segment: Segment, files: OpenFiles, disk: SimDisk
) -> None:
    segment.finish()
    disk.open(segment.path(LOG)).append(b"\0" * 100)
    with pytest.raises(BrokenEnd, match="no batch"):
        Segment.existing(files, segment.directory, BASE).activate(SETTINGS)


def test_opening_reads_only_what_follows_the_last_index_entry(
    segment: Segment, files: OpenFiles, disk: SimDisk
) -> None:
    again = reopened(segment, files)
    disk.counts.clear()
    again.activate(SETTINGS)
    assert disk.counts["read"] <= 3


# -- files -------------------------------------------------------------------------------------------------


def test_active_indexes_look_preallocated_until_the_segment_is_finished(
    files: OpenFiles, directory: str, disk: SimDisk
) -> None:
    segment = Segment.create(files, directory, 0, LogSettings())
    assert disk.size(segment.path(INDEX)) == 10_485_760
    assert disk.size(segment.path(TIME_INDEX)) == 10_485_756
    segment.finish()
    assert disk.size(segment.path(INDEX)) == segment.index.count * 8
    assert disk.size(segment.path(TIME_INDEX)) == segment.time_index.count * 12


def test_pages_of_index_entries_reach_the_disk_while_the_segment_is_active(
    files: OpenFiles, directory: str, disk: SimDisk
) -> None:
    segment = Segment.create(files, directory, 0, replace(SETTINGS, segment_index_bytes=16384))
    batch, offset = stored(batch_of(-1, value=bytes(300)), 0), 0
    while segment.index.count < 600:
        segment.append(batch, offset, -1)
        offset += 1
    assert disk.read_file(segment.path(INDEX))[:4096].count(b"\0\0\0\0") < 10
    assert segment.index.entry(0) == (1, len(batch))


def test_a_preallocated_log_is_trimmed_when_finished(files: OpenFiles, directory: str, disk: SimDisk) -> None:
    segment = Segment.create(files, directory, 0, replace(SETTINGS, preallocate=True))
    append(segment, 0, T0)
    assert disk.size(segment.path(LOG)) == SETTINGS.segment_bytes
    segment.finish()
    assert disk.size(segment.path(LOG)) == segment.size


def test_a_segment_replaces_what_a_failed_roll_left(
    segment: Segment, files: OpenFiles, directory: str
) -> None:
    again = Segment.create(files, directory, BASE, SETTINGS)
    assert (again.size, again.index.count, again.time_index.count) == (0, 0, 0)
    assert list(again.batches()) == []


def test_an_append_that_fails_changes_nothing(segment: Segment, disk: SimDisk) -> None:
    size, entries = segment.size, segment.index.count
    disk.capacity = disk.used + 10
    with pytest.raises(StorageError):
        append(segment, 200, T0 + 99_999)
    assert (segment.size, segment.index.count, segment.max_timestamp) == (size, entries, T0 + 49_001)
    disk.capacity = disk.used + 10_000
    append(segment, 200, T0)
    assert segment.locate(200) == size


def test_a_cut_takes_the_batch_that_holds_the_offset_and_all_behind(
    segment: Segment, files: OpenFiles
) -> None:
    expected = [each for each in segment.batches() if each[1].last_offset < 151]
    assert segment.cut_from(151, SETTINGS) == 150
    assert list(segment.batches()) == expected
    assert segment.max_timestamp == T0 + 24_001
    assert all(segment.index.entry(number)[1] < segment.size for number in range(segment.index.count))
    append(segment, 150, T0 + 1)
    assert reopened(segment, files).activate(SETTINGS) == 151


def test_a_cut_to_nothing_forgets_when_the_segment_began(segment: Segment) -> None:
    assert segment.first_timestamp == T0 + 1
    assert segment.cut_from(BASE, SETTINGS) == BASE
    assert segment.size == 0
    append(segment, BASE, T0 + 500)
    assert segment.first_timestamp == T0 + 500


def test_a_cut_behind_the_end_is_none(segment: Segment) -> None:
    size = segment.size
    assert segment.cut_from(200, SETTINGS) == 200
    assert segment.size == size


@pytest.mark.parametrize(
    ("size", "last_offset", "full"),
    [(1 << 19, 0x7FFFFFFF + BASE, False), (1 << 20, 200, True), (100, 0x7FFFFFFF + BASE + 1, True)],
)
def test_a_segment_is_full_by_size_or_distance(
    segment: Segment, size: int, last_offset: int, full: bool
) -> None:
    assert segment.is_full_for(size, last_offset, SETTINGS) == full


@pytest.mark.parametrize("entries", [1, 3])
def test_a_segment_is_full_when_an_index_is(files: OpenFiles, directory: str, entries: int) -> None:
    settings = replace(SETTINGS, index_interval_bytes=0, segment_index_bytes=8 * entries + 4)
    segment = Segment.create(files, directory, 0, settings)
    offset = 0
    while not segment.is_full_for(100, offset, settings):
        append(segment, offset, -1)
        offset += 1
    assert segment.index.count == entries


def test_renamed_files_are_read_on_and_found_under_their_new_name(segment: Segment, disk: SimDisk) -> None:
    part = segment.slice(0, segment.size, 1000, min_one_message=True)
    segment.finish()
    segment.rename(".deleted")
    assert part is not None
    assert len(part.read()) == 1000
    names = [name for name in disk.list(segment.directory) if name.endswith(".deleted")]
    assert names == [f"{BASE:020d}{kind}.deleted" for kind in sorted((INDEX, LOG, TIME_INDEX))]


def test_removed_files_are_gone(segment: Segment, disk: SimDisk) -> None:
    segment.remove()
    assert disk.list(segment.directory) == []
    assert {LOG, INDEX, TIME_INDEX, TXN_INDEX} == set(KINDS)
