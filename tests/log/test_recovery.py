"""What is left of a log after a crash. `tests/simulation/test_log.py` asks the same of thousands of seeds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.log.checkpoint import LEADER_EPOCHS
from odradek.log.disk import Disk
from odradek.log.log import PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.recovery import Known, Recovered, is_orderly, recover
from odradek.log.segment import INDEX, LOG, TIME_INDEX, TXN_INDEX
from odradek.log.settings import LogSettings
from odradek.testing.batches import T0, batch_of, stored
from odradek.testing.sim_disk import SimDisk
from odradek.wire.batch import read_header, stamp
from odradek.wire.records import Producer

SIZE = len(batch_of(T0))
SETTINGS = LogSettings(index_interval_bytes=3 * SIZE, segment_index_bytes=4096, segment_bytes=10 * SIZE)
COMPACTED = replace(SETTINGS, cleanup_policy=frozenset({"compact"}))


@pytest.fixture
def log(disk: SimDisk, directory: str) -> PartitionLog:
    """Offsets 0 to 34 in four segments, in epochs 0 (up to 17) and 2; written by a producer from 20 on."""
    log = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    for offset in range(35):
        producer = Producer(7, 0, offset - 20) if offset >= 20 else Producer()
        log.append(batch_of(T0 + offset, producer=producer), 0 if offset < 18 else 2, T0)
    return log


def damage(disk: Disk, path: str, position: int) -> None:
    data = bytearray(disk.read_file(path))
    data[position] ^= 0x10
    disk.replace_file(path, bytes(data))


def cut(disk: Disk, path: str, size: int) -> None:
    disk.open(path).truncate(size)


def contents(disk: Disk, directory: str) -> dict[str, bytes]:
    return {name: disk.read_file(f"{directory}/{name}") for name in disk.list(directory)}


def path(log: PartitionLog, segment: int, kind: str = LOG) -> str:
    return log.segments[segment].path(kind)


def test_a_log_that_was_killed_is_as_if_it_had_been_closed(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    found = recover(disk, directory, SETTINGS)
    assert found == Recovered(35, 35 * SIZE, 0, ())
    recovered = contents(disk, directory)
    log = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    log.close(T0)
    assert contents(disk, directory) == recovered
    assert log.epochs.entries == [(0, 0), (2, 18)]
    assert [(each.producer_id, each.last_sequence) for each in log.producers.describe()] == [(7, 14)]


def test_the_indexes_are_made_anew_as_they_were(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    log.close(T0)
    before = contents(disk, directory)
    for number in range(4):
        for kind in (INDEX, TIME_INDEX):
            disk.replace_file(path(log, number, kind), b"rubbish!" * 100)
    recover(disk, directory, SETTINGS)
    assert contents(disk, directory) == before


@pytest.mark.parametrize("position", range(SIZE))
def test_a_flipped_bit_cuts_the_log_before_its_batch(
    log: PartitionLog, disk: SimDisk, directory: str, position: int
) -> None:
    log.flush(T0)
    damage(disk, path(log, 3), SIZE + position)
    found = recover(disk, directory, SETTINGS, Known(30))
    assert found.log_end == 31
    assert found.bytes_cut == 4 * SIZE
    assert len(found.lines) == 1
    assert f"cut at byte {SIZE} of {5 * SIZE}, offset 31" in found.lines[0]
    assert disk.size(path(log, 3)) == SIZE


@pytest.mark.parametrize("size", range(3 * SIZE + 8, 4 * SIZE, 7))
def test_a_torn_batch_is_cut_off(log: PartitionLog, disk: SimDisk, directory: str, size: int) -> None:
    cut(disk, path(log, 3), size)
    found = recover(disk, directory, SETTINGS)
    assert (found.log_end, found.bytes_cut) == (33, size - 3 * SIZE)
    assert len(found.lines) == 1


def test_behind_damage_nothing_is_believed(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    damage(disk, path(log, 1), 5 * SIZE + 70)
    found = recover(disk, directory, SETTINGS)
    assert (found.log_end, found.bytes_cut) == (15, 20 * SIZE)
    assert "2 segments from there on removed" in found.lines[0]
    again = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    assert [segment.base_offset for segment in again.segments] == [0, 10]
    assert len(again.producers) == 0
    assert again.epochs.entries == [(0, 0)]


def test_a_segment_whose_end_is_missing_is_the_last(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    """Cut where a batch ends it looks sound by itself."""
    cut(disk, path(log, 1), 5 * SIZE)
    found = recover(disk, directory, SETTINGS)
    assert found.log_end == 15
    assert "offset 15 should come first; 2 segments from there on removed" in found.lines[0]


def test_a_compacted_log_may_have_gaps(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    cut(disk, path(log, 1), 5 * SIZE)
    assert recover(disk, directory, COMPACTED) == Recovered(35, 30 * SIZE, 0, ())


def test_a_log_that_was_compacted_once_keeps_its_gaps(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    """Its topic only deletes now."""
    cut(disk, path(log, 1), 5 * SIZE)
    assert recover(disk, directory, SETTINGS, Known(cleaned_until=20)) == Recovered(35, 30 * SIZE, 0, ())
    assert recover(disk, directory, SETTINGS, Known(cleaned_until=19)).log_end == 15


@pytest.mark.parametrize(
    ("shape", "cut"), [("..x...", False), (".....x", True), ("x.....", False), ("...xx.", False)]
)
def test_a_gap_is_believed_when_the_next_batch_follows_on(
    disk: SimDisk, directory: str, shape: str, cut: bool
) -> None:
    """As in a follower's copy of a log that was once compacted."""
    log = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    for step in shape:
        log.append_as_follower(stored(batch_of(T0), log.log_end + (5 if step == "x" else 0)), T0)
    end = log.log_end
    assert recover(disk, directory, SETTINGS).log_end == (end - 6 if cut else end)


