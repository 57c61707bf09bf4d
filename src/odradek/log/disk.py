"""The Disk port and OsDisk, the only file that opens files.

A log never touches the operating system: it asks a `Disk`, so that a lying twin (`testing/sim_disk.py`) can
stand in. Any failure of the machine is raised as `StorageError` with the path in it; a file that is not there
is `FileNotFoundError`, because that is often an answer and not a failure.
"""

from __future__ import annotations

from typing import Protocol

from odradek.wire.batch import Buffer


class DiskFile(Protocol):
    """One open file. Written at its end only; read anywhere."""

    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...
    def fileno(self) -> int:
        """For `sendfile`; a simulated file has none and raises `OSError`."""
        ...

    def append(self, data: Buffer) -> None:
        """All of `data`, or `StorageError` with the file cut back to where it was."""
        ...

    def read(self, position: int, size: int) -> bytes:
        """At most `size` bytes: fewer only at the end of the file."""
        ...

    def truncate(self, size: int) -> None: ...
    def sync(self) -> None: ...
    def close(self) -> None: ...


class Disk(Protocol):
    """The files of one data directory, by absolute path."""

    def open(self, path: str, *, create: bool = False) -> DiskFile: ...
    def read_file(self, path: str) -> bytes: ...
    def replace_file(self, path: str, data: bytes) -> None:
        """Durably and whole: a temporary file, synced, renamed over, the directory synced."""
        ...

    def list(self, path: str) -> list[str]:
        """The names in a directory, sorted."""
        ...

    def size(self, path: str) -> int: ...
    def exists(self, path: str) -> bool: ...
    def make_directory(self, path: str) -> None:
        """With its parents; already there is fine."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Atomic; durable once `sync_directory` of both parents returns."""
        ...

    def remove(self, path: str) -> None:
        """A file; one that is already gone is fine."""
        ...

    def remove_tree(self, path: str) -> None: ...
    def sync_directory(self, path: str) -> None: ...
