"""Replicas move between the data directories of this broker.

A copy is filled beside the log that goes on serving, a slice at a time, so that nobody waits long; in the
turn in which nothing is left to copy it takes the log's place. A move that a stop interrupts is taken up
again.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from odradek.model.errors import ApiError, ErrorCode, StorageError

if TYPE_CHECKING:
    from odradek.broker.replicas import Replicas
    from odradek.log.directories import LogDirectories
    from odradek.log.directory import DataDirectory
    from odradek.model.ids import Partition
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks

_logger = logging.getLogger("odradek.broker.directory_moves")

SLICE_SIZE = 1024 * 1024
WHEN_NOTHING_CAME_S = 0.1


class DirectoryMoves:
    def __init__(self, directories: LogDirectories, replicas: Replicas, clock: Clock, tasks: Tasks) -> None:
        self._directories = directories
        self._replicas = replicas
        self._clock = clock
        self._tasks = tasks
        self._moving: set[Partition] = set()

    def resume(self) -> None:
        """Go on with what the last stop interrupted."""
        for directory in self._directories.online:
            for partition in directory.futures:
                self._start(partition)

    def move(self, partition: Partition, path: str) -> None:
        """Let this partition's log live in the directory at `path`. One that is still to come goes there at
        once; for the caller it is unknown."""
        target = self._online(path)
        home = self._directories.home(partition)
        if home is None:
            self._replicas.preferred_directories[partition] = path
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if partition in target.futures:
            return
        now_ms = self._clock.wall_ms()
        self._directories.abandon_future(partition, now_ms)
        if home is not target:
            self._directories.create_future(partition, path, now_ms)
            self._start(partition)

    # -- inside ------------------------------------------------------------------------------------------

    def _online(self, path: str) -> DataDirectory:
        for directory in self._directories:
            if directory.path == path:
                if directory.failure is not None:
                    raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"{path} is offline: {directory.failure}")
                return directory
        raise ApiError(ErrorCode.LOG_DIR_NOT_FOUND, f"{path} is none of this broker's directories")

    def _start(self, partition: Partition) -> None:
        if partition not in self._moving:
            self._moving.add(partition)
            self._tasks.start(self._fill(partition), name=f"move of {partition}")

    async def _fill(self, partition: Partition) -> None:
        try:
            while self._directories.future(partition) is not None:
                if self._copy_some(partition):
                    await asyncio.sleep(0)
                else:
                    await asyncio.sleep(WHEN_NOTHING_CAME_S)
        except StorageError as failure:
            _logger.error("%s stays where it is: %s", partition, failure)
        finally:
            self._moving.discard(partition)

    def _copy_some(self, partition: Partition) -> bool:
        """Copy a slice; when there is none left, let the copy serve. False if it is the log's turn."""
        directories, now_ms = self._directories, self._clock.wall_ms()
        future = directories.future(partition)
        assert future is not None
        before = future.log_end
        left = directories.fill_future(partition, SLICE_SIZE, now_ms)
        hosted = self._replicas.find(partition)
        if left > 0 or hosted is None or hosted.is_flushing:
            return future.log_end > before
        hosted.log = directories.promote_future(partition, now_ms)
        _logger.info("%s has moved to %s", partition, hosted.log.directory)
        return True
