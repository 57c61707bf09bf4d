from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TypeVar, TypeVarTuple

import pytest

from odradek.log.log import PartitionLog
from odradek.model.ids import Partition
from odradek.model.image import ConfigEntity
from odradek.runtime.workers import Busy, ProcessDied, Workers
from odradek.testing.kept_logs import KeptLogs
from odradek.testing.sim_clock import SimClock, run
from odradek.testing.sim_workers import HeldWorkers, SimWorkers
from odradek.wire.records import read_records

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")
Act = Callable[[KeptLogs], Coroutine[object, object, None]]
ORDERS = Partition("orders", 0)
COMPACTED: dict[str, object] = {"cleanup_policy": "compact", "segment_index_bytes": 1024}


def keep(act: Act, workers: Workers | None = None, **settings: object) -> None:
    """Let housekeeping go on while `act` happens, in virtual time."""
    clock = SimClock()

    async def main() -> None:
        texts = {key.replace("_", "."): str(value) for key, value in settings.items()}
        kept = KeptLogs(clock, texts, workers=workers)
        kept.housekeeping.start()
        await asyncio.sleep(1)
        await act(kept)
        await kept.housekeeping.stop()

    run(main(), clock)


def dirty(
    kept: KeptLogs, topic: str = "orders", keys: int = 3, value: bytes = b"value", **settings: object
) -> PartitionLog:
    """A log that holds its keys twice over."""
    merged = {**COMPACTED, **settings}
    log = kept.log(topic, 0, **merged)
    for _ in range(2):
        kept.append(log, *(b"key %d" % number for number in range(keys)), value=value, roll=True)
    return log


def offsets(log: PartitionLog) -> list[int]:
    """Of the records it holds."""
    return [
        record.offset
        for segment in log.segments
        for position, header in segment.batches(0)
        for record in read_records(segment.file.read(position, header.size))
    ]


class FailingWorkers(SimWorkers):
    """So many pieces of compaction fail like this."""

    def __init__(self, failure: Exception, times: int) -> None:
        self.failure = failure
        self.left = times

    def start(self, work: Callable[[*Arguments], Result], *arguments: *Arguments) -> asyncio.Future[Result]:
        if work.__name__ == "clean_apart" and self.left:
            self.left -= 1
            future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
            future.set_exception(self.failure)
            return future
        return super().start(work, *arguments)