def test_a_segment_of_which_nothing_is_left_goes_if_there_is_a_gap_before_it(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    """Else the log would end where no batch does."""
    cut(disk, path(log, 1), 5 * SIZE)
    damage(disk, path(log, 2), 30)
    found = recover(disk, directory, COMPACTED)
    assert found.log_end == 15
    reopened = PartitionLog.open(OpenFiles(disk), directory, COMPACTED, now_ms=T0)
    assert reopened.log_end == 15
    assert max(int(name[:20]) for name in disk.list(directory) if name.endswith(".snapshot")) == 15


def test_a_base_offset_before_its_segment_ends_the_log(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    """Even one that the batches before it leave room for."""
    cut(disk, path(log, 1), 5 * SIZE)
    first = bytearray(disk.read_file(path(log, 2)))
    stamp(first, 17, 0)
    disk.replace_file(path(log, 2), bytes(first))
    assert recover(disk, directory, COMPACTED).log_end == 15


def test_an_empty_segment_that_was_synced_says_where_the_log_ends(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    """All that is left of a compacted log that was cut."""
    cut(disk, path(log, 1), 5 * SIZE)
    log.truncate_to(20)
    assert recover(disk, directory, COMPACTED, Known(recovery_point=20)).log_end == 20
    assert recover(disk, directory, COMPACTED, Known(recovery_point=12)).log_end == 15


def test_two_base_offsets_that_jump_ahead_are_no_gaps(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    content = bytearray(disk.read_file(path(log, 3)))
    stamp(memoryview(content)[SIZE:], 100, 0)
    stamp(memoryview(content)[2 * SIZE :], 200, 0)
    disk.replace_file(path(log, 3), bytes(content))
    assert recover(disk, directory, SETTINGS).log_end == 31


def test_a_batch_that_reaches_into_the_next_segment_ends_the_log(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    content = bytearray(disk.read_file(path(log, 1)))
    stamp(memoryview(content)[9 * SIZE :], 25, 0)
    disk.replace_file(path(log, 1), bytes(content))
    assert recover(disk, directory, COMPACTED).log_end == 19


def test_a_base_offset_that_jumps_ahead_ends_the_log(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    """No checksum covers it, and the batch behind it contradicts it."""
    damage(disk, path(log, 3), SIZE + 6)
    found = recover(disk, directory, SETTINGS)
    assert found.log_end == 31
    assert "base offset 4127 leaves a gap" in found.lines[0]


def test_segments_of_a_log_that_was_once_compacted_may_end_early(disk: SimDisk, directory: str) -> None:
    log = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    for offset in [*range(12), 20, 21, 22]:
        log.append_as_follower(stored(batch_of(T0), offset), T0)
    cut(disk, path(log, 0), 5 * SIZE)
    assert recover(disk, directory, SETTINGS).log_end == 23


def test_zeros_at_the_end_are_no_loss(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    disk.open(path(log, 3)).reserve(50 * SIZE)
    assert recover(disk, directory, SETTINGS) == Recovered(35, 35 * SIZE, 0, ())
    assert disk.size(path(log, 3)) == 5 * SIZE


# -- what was synced is trusted ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recovery_point", "read"), [(0, 35), (9, 35), (10, 35), (11, 25), (29, 15), (34, 5), (35, 5)]
)
def test_segments_below_the_recovery_point_are_not_read(
    log: PartitionLog, disk: SimDisk, directory: str, recovery_point: int, read: int
) -> None:
    """One that ends right at it may have been finished after the flush, its indexes not synced."""
    log.flush(T0)
    assert recover(disk, directory, SETTINGS, Known(recovery_point)).bytes_read == read * SIZE


@pytest.mark.parametrize(
    ("kind", "content", "why"),
    [
        (INDEX, None, ".index is missing"),
        (TIME_INDEX, None, ".timeindex is missing"),
        (INDEX, b"123", "has half an entry"),
        (INDEX, b"\0\0\0\3\0\0\1\0" + bytes(1000), "does not ascend"),
        (TIME_INDEX, bytes(1200), "does not ascend"),
        (TXN_INDEX, b"\0\0" + bytes(66), "does not ascend"),
        (INDEX, b"\0\0\0\3\0\0\0\1", "byte 1 of"),
        (LOG, b"", "byte 608 of 0"),
    ],
)
def test_what_looks_strange_is_read_anyway(
    log: PartitionLog, disk: SimDisk, directory: str, kind: str, content: bytes | None, why: str
) -> None:
    log.flush(T0)
    log.close(T0)
    before = contents(disk, directory)
    if content is None:
        disk.remove(path(log, 1, kind))
    else:
        disk.replace_file(path(log, 1, kind), content)
    found = recover(disk, directory, SETTINGS, Known(35))
    if kind != LOG:
        assert {name: data for name, data in contents(disk, directory).items() if data} == before
        assert (found.log_end, found.bytes_cut) == (35, 0)
    assert why in found.lines[0]


def test_what_was_cut_but_not_durably_is_cut_again(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    """The segment that follows begins where the log ended after it was cut."""
    log.flush(T0)
    stale = disk.read_file(path(log, 1))
    log.truncate_to(15)
    log.roll(T0)
    log.append(batch_of(T0), 3, T0)
    log.flush(T0)
    disk.replace_file(path(log, 1), stale)
    found = recover(disk, directory, SETTINGS, Known(15))
    assert (found.log_end, found.bytes_cut, found.lines) == (16, 0, ())


# -- epochs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [None, b"0\n1\nrubbish", b"\xff\xff"])
def test_lost_epochs_are_made_anew_from_the_batches(
    log: PartitionLog, disk: SimDisk, directory: str, content: bytes | None
) -> None:
    disk.remove(f"{directory}/{LEADER_EPOCHS}")
    if content is not None:
        disk.replace_file(f"{directory}/{LEADER_EPOCHS}", content)
    assert recover(disk, directory, SETTINGS).log_end == 35
    again = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    assert again.epochs.entries == [(0, 0), (2, 18)]


def test_an_epoch_without_batches_is_forgotten(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    log.begin_epoch(5)
    recover(disk, directory, SETTINGS)
    again = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    assert (again.latest_epoch, again.log_end) == (2, 35)


# -- producers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [[], [30], [10, 20, 30]])
def test_producers_are_known_whatever_snapshots_are_left(
    log: PartitionLog, disk: SimDisk, directory: str, lost: list[int]
) -> None:
    log.flush(T0)
    for offset in lost:
        disk.replace_file(f"{directory}/{offset:020d}.snapshot", b"rubbish")
    recover(disk, directory, SETTINGS, Known(35))
    again = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    assert [(each.producer_id, each.last_sequence) for each in again.producers.describe()] == [(7, 14)]


def test_aborted_transactions_are_indexed_anew(disk: SimDisk, directory: str) -> None:
    log = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    for pid in (1, 2, 3):
        log.append(batch_of(T0, producer=Producer(pid, 0, 0), transactional=True), 0, T0)
    for pid, aborted in ((2, True), (1, False), (3, True)):
        log.append_marker(pid, 0, aborted=aborted, coordinator_epoch=0, leader_epoch=0, now_ms=T0)
    expected = list(log.segments[0].txn_index.ending_from(0))
    assert not disk.exists(path(log, 0, TXN_INDEX))
    recover(disk, directory, SETTINGS)
    again = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0)
    assert list(again.segments[0].txn_index.ending_from(0)) == expected
    assert [each.producer_id for each in expected] == [2, 3]


# -- what was in between -----------------------------------------------------------------------------------


def test_leftovers_are_removed(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    log.close(T0)
    before = contents(disk, directory)
    base = f"{directory}/{99:020d}"
    for name in (
        f"{base}.log.deleted",
        f"{base}.index.cleaned",
        f"{base}.index",
        f"{base}.timeindex",
        f"{base}.tmp",
    ):
        disk.replace_file(name, b"left over")
    assert not is_orderly(disk.list(directory))
    recover(disk, directory, SETTINGS)
    assert contents(disk, directory) == before
    assert is_orderly(disk.list(directory))


def swap_files(log: PartitionLog, disk: SimDisk, suffixes: dict[str, str]) -> None:
    """The segment at 10, compacted to its last five batches together with the one at 20."""
    kept = b"".join(
        bytes(batch) for _, header, batch in log.segments[2].contents() if header.base_offset >= 25
    )
    for kind, suffix in suffixes.items():
        disk.replace_file(path(log, 1, kind) + suffix, kept if kind == LOG else b"")


SWAP = {LOG: ".swap", INDEX: ".swap", TIME_INDEX: ".swap"}


@pytest.mark.parametrize(
    ("suffixes", "completed"),
    [
        (SWAP, True),
        (SWAP | {INDEX: ".cleaned"}, False),
        (SWAP | {LOG: ".cleaned"}, False),
        (dict.fromkeys(SWAP, ".cleaned"), False),
    ],
)
def test_a_replacement_is_completed_once_it_was_decided_on(
    log: PartitionLog, disk: SimDisk, directory: str, suffixes: dict[str, str], completed: bool
) -> None:
    log.close(T0)
    swap_files(log, disk, suffixes)
    found = recover(disk, directory, COMPACTED)
    again = PartitionLog.open(OpenFiles(disk), directory, COMPACTED, now_ms=T0)
    offsets = [header.base_offset for segment in again.segments for _, header in segment.batches()]
    assert offsets == [*range(10), *range(25, 35)] if completed else list(range(35))
    assert [segment.base_offset for segment in again.segments] == (
        [0, 10, 30] if completed else [0, 10, 20, 30]
    )
    assert bool(found.lines) == completed


def test_files_whose_log_was_already_renamed_follow_it(
    log: PartitionLog, disk: SimDisk, directory: str
) -> None:
    log.close(T0)
    before = contents(disk, directory)
    for kind in (INDEX, TIME_INDEX):
        disk.rename(path(log, 1, kind), path(log, 1, kind) + ".swap")
    recover(disk, directory, COMPACTED, Known(35))
    assert contents(disk, directory) == before


def test_a_directory_without_segments_is_an_empty_log(disk: SimDisk, directory: str) -> None:
    assert recover(disk, directory, SETTINGS, Known(log_start=12)) == Recovered(12, 0, 0, ())
    log = PartitionLog.open(OpenFiles(disk), directory, SETTINGS, now_ms=T0, known=Known(log_start=12))
    assert (log.log_start, log.log_end) == (12, 12)


def test_recovering_twice_changes_nothing(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    damage(disk, path(log, 3), SIZE + 70)
    recover(disk, directory, SETTINGS)
    before = contents(disk, directory)
    assert recover(disk, directory, SETTINGS).lines == ()
    assert contents(disk, directory) == before


def test_what_was_recovered_is_durable(log: PartitionLog, disk: SimDisk, directory: str) -> None:
    recover(disk, directory, SETTINGS)
    before = contents(disk, directory)
    disk.crash()
    assert contents(disk, directory) == before
    assert read_header(before[f"{30:020d}.log"]).base_offset == 30
