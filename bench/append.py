"""How fast does one log take batches in, against a bare loop that computes CRC-32C and calls os.write on the
same bytes, and how fast does recovery read them back?"""

from __future__ import annotations

import os
import shutil
import tempfile

from _report import Cell, best_of, report
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


def append_all(directory: str, batch: memoryview, count: int) -> None:
    """The same batch again and again; what was stamped into it the last time is taken out."""
    log = PartitionLog.open(OpenFiles(OsDisk()), directory, LogSettings(), now_ms=NOW_MS)
    no_offset = bytes(8)
    for _ in range(count):
        batch[:8] = no_offset
        log.append(batch, 0, NOW_MS)
    assert log.size == count * len(batch)


def measure(size: int, home: str) -> list[Cell]:
    batch = batch_of(size)
    count = min(BATCHES_MAX, BYTES_MAX // len(batch))
    bare_path, directory = f"{home}/bare", f"{home}/log-0"
    bare = appended = recovered = float("inf")
    for _ in range(ROUNDS):  # in turns, so that both meet the same moods of the machine
        bare = min(bare, best_of(1, lambda: write_bare(bare_path, batch, count)))
        os.remove(bare_path)
        os.mkdir(directory)
        appended = min(appended, best_of(1, lambda: append_all(directory, batch, count)))
        recovered = min(recovered, best_of(1, lambda: recover(OsDisk(), directory, LogSettings())))
        shutil.rmtree(directory)
    mib, records = count * len(batch) / MIB, count * read_header(batch).record_count
    return [
        len(batch),
        mib / bare,
        mib / appended,
        f"{bare / appended:.0%}",
        appended / count * 1e6,
        records / appended / 1e6,
        mib / recovered,
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        rows = [measure(size, home) for size in BATCH_SIZES]
    columns = (
        "batch",
        "bare MiB/s",
        "log MiB/s",
        "log / bare",
        "us a batch",
        "M offsets/s",
        "recovery MiB/s",
    )
    report("append to one log", columns, rows)


if __name__ == "__main__":
    main()
