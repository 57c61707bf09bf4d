from __future__ import annotations

import pytest

from odradek.log.log import PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.producers import ProducerStates
from odradek.log.settings import LogSettings
from odradek.log.snapshots import Snapshots, producers_at
from odradek.testing.batches import T0, batch_of
from odradek.testing.sim_disk import SimDisk
from odradek.wire.records import Producer


@pytest.fixture
def log(files: OpenFiles, directory: str) -> PartitionLog:
    """Sequences 0 to 29 of one producer, in three segments; then it commits."""
    log = PartitionLog.open(files, directory, LogSettings(segment_index_bytes=4096), now_ms=T0)
    for sequence in range(30):
        log.append(batch_of(T0, producer=Producer(7, 0, sequence), transactional=True), 0, T0)
        if sequence in (9, 19):
            log.roll(T0)
    log.append_marker(7, 0, aborted=False, coordinator_epoch=0, leader_epoch=0, now_ms=T0)
    return log


@pytest.fixture
def snapshots(log: PartitionLog, disk: SimDisk, directory: str) -> Snapshots:
    return Snapshots(disk, directory, disk.list(directory))


def last_sequences(producers: ProducerStates) -> list[int]:
    return [each.last_sequence for each in producers.describe()]


def test_those_of_a_directory_are_known_by_offset(snapshots: Snapshots) -> None:
    assert snapshots.offsets == [10, 20]


@pytest.mark.parametrize(("offset", "found"), [(9, None), (10, 10), (19, 10), (20, 20), (99, 20)])
def test_the_newest_that_is_not_above_counts(snapshots: Snapshots, offset: int, found: int | None) -> None:
    newest = snapshots.newest(offset)
    assert (newest and newest[0]) == found
    if newest:
        assert last_sequences(newest[1]) == [newest[0] - 1]


def test_a_damaged_one_is_passed_over(snapshots: Snapshots, disk: SimDisk) -> None:
    disk.open(snapshots.path(20)).truncate(30)
    newest = snapshots.newest(99)
    assert newest is not None
    assert newest[0] == 10


@pytest.mark.parametrize("gone", [[], [20], [10], [10, 20]])
def test_the_log_tells_what_no_snapshot_does(
    log: PartitionLog, snapshots: Snapshots, gone: list[int]
) -> None:
    snapshots.remove(gone)
    found = producers_at(snapshots, log.segments, log.log_end)
    assert list(found.describe()) == list(log.producers.describe())
    assert found.first_open_offset is None


@pytest.mark.parametrize(("end", "segments", "last"), [(20, 2, 19), (10, 1, 9), (0, 0, None)])
def test_only_what_lies_below_the_end_counts(
    log: PartitionLog, snapshots: Snapshots, end: int, segments: int, last: int | None
) -> None:
    snapshots.remove_above(end - 1)
    found = producers_at(snapshots, log.segments[:segments], end)
    assert last_sequences(found) == ([] if last is None else [last])


def test_a_snapshot_written_again_replaces_the_old_one(snapshots: Snapshots) -> None:
    snapshots.write(20, ProducerStates())
    newest = snapshots.newest(20)
    assert newest is not None
    assert len(newest[1]) == 0
    assert snapshots.offsets == [10, 20]


def test_removed_ones_are_gone(snapshots: Snapshots, disk: SimDisk, directory: str) -> None:
    snapshots.remove_above(10)
    assert snapshots.offsets == [10]
    assert Snapshots(disk, directory, disk.list(directory)).offsets == [10]
