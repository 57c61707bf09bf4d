"""One sync for all that wait: partitions whose topics flush before they acknowledge share a trip to a thread.

While a trip is under way, others that want one gather for the next; nobody waits longer than two syncs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from odradek.model.errors import StorageError

if TYPE_CHECKING:
    from odradek.broker.partition import HostedPartition
    from odradek.log.flush import Flush
    from odradek.runtime.tasks import Tasks

InThread = Callable[[Callable[[], list["StorageError | None"]]], Awaitable[list["StorageError | None"]]]
Failed = Callable[["HostedPartition", StorageError], object]


class GroupCommit:
    def __init__(self, tasks: Tasks, in_thread: InThread, failed: Failed) -> None:
        self._tasks = tasks
        self._in_thread = in_thread
        self._failed = failed
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
            flushes = [(partition, partition.log.begin_flush()) for partition in self._waiting]
            self._waiting.clear()
            failures = await self._in_thread(lambda: [_sync(flush) for _, flush in flushes])  # noqa: B023
            for (partition, flush), failure in zip(flushes, failures, strict=True):
                if failure is None:
                    partition.flushed(flush)
                else:
                    self._failed(partition, failure)
        self._is_under_way = False


def _sync(flush: Flush) -> StorageError | None:
    try:
        flush.run()
    except StorageError as failure:
        return failure
    return None
