"""How segments come and go as files, and that a crash in between leaves the one or the other."""

from __future__ import annotations

import contextlib
from random import Random

from odradek.log.log import PartitionLog, ReadUpTo
from odradek.log.open_files import OpenFiles
from odradek.log.recovery import Known
from odradek.log.segment import Segment
from odradek.log.segments import CLEANED, DELETED, SWAP
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.testing.batches import T0, batch_of
from odradek.testing.sim_disk import SimDisk
from odradek.wire.batch import split

SETTINGS = LogSettings(
    segment_index_bytes=4096, index_interval_bytes=100, cleanup_policy=frozenset({"compact"})
)
DIRECTORY = "/data/orders-0"


def new_log(disk: SimDisk) -> PartitionLog:
    """Forty offsets in four segments, synced."""
    disk.make_directory(DIRECTORY)
    log = PartitionLog.open(OpenFiles(disk), DIRECTORY, SETTINGS, now_ms=T0)
    for _ in range(40):
        log.append(batch_of(T0 + log.log_end), 0, T0)
        if log.log_end % 10 == 0 and log.log_end < 40:
            log.roll(T0)
    log.flush(T0)
    return log


def clean(log: PartitionLog, files: OpenFiles) -> None:
    """A segment at 10 with every other batch of those at 10 and 20, as compaction leaves it."""
    new = Segment.create(files, DIRECTORY, 10, SETTINGS, CLEANED)
    for segment in log.segments[1:3]:
        for _, header, batch in segment.contents():
            if header.base_offset % 2:
                new.append(batch, header.last_offset, header.max_timestamp)
    for file in new.finish():
        file.sync()


def offsets(log: PartitionLog) -> list[int]:
    return [header.base_offset for segment in log.segments for _, header in segment.batches()]


BEFORE = list(range(40))
AFTER = [offset for offset in BEFORE if not 10 <= offset < 30 or offset % 2]


def test_cleaned_segments_take_the_place_of_the_old(disk: SimDisk) -> None:
    log = new_log(disk)
    clean(log, OpenFiles(disk))
    log.replace_segments(log.segments[1:3], 10, T0)
    assert offsets(log) == AFTER
    assert [segment.base_offset for segment in log.segments] == [0, 10, 30]
    found = log.read(10, 1 << 20, ReadUpTo.LOG_END).slice
    assert found is not None
    assert split(found.read())[0][1].base_offset == 11
    assert log.find_timestamp(T0 + 12) == (T0 + 13, 13, 0)
    names = disk.list(DIRECTORY)
    assert not [name for name in names if name.endswith((CLEANED, ".swap"))]
    assert len([name for name in names if name.endswith(".deleted")]) == 6
    assert f"{20:020d}.snapshot" not in names
    assert f"{10:020d}.snapshot" in names


def interrupted(seed: int) -> PartitionLog:
    """What a crash leaves of a replacement, wherever the seed has it happen."""
    disk = SimDisk(Random(seed))
    log = new_log(disk)
    clean(log, OpenFiles(disk))
    disk.sync_directory(DIRECTORY)
    disk.error_rate = 0.1
    with contextlib.suppress(StorageError):
        log.replace_segments(log.segments[1:3], 10, T0)
    disk.error_rate = 0.0
    disk.crash()
    again = PartitionLog.open(OpenFiles(disk), DIRECTORY, SETTINGS, now_ms=T0, clean=False, known=Known(40))
    assert not [name for name in disk.list(DIRECTORY) if name.endswith((CLEANED, SWAP, DELETED))]
    return again


def test_a_replacement_that_a_crash_interrupts_is_whole_or_never_was() -> None:
    met = [offsets(interrupted(seed)) for seed in range(40)]
    assert all(each in (BEFORE, AFTER) for each in met)
    assert BEFORE in met
    assert AFTER in met


# -- where an offset lies ----------------------------------------------------------------------------------


def test_a_position_is_remembered_while_it_is_true(disk: SimDisk) -> None:
    log = new_log(disk)
    log.advance_high_watermark(40)
    seen = [log.read(39, 1000, ReadUpTo.HIGH_WATERMARK).slice is not None]
    log.roll(T0)
    log.append(batch_of(T0), 0, T0)
    log.advance_high_watermark(41)
    for offset in (40, 39, 40):
        found = log.read(offset, 1000, ReadUpTo.HIGH_WATERMARK).slice
        assert found is not None
        assert split(found.read())[0][1].base_offset == offset
    log.truncate_to(35)
    log.append(batch_of(T0, T0, T0), 1, T0)
    found = log.read(37, 1000, ReadUpTo.LOG_END).slice
    assert found is not None
    assert split(found.read())[0][1].base_offset == 35
    assert seen == [True]


def test_an_offset_in_a_gap_is_read_from_behind_it(disk: SimDisk) -> None:
    log = new_log(disk)
    clean(log, OpenFiles(disk))
    log.replace_segments(log.segments[1:3], 10, T0)
    for offset, expected in ((10, 11), (12, 13), (29, 29), (30, 30)):
        found = log.read(offset, 1000, ReadUpTo.LOG_END).slice
        assert found is not None
        assert split(found.read())[0][1].base_offset == expected
