"""How fast does one log take batches in, against a bare loop that computes CRC-32C and calls os.write on the
same bytes, and how fast does recovery read them back?"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from _report import Cell, report
from odradek.log.disk import OsDisk
from odradek.log.log import PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.recovery import recover
from odradek.log.settings import LogSettings
from odradek.wire.batch import CRC_COVERS_FROM, read_header
from odradek.wire.checksum import crc32c
from odradek.wire.records import BatchBuilder

ROUNDS = 11
BATCH_SIZES = (1024, 16 * 1024, 256 * 1024)
BYTES_MAX, BATCHES_MAX = 128 * 1024 * 1024, 20_000  # whichever is less, in one round
NOW_MS = 1_700_000_000_000
MIB = 1024 * 1024


def batch_of(size: int) -> memoryview:
    """Records of 100 bytes."""
    builder = BatchBuilder()
    while builder.size < size:
        builder.append(NOW_MS, None, bytes(100))
    return memoryview(builder.build())


def write_bare(path: str, batch: memoryview, count: int) -> None:
    """What no log can do without."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(count):
        crc32c(batch[CRC_COVERS_FROM:])
        os.write(fd, batch)
    os.close(fd)


def open_log(directory: str, batch: memoryview) -> PartitionLog:
    """With its leader epoch begun, which syncs a file once."""
    os.mkdir(directory)
    log = PartitionLog.open(OpenFiles(OsDisk()), directory, LogSettings(), now_ms=NOW_MS)
    append_all(log, batch, 1)
    return log


def append_all(log: PartitionLog, batch: memoryview, count: int) -> None:
    """The same batch again and again; what was stamped into it the last time is taken out."""
    no_offset = bytes(8)
    for _ in range(count):
        batch[:8] = no_offset
        log.append(batch, 0, NOW_MS)


class Cost(NamedTuple):
    """Seconds of the clock, and of the processor: those are the same when others use the machine too."""

    wall: float
    cpu: float

    @staticmethod
    def of(work: Callable[[], object]) -> Cost:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return Cost(time.perf_counter() - wall, time.process_time() - cpu)

    def least(self, other: Cost) -> Cost:
        return Cost(min(self.wall, other.wall), min(self.cpu, other.cpu))


def measure(size: int, home: str) -> list[Cell]:
    batch = batch_of(size)
    count = min(BATCHES_MAX, BYTES_MAX // len(batch))
    bare_path, directory = f"{home}/bare", f"{home}/log-0"
    bare = appended = recovered = Cost(float("inf"), float("inf"))
    for _ in range(ROUNDS):  # in turns, so that both meet the same moods of the machine
        bare = bare.least(Cost.of(lambda: write_bare(bare_path, batch, count)))
        os.remove(bare_path)
        log = open_log(directory, batch)
        appended = appended.least(Cost.of(partial(append_all, log, batch, count)))
        assert log.size == (count + 1) * len(batch)
        recovered = recovered.least(Cost.of(lambda: recover(OsDisk(), directory, LogSettings())))
        shutil.rmtree(directory)
    mib, records = count * len(batch) / MIB, count * read_header(batch).record_count
    return [
        len(batch),
        mib / bare.wall,
        mib / appended.wall,
        f"{bare.wall / appended.wall:.0%}",
        f"{bare.cpu / appended.cpu:.0%}",
        appended.wall / count * 1e6,
        records / appended.wall / 1e6,
        mib / recovered.wall,
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        rows = [measure(size, home) for size in BATCH_SIZES]
    columns = ("batch", "bare MiB/s", "log MiB/s", "log / bare", "by CPU")
    more = ("us a batch", "M offsets/s", "recovery MiB/s")
    report("append to one log", (*columns, *more), rows)


if __name__ == "__main__":
    main()