class DeadlyWorkers(SimWorkers):
    """A process that looks at this directory dies."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def start(self, work: Callable[[*Arguments], Result], *arguments: *Arguments) -> asyncio.Future[Result]:
        if work.__name__ == "clean_apart" and self.directory in repr(arguments):
            future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
            future.set_exception(ProcessDied("killed"))
            return future
        return super().start(work, *arguments)


def test_a_dirty_log_is_compacted_and_its_files_go_later() -> None:
    async def act(kept: KeptLogs) -> None:
        log = dirty(kept)
        await asyncio.sleep(16)
        assert offsets(log) == [3, 4, 5]
        assert kept.directories.online[0].cleaned_until(ORDERS) == 6
        assert kept.files(log, ".deleted")
        await asyncio.sleep(60)
        assert not kept.files(log, ".deleted")
        assert kept.compaction.last_round is not None
        assert kept.compaction.last_round.kept_ratio < 0.6

    keep(act)


def test_what_is_mostly_clean_waits() -> None:
    async def act(kept: KeptLogs) -> None:
        log = dirty(kept)
        await asyncio.sleep(16)
        kept.append(log, b"key 0", roll=True)
        await asyncio.sleep(60)
        assert offsets(log) == [3, 4, 5, 6], "a quarter is dirty, half is worth a round"
        assert 0.2 < kept.compaction.dirtiest_ratio < 0.3

    keep(act)


def test_the_dirtiest_comes_first() -> None:
    async def act(kept: KeptLogs) -> None:
        cleaned: list[str] = []
        kept.compaction.on_replaced = lambda served: cleaned.append(served.partition.topic)
        half, full = dirty(kept, "half", keys=8), dirty(kept, "full")
        kept.directories.online[0].note_cleaned(Partition("half", 0), 7)
        await asyncio.sleep(16)
        assert cleaned == ["full", "half"]
        assert offsets(full) == [3, 4, 5]
        assert offsets(half) == list(range(8, 16))

    keep(act)


def test_as_many_logs_at_once_as_there_are_cleaners() -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), {"log.cleaner.threads": "2"}, workers=workers)
        kept.housekeeping.start()
        logs = [dirty(kept, f"topic-{number}", value=bytes(1_000_000)) for number in range(3)]
        await asyncio.sleep(1)
        assert workers.started.count("clean_apart") == 2
        kept.configure(ConfigEntity.every_broker(), log_cleaner_threads=3)
        await asyncio.sleep(1)
        assert workers.started.count("clean_apart") == 3
        workers.gate.set()
        await asyncio.sleep(5)
        assert [offsets(log) for log in logs] == [[3, 4, 5]] * 3
        await kept.housekeeping.stop()

    run(main())


def test_no_cleaner_works_where_compaction_is_switched_off() -> None:
    async def act(kept: KeptLogs) -> None:
        log = dirty(kept)
        await asyncio.sleep(60)
        assert offsets(log) == list(range(6))

    keep(act, log_cleaner_enable="false")


@pytest.mark.parametrize("change", ["deleted", "no longer compacted"])
def test_a_round_that_nobody_wants_any_more_is_given_up(change: str) -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), workers=workers)
        kept.housekeeping.start()
        log = dirty(kept)
        await asyncio.sleep(1)
        assert workers.started == ["clean_apart"]
        if change == "deleted":
            kept.directories.delete([ORDERS], kept.clock.wall_ms())
        else:
            kept.configure(ConfigEntity.topic("orders"), cleanup_policy="delete")
            log.configure(kept.configs.log_settings("orders"))
        await asyncio.sleep(2)
        assert workers.cancelled == ["clean_apart"]
        assert kept.compaction.is_free(ORDERS)
        await kept.housekeeping.stop()

    run(main())


def test_what_was_cut_meanwhile_is_compacted_anew() -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), workers=workers)
        kept.housekeeping.start()
        log = dirty(kept)
        await asyncio.sleep(1)
        kept.directories.cut({ORDERS: 5})
        kept.append(log, b"key 9", roll=True)
        workers.gate.set()
        await asyncio.sleep(20)
        assert offsets(log) == [2, 3, 4, 5]
        assert not kept.files(log, ".cleaned")
        await kept.housekeeping.stop()

    run(main())


def test_small_logs_go_together() -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), workers=workers)
        kept.housekeeping.start()
        logs = [dirty(kept, f"topic-{number}") for number in range(3)]
        workers.gate.set()
        await asyncio.sleep(1)
        assert workers.started == ["clean_apart"]
        assert [offsets(log) for log in logs] == [[3, 4, 5]] * 3
        await kept.housekeeping.stop()

    run(main())


@pytest.mark.parametrize("failure", [ProcessDied("killed"), Busy("too much")])
def test_an_interrupted_round_is_tried_again_after_a_rest(failure: Exception) -> None:
    async def act(kept: KeptLogs) -> None:
        log = dirty(kept)
        await asyncio.sleep(16)
        assert offsets(log) == list(range(6))
        await asyncio.sleep(15)
        assert offsets(log) == [3, 4, 5]

    keep(act, FailingWorkers(failure, 1))


def test_a_log_that_kills_its_process_is_left_alone_and_others_are_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def act(kept: KeptLogs) -> None:
        deadly, good = dirty(kept, "deadly", keys=5), dirty(kept, "good")
        await asyncio.sleep(200)
        assert offsets(good) == [3, 4, 5]
        assert offsets(deadly) == list(range(10))
        assert list(kept.compaction.uncleanable) == [Partition("deadly", 0)]

    keep(act, DeadlyWorkers("/data/deadly-0"))
    told = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert told[0] == "killed while it compacted deadly-0, good-0; they are tried again. Is memory short?"
    assert told[-1].startswith("deadly-0 cannot be compacted and will only grow")
    assert len(told) == 3


def test_a_damaged_log_is_compacted_no_more_and_its_disk_serves_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def act(kept: KeptLogs) -> None:
        bad, good = dirty(kept, "bad", keys=5), dirty(kept, "good")
        path = f"{bad.directory}/00000000000000000000.log"
        content = bytearray(kept.disk.read_file(path))
        content[70] ^= 1  # in the first record
        file = kept.disk.open(path)
        file.truncate(0)
        file.append(content)
        await asyncio.sleep(120)
        assert offsets(good) == [3, 4, 5]
        assert list(kept.compaction.uncleanable) == [Partition("bad", 0)]
        assert kept.directories.online
        assert len(bad.segments) == 3

    keep(act)
    (line,) = (each for each in caplog.records if each.levelno == logging.ERROR)
    assert line.getMessage().startswith("bad-0 cannot be compacted and will only grow")


def test_a_disk_that_fails_when_a_round_is_put_in_place_goes_offline() -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), workers=workers)
        kept.housekeeping.start()
        dirty(kept)
        await asyncio.sleep(1)

        def break_afterwards(*arguments: object) -> None:
            kept.disk.broken.add("/data")

        asyncio.ensure_future(workers.gate.wait()).add_done_callback(break_afterwards)
        workers.gate.set()
        await asyncio.sleep(1)
        assert kept.directories.all_offline
        await kept.housekeeping.stop()

    run(main())


def test_cleaners_forget_the_oldest_of_what_is_compacted_and_deleted() -> None:
    async def act(kept: KeptLogs) -> None:
        log = dirty(kept, cleanup_policy="compact,delete", retention_ms=1000, min_cleanable_dirty_ratio=1)
        await asyncio.sleep(16)
        assert log.log_start == 6

    keep(act)
