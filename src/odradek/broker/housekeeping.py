"""The timed chores on Kafka's schedules: retention, flushing, checkpoints, compaction, expiry.

That a segment has grown old ends it when its next batch comes, as in Kafka, so there is no chore for that.
Retention of compacted logs is the cleaners' work: they know which logs are not to be touched just now.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, TypeVarTuple

from odradek.broker.chores import Chore, Chores, in_slices
from odradek.broker.flushing import run_flushes
from odradek.broker.partition import HostedPartition
from odradek.broker.serving import Served, blaming, serving
from odradek.log.directory import DataDirectory
from odradek.log.retention import Reason, expired
from odradek.model.errors import StorageError
from odradek.runtime.workers import Busy

if TYPE_CHECKING:
    from odradek.broker.compaction import Compaction
    from odradek.broker.configs import Configs
    from odradek.broker.replicas import Replicas
    from odradek.log.directories import LogDirectories
    from odradek.log.log import PartitionLog
    from odradek.log.offset_file import Draft
    from odradek.model.config.broker_config import BrokerConfig
    from odradek.observe.metrics import Histogram
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks
    from odradek.runtime.workers import Workers

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")
Run: TypeAlias = "Callable[[], Coroutine[object, object, None]]"

_logger = logging.getLogger("odradek.broker.housekeeping")

AT_START_MS = 30_000
FINISHED_SEGMENTS_MS = 5_000  # Kafka syncs a segment when it ends; the recovery points notice no difference
PRODUCER_EXPIRY_MS = 600_000
DELETED_SEGMENTS = "remove deleted segments"
NEVER_MS = float("inf")
_SEGMENTS_A_STEP = 32  # each is renamed file by file
_FLUSHES_A_TRIP = 64


class Housekeeping:
    """Made when the logs are open, started when clients are served, stopped before the logs are closed."""

    def __init__(
        self,
        tasks: Tasks,
        clock: Clock,
        configs: Configs,
        directories: LogDirectories,
        replicas: Replicas,
        *,
        threads: Workers,
        compaction: Compaction,
        flush_times: Histogram,
    ) -> None:
        self._clock = clock
        self._configs = configs
        self._directories = directories
        self._replicas = replicas
        self._threads = threads
        self._compaction = compaction
        self._flush_times = flush_times
        self._chores = Chores(tasks)
        self._deleted: list[tuple[int, Served]] = []  # when a log's .deleted files may go
        compaction.on_replaced = self._files_wait

    def start(self) -> None:
        for chore in self.schedule():
            self._chores.start(chore)
        self._start_cleaners(self._configs.broker)
        self._configs.on_broker(self._start_cleaners)

    def add(self, chore: Chore) -> None:
        """One more, of a part of the broker that has its own."""
        self._chores.start(chore)

    async def run_due(self) -> None:
        """Time was pushed on: come back when everything that is due by now has been done."""
        await self._chores.run_due()

    async def stop(self) -> None:
        await self._chores.stop()

    # -- when ------------------------------------------------------------------------------------------------

    def schedule(self) -> Iterator[Chore]:
        """All chores but the cleaners', whose number may change."""
        by_setting: tuple[tuple[str, Run, float | None, str], ...] = (
            ("retention", self._retain, AT_START_MS, "log.retention.check.interval.ms"),
            ("remove deleted logs", self._remove_logs, AT_START_MS, "log.segment.delete.delay.ms"),
            ("flush", self._flush_due, AT_START_MS, "log.flush.scheduler.interval.ms"),
            (
                "checkpoint recovery points",
                partial(self._checkpoint, DataDirectory.draft_recovery_points),
                AT_START_MS,
                "log.flush.offset.checkpoint.interval.ms",
            ),
            (
                "checkpoint log starts",
                partial(self._checkpoint, DataDirectory.draft_log_starts),
                AT_START_MS,
                "log.flush.start.offset.checkpoint.interval.ms",
            ),
            (
                "checkpoint high watermarks",
                partial(self._checkpoint, DataDirectory.draft_high_watermarks),
                None,
                "replica.high.watermark.checkpoint.interval.ms",
            ),
        )
        for name, run, first_ms, setting in by_setting:
            yield Chore(name=name, run=run, first_ms=first_ms, rest_ms=partial(self._setting, setting))
        lag_ms = self._setting("replica.lag.time.max.ms")
        yield Chore(name="look for slow replicas", run=self._tick_replicas, rest_ms=lambda: lag_ms / 2)
        yield Chore(
            name="flush finished segments", run=self._flush_finished, rest_ms=lambda: FINISHED_SEGMENTS_MS
        )
        yield Chore(name="expire producers", run=self._expire_producers, rest_ms=lambda: PRODUCER_EXPIRY_MS)
        yield Chore(name=DELETED_SEGMENTS, run=self._remove_segments, rest_ms=self._next_removal_ms)

    def _start_cleaners(self, config: BrokerConfig) -> None:
        """As many as log.cleaner.threads says. One that is too many rests."""
        del config
        for number in range(self._compaction.cleaners):
            name = f"cleaner {number}"
            if name not in self._chores:
                rest_ms = partial(self._setting, "log.cleaner.backoff.ms")
                self._chores.start(
                    Chore(name=name, run=partial(self.clean, number), first_ms=0, rest_ms=rest_ms)
                )

    def _setting(self, name: str) -> float:
        return self._configs.broker.integer(name)

    # -- retention and compaction ----------------------------------------------------------------------------

    async def _retain(self) -> None:
        await self._in_slices(
            step
            for served in serving(self._directories)
            if not served.log.settings.compacted
            for step in self._drop_expired(served)
        )

    async def clean(self, number: int) -> None:
        """What the cleaner of that number does."""
        if number < self._compaction.cleaners:
            await self._compaction.clean_what_is_due()
            await self._in_slices(
                step
                for served in serving(self._directories)
                if served.log.settings.compacted and self._compaction.is_free(served.partition)
                for step in self._drop_expired(served)
            )

    def _drop_expired(self, served: Served) -> Iterator[None]:
        """Step by step; at each the log is asked anew, for time passes between them."""
        log = served.log
        more = True
        while more and served.is_still:
            more = False
            with blaming(self._directories, log):
                now_ms = self._clock.wall_ms()
                facts = log.facts()
                going = expired(facts, log.settings, now_ms).segments[:_SEGMENTS_A_STEP]
                if going:
                    ends = [end for _, end in facts.with_ends()]
                    log.drop_segments(ends[len(going) - 1], now_ms)
                    self._files_wait(served)
                    _tell(served, [reason for _, reason in going])
                    more = len(going) == _SEGMENTS_A_STEP
            yield

    # -- what was deleted goes -------------------------------------------------------------------------------

    def _files_wait(self, served: Served) -> None:
        delay_ms = served.log.settings.file_delete_delay_ms
        self._deleted.append((self._clock.wall_ms() + delay_ms, served))
        self._chores.bring_forward(DELETED_SEGMENTS, delay_ms)

    def _next_removal_ms(self) -> float:
        return min((due_ms for due_ms, _ in self._deleted), default=NEVER_MS) - self._clock.wall_ms()

    async def _remove_segments(self) -> None:
        now_ms = self._clock.wall_ms()
        due = {served for due_ms, served in self._deleted if due_ms <= now_ms}
        self._deleted = [each for each in self._deleted if each[0] > now_ms]
        for served in due:
            if served.is_still:
                await self._elsewhere(served.directory, served.log.take_deleted(now_ms).run)

    async def _remove_logs(self) -> None:
        now_ms = self._clock.wall_ms()
        for directory in self._directories.online:
            await self._elsewhere(directory, directory.take_deleted(now_ms).run)

    # -- flushing --------------------------------------------------------------------------------------------

    async def _flush_due(self) -> None:
        """Those that nobody appends to: an append flushes by itself."""
        now_ms = self._clock.wall_ms()
        await self._flush(lambda log: log.flush_due(now_ms))

    async def _flush_finished(self) -> None:
        await self._flush(lambda log: log.recovery_point < log.segments[-1].base_offset)

    async def _flush(self, is_due: Callable[[PartitionLog], bool]) -> None:
        """Each disk on a thread of its own, so that a slow one keeps no other waiting."""
        due: dict[DataDirectory, list[Served]] = {}

        def look(served: Served) -> None:
            if is_due(served.log):
                due.setdefault(served.directory, []).append(served)

        await self._in_slices(map(look, serving(self._directories)))
        await asyncio.gather(*(self._flush_all(directory, logs) for directory, logs in due.items()))

    async def _flush_all(self, directory: DataDirectory, logs: Sequence[Served]) -> None:
        for first in range(0, len(logs), _FLUSHES_A_TRIP):
            trip = [served for served in logs[first : first + _FLUSHES_A_TRIP] if served.is_still]
            flushes = [served.log.begin_flush() for served in trip]
            outcomes = await self._elsewhere(directory, run_flushes, flushes, self._clock.monotonic)
            now_ms = self._clock.wall_ms()
            for served, flush, outcome in zip(trip, flushes, outcomes or (), strict=False):
                if isinstance(outcome, StorageError):
                    self._directories.failed(directory.path, str(outcome))
                elif served.is_still:
                    served.log.flushed(flush, now_ms)
                    self._flush_times.add(outcome * 1000)

    # -- checkpoints -----------------------------------------------------------------------------------------

    async def _checkpoint(self, draft: Callable[[DataDirectory], Draft | None]) -> None:
        await asyncio.gather(*(self._write(each, draft(each)) for each in self._directories.online))

    async def _write(self, directory: DataDirectory, draft: Draft | None) -> None:
        if draft is not None:
            await self._elsewhere(directory, draft.write)
            if directory.failure is None:
                draft.place()

    # -- replicas and producers ------------------------------------------------------------------------------

    async def _tick_replicas(self) -> None:
        await self._in_slices(map(HostedPartition.ticked, list(self._replicas)))

    async def _expire_producers(self) -> None:
        expiration_ms = self._configs.broker.integer("producer.id.expiration.ms")
        now_ms = self._clock.wall_ms()
        await self._in_slices(
            served.log.producers.expire(now_ms, expiration_ms) for served in serving(self._directories)
        )

    # -- how -------------------------------------------------------------------------------------------------

    async def _elsewhere(
        self, directory: DataDirectory, work: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> Result | None:
        """On a thread. None if the disk failed, which takes its directory offline."""
        try:
            try:
                result = await self._threads.start(work, *arguments)
            except Busy:
                result = work(*arguments)  # it cannot be put off: what is taken up here is not found again
        except StorageError as failure:
            self._directories.failed(directory.path, str(failure))
            return None
        return result if directory.failure is None else None

    async def _in_slices(self, steps: Iterable[object]) -> None:
        await in_slices(steps, self._clock)


def _tell(served: Served, reasons: Sequence[Reason]) -> None:
    for reason in dict.fromkeys(reasons):
        count = reasons.count(reason)
        what = "its oldest segment goes" if count == 1 else f"its {count} oldest segments go"
        _logger.info(
            "%s: %s, as %s; it starts at offset %d",
            served.partition,
            what,
            reason.value,
            served.log.log_start,
        )
