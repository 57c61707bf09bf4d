from __future__ import annotations

import pytest

from odradek.log.flush import Durability
from odradek.testing.sim_disk import SimDisk, SimFile


@pytest.fixture
def durability(disk: SimDisk, directory: str) -> Durability:
    return Durability(disk, directory, now_ms=0)


@pytest.fixture
def active(disk: SimDisk, directory: str) -> SimFile:
    return disk.open(f"{directory}/active", create=True)


def test_a_flush_covers_what_was_there_when_it_began(durability: Durability, active: SimFile) -> None:
    flush = durability.begin(10, active)
    flush.run()
    durability.done(flush, now_ms=1)
    assert durability.recovery_point == 10


def test_after_a_crash_everything_a_flush_covered_is_there(
    durability: Durability, disk: SimDisk, active: SimFile, directory: str
) -> None:
    finished = disk.open(f"{directory}/finished", create=True)
    for file in (finished, active):
        file.append(b"content")
    durability.owe([finished])
    flush = durability.begin(10, active)
    flush.run()
    disk.crash()
    assert disk.read_file(f"{directory}/finished") == disk.read_file(f"{directory}/active") == b"content"


def test_a_flush_that_never_ran_leaves_its_files_to_the_next(durability: Durability, active: SimFile) -> None:
    durability.owe([active])
    abandoned = durability.begin(10, active)
    assert set(durability.begin(10, active).files) == set(abandoned.files)
    assert durability.begin(10, active).directory == abandoned.directory


def test_a_second_flush_has_less_to_do(durability: Durability, disk: SimDisk, active: SimFile) -> None:
    durability.owe([disk.open("/data/other", create=True)])
    first = durability.begin(10, active)
    durability.done(first, now_ms=1)
    second = durability.begin(20, active)
    assert second.files == (active,)
    assert second.directory is None
    durability.done(second, now_ms=2)
    assert durability.begin(20, active).files == ()


def test_what_is_finished_while_a_flush_runs_is_left_to_the_next(
    durability: Durability, disk: SimDisk, active: SimFile
) -> None:
    flush = durability.begin(10, active)
    other = disk.open("/data/other", create=True)
    durability.owe([other])
    durability.done(flush, now_ms=1)
    following = durability.begin(20, active)
    assert following.directory is not None
    assert other in following.files


def test_a_flush_from_before_a_cut_proves_nothing(durability: Durability, active: SimFile) -> None:
    flush = durability.begin(10, active)
    durability.cut(4)
    durability.done(flush, now_ms=1)
    assert durability.recovery_point == 0


def test_a_cut_takes_the_recovery_point_along(durability: Durability, active: SimFile) -> None:
    durability.done(durability.begin(10, active), now_ms=1)
    durability.cut(20)
    assert durability.recovery_point == 10
    durability.cut(4)
    assert durability.recovery_point == 4


def test_a_flush_is_due_when_the_time_since_the_last_has_passed(
    durability: Durability, active: SimFile
) -> None:
    durability.done(durability.begin(10, active), now_ms=1000)
    assert not durability.is_due(1999, 1000)
    assert durability.is_due(2000, 1000)
