"""How long does a broker take to open its logs, what do they cost in memory, and how fast are they recovered?

After a clean stop: 2,000 partitions of three segments. After a crash: a few large logs, read from end to end
by one worker process and by two.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from _report import Cell, report
from odradek.log.checkpoint import RECOVERY_POINTS
from odradek.log.directories import LogDirectories
from odradek.log.disk import OsDisk
from odradek.log.log import PartitionLog
from odradek.log.recoveries import Outcome, Recovery, recover_logs, shares
from odradek.log.settings import LogSettings
from odradek.model.ids import Partition
from odradek.runtime.workers import Processes
from odradek.wire.records import BatchBuilder, Producer

ROUNDS = 3
PARTITIONS = 2000
SEGMENTS = 3
BATCHES = 20  # a segment
LARGE_LOGS = 4
LARGE_LOG_BATCHES = 16 * 1024  # 256 MiB
BATCH_SIZE = 16 * 1024
MIB = 1024 * 1024
NOW_MS = 1_700_000_000_000
SETTINGS = LogSettings()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as folder:
        report("opening after a clean stop", *clean(f"{folder}/clean"))
        report("recovering after a crash", *unclean(f"{folder}/unclean"))


def clean(root: str) -> tuple[list[str], list[list[Cell]]]:
    apart(make_many_logs, root)
    before, began = resident_size(), time.perf_counter()
    directories = opened(root)
    opening, size = time.perf_counter() - began, resident_size() - before
    files = len(os.listdir("/proc/self/fd"))
    began = time.perf_counter()
    directories.close(NOW_MS)
    closing = time.perf_counter() - began
    columns = ["partitions", "segments each", "open s", "KiB a partition", "open files", "close s"]
    return columns, [[PARTITIONS, SEGMENTS, opening, size / PARTITIONS / 1024, files, closing]]


def unclean(root: str) -> tuple[list[str], list[list[Cell]]]:
    apart(make_large_logs, root)
    rounds = [(workers, recovered(root, workers)) for _ in range(ROUNDS) for workers in (1, 2)]
    size = LARGE_LOGS * LARGE_LOG_BATCHES * BATCH_SIZE / MIB
    fastest = {count: min(seconds for workers, seconds in rounds if workers == count) for count in (1, 2)}
    return ["workers", "MiB", "s", "MiB/s"], [[count, size, s, size / s] for count, s in fastest.items()]


def recovered(root: str, workers: int) -> float:
    directories = claimed(root)
    recoveries = directories.recoveries(lambda _: SETTINGS)
    began = time.perf_counter()
    outcomes = asyncio.run(recover_in_processes(recoveries, workers))
    seconds = time.perf_counter() - began
    directories.release()
    read = [outcome.recovered.bytes_read for outcome in outcomes if outcome.recovered]
    assert sum(read) >= LARGE_LOGS * LARGE_LOG_BATCHES * BATCH_SIZE
    return seconds


def make_many_logs(root: str) -> None:
    directories = opened(root)
    log = directories.create(Partition("topic", 0), SETTINGS, NOW_MS)
    for _ in range(SEGMENTS):
        log.roll(NOW_MS)
        fill(log, BATCHES)
    directories.close(NOW_MS)
    for number in range(1, PARTITIONS):
        shutil.copytree(f"{root}/topic-0", f"{root}/topic-{number}")
    lines = [f"topic {number} {log.recovery_point}" for number in range(PARTITIONS)]
    Path(root, RECOVERY_POINTS).write_text("\n".join(["0", str(PARTITIONS), *lines, ""]))


def make_large_logs(root: str) -> None:
    """And no clean stop."""
    directories = opened(root)
    for number in range(LARGE_LOGS):
        fill(directories.create(Partition("topic", number), SETTINGS, NOW_MS), LARGE_LOG_BATCHES)


def apart(make: Callable[[str], None], root: str) -> None:
    """In a process of its own: what it leaves in memory is none of ours."""
    child = multiprocessing.get_context("fork").Process(target=make, args=(root,))
    child.start()
    child.join()
    assert child.exitcode == 0


async def recover_in_processes(recoveries: list[Recovery], count: int) -> list[Outcome]:
    processes = Processes(count, waiting_max=0, name="recovery")
    found = [processes.start(recover_logs, OsDisk(), share) for share in shares(recoveries, count)]
    outcomes = [outcome for each in await asyncio.gather(*found) for outcome in each]
    await processes.stop()
    return outcomes


def claimed(root: str) -> LogDirectories:
    directories = LogDirectories(OsDisk(), [root], random_bytes=os.urandom, on_failure=lambda *_: None)
    directories.claim()
    return directories


def opened(root: str) -> LogDirectories:
    directories = claimed(root)
    assert not directories.recoveries(lambda _: SETTINGS)
    directories.open_logs(lambda _: SETTINGS, [], NOW_MS)
    return directories


def fill(log: PartitionLog, count: int) -> None:
    """Batches of 100-byte records from an idempotent producer."""
    sequence = max((each.last_sequence + 1 for each in log.producers.describe()), default=0)
    for _ in range(count):
        builder = BatchBuilder(producer=Producer(1, 0, sequence))
        while builder.size < BATCH_SIZE:
            builder.append(NOW_MS, None, bytes(100))
        sequence += builder.count
        log.append(builder.build(), 0, NOW_MS)


def resident_size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
