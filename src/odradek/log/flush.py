"""What of a log is durable, and what has to be synced until more of it is.

One flush serves everybody who waits (group commit): it is begun where the log is written to, run wherever
blocking does no harm, and counted where it was begun. Of the active segment only the .log is synced: after a
crash its indexes are made anew. A finished segment's are synced with it, because recovery trusts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from odradek.log.disk import Disk, DiskFile


class Flush(NamedTuple):
    """What has to be synced so that everything below `offset` is durable."""

    offset: int
    files: tuple[DiskFile, ...]
    directory: str | None  # has new names in it
    disk: Disk
    cuts: int  # how often the log had been cut when it was begun
    names: int  # how often names in the directory had changed

    def run(self) -> None:
        """May run on a thread while the log goes on. One that fails takes the directory offline."""
        for file in self.files:
            file.sync()
        if self.directory is not None:
            self.disk.sync_directory(self.directory)


class Durability:
    """Of one log."""

    __slots__ = (
        "_directory",
        "_disk",
        "_flushed_ms",
        "_names",
        "_names_flushed",
        "_owed",
        "cuts",
        "recovery_point",
    )

    def __init__(self, disk: Disk, directory: str, now_ms: int) -> None:
        self.recovery_point = 0  # everything below was synced
        self._disk = disk
        self._directory = directory
        self._flushed_ms = now_ms
        self._owed: list[DiskFile] = []  # finished, and not known to be synced
        self._names, self._names_flushed = 1, 0  # how often names changed in the directory
        self.cuts = 0

    def owe(self, files: Iterable[DiskFile]) -> None:
        """These are complete; with them, new names came into the directory."""
        self._owed += files
        self._names += 1

    def is_due(self, now_ms: int, flush_ms: int) -> bool:
        return now_ms - self._flushed_ms >= flush_ms

    def begin(self, log_end: int, active: DiskFile) -> Flush:
        files = (*self._owed, active) if log_end > self.recovery_point else tuple(self._owed)
        directory = self._directory if self._names > self._names_flushed else None
        return Flush(log_end, files, directory, self._disk, cuts=self.cuts, names=self._names)

    def done(self, flush: Flush, now_ms: int) -> None:
        self._flushed_ms = now_ms
        self._owed = [file for file in self._owed if file not in flush.files]
        self._names_flushed = max(self._names_flushed, flush.names)
        if flush.cuts == self.cuts:  # else what lies below its offset now may be something else
            self.recovery_point = max(self.recovery_point, flush.offset)

    def cut(self, log_end: int) -> None:
        self.recovery_point = min(self.recovery_point, log_end)
        self.cuts += 1
