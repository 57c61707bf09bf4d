from __future__ import annotations

from random import Random

from odradek.log.log import PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.recoveries import Recovery, recover_logs, shares
from odradek.log.recovery import NOTHING_KNOWN
from odradek.log.settings import LogSettings
from odradek.testing.sim_disk import SimDisk

SETTINGS = LogSettings()


def recovery(number: int, size: int) -> Recovery:
    return Recovery(f"/data/topic-{number}", SETTINGS, NOTHING_KNOWN, size)


def test_shares_cost_about_the_same_and_leave_nothing_out() -> None:
    random = Random(1)
    everything = [recovery(number, random.choice((0, 10, 10_000_000))) for number in range(100)]
    parts = shares(everything, 3)
    assert sorted(each for part in parts for each in part) == sorted(everything)
    loads = [sum(each.size for each in part) for part in parts]
    assert max(loads) - min(loads) <= 10_000_000


def test_there_are_no_empty_shares() -> None:
    assert shares([], 4) == []
    assert shares([recovery(0, 5)], 4) == [[recovery(0, 5)]]


def test_one_log_that_cannot_be_recovered_stops_no_other() -> None:
    disk = SimDisk(Random(0))
    for number in range(2):
        disk.make_directory(f"/data/topic-{number}")
        PartitionLog.open(OpenFiles(disk), f"/data/topic-{number}", SETTINGS, now_ms=0)
    disk.broken.add("/data/topic-0")
    broken, sound = recover_logs(disk, [recovery(0, 0), recovery(1, 0)])
    assert broken.recovered is None
    assert "Input/output error" in broken.failure
    assert sound.recovered is not None
    assert (sound.directory, sound.recovered.log_end) == ("/data/topic-1", 0)
