"""One sync for all that wait: partitions whose topics flush before they acknowledge share a trip to a thread.

While a trip is under way, others that want one gather for the next; nobody waits longer than two syncs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from odradek.broker.flushing import run_flushes
from odradek.model.errors import StorageError

if TYPE_CHECKING:
    from odradek.broker.partition import HostedPartition
    from odradek.observe.metrics import Histogram
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks
    from odradek.runtime.workers import Workers

Failed = Callable[["HostedPartition", StorageError], object]


class GroupCommit:
    def __init__(
        self, tasks: Tasks, threads: Workers, failed: Failed, clock: Clock, flush_times: Histogram
    ) -> None:
        self._tasks = tasks
        self._threads = threads
        self._failed = failed
        self._clock = clock
        self._flush_times = flush_times
        self._waiting: dict[HostedPartition, None] = {}
        self._is_under_way = False

    def add(self, partition: HostedPartition) -> None:
        """Sync what this partition has appended so far, soon; then its `flushed` is called."""
        self._waiting[partition] = None
        if not self._is_under_way:
            self._is_under_way = True
            self._tasks.start(self._run(), name="group commit")

    async def _run(self) -> None:
        while self._waiting:
            partitions = list(self._waiting)
            self._waiting.clear()
            flushes = [partition.log.begin_flush() for partition in partitions]
            outcomes = await self._threads.start(run_flushes, flushes, self._clock.monotonic)
            for partition, flush, outcome in zip(partitions, flushes, outcomes, strict=True):
                if isinstance(outcome, StorageError):
                    self._failed(partition, outcome)
                else:
                    self._flush_times.add(outcome * 1000)
                    partition.flushed(flush)
        self._is_under_way = False
