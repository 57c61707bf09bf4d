"""The Disk port and OsDisk, the only file that opens files.

A log never touches the operating system: it asks a `Disk`, so that a lying twin (`testing/sim_disk.py`) can
stand in. Any failure of the machine is raised as `StorageError` with the path in it; a file that is not there
is `FileNotFoundError`, because that is often an answer and not a failure.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import struct
from typing import NamedTuple, NoReturn, Protocol

from odradek.model.errors import StorageError
from odradek.wire.batch import Buffer


class Space(NamedTuple):
    """Bytes."""

    total: int
    usable: int  # by us: what is kept for root is not


class DiskFile(Protocol):
    """One open file. Written at its end only; read anywhere. Dropping the last reference closes it."""

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

    def reserve(self, size: int) -> None:
        """Make a file of `size` bytes of it, zeros at its end that take no room yet. Its own `size` stays
        where the next append goes; whoever opens the file anew takes the zeros for data until it is cut."""
        ...

    def truncate(self, size: int) -> None: ...
    def sync(self) -> None:
        """What was appended is durable when this returns. Safe on another thread while the owner appends.
        After a failure nothing is known about the file: every later append and sync fails too."""
        ...

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
    def modified_ms(self, path: str) -> int:
        """When the file last changed, by the clock of the machine."""
        ...

    def space(self, path: str) -> Space:
        """Of the file system that holds a directory."""
        ...

    def make_directory(self, path: str) -> None:
        """With its parents, durably; already there is fine."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Atomic; durable once `sync_directory` of both parents returns."""
        ...

    def remove(self, path: str) -> None:
        """A file; one that is already gone is fine."""
        ...

    def remove_tree(self, path: str) -> None: ...
    def sync_directory(self, path: str) -> None: ...
    def lock(self, path: str) -> Lock | None:
        """Keep a file, made if need be, from everybody else; None if somebody has it."""
        ...


class Lock(Protocol):
    """A held lock. The machine releases it when the process ends."""

    def release(self) -> None: ...


def replace_whole(disk: Disk, path: str, data: bytes) -> None:
    """How `replace_file` is done on any disk."""
    temporary = f"{path}.tmp"
    file = disk.open(temporary, create=True)
    file.truncate(0)
    file.append(data)
    file.sync()
    file.close()
    disk.rename(temporary, path)
    disk.sync_directory(os.path.dirname(path))


class OsFile:
    """A file of the operating system. `size` is where the next append goes; a reserved file is longer."""

    __slots__ = ("_distrusted", "_fd", "path", "size")

    def __init__(self, path: str, fd: int, size: int) -> None:
        self.path = path
        self.size = size
        self._fd = fd
        self._distrusted = False

    def fileno(self) -> int:
        return self._fd

    def append(self, data: Buffer) -> None:
        if self._distrusted:
            raise StorageError(f"{self.path}: not written to after an earlier failure")
        try:
            written = os.pwrite(self._fd, data, self.size)
            if written != len(data):
                self._append_rest(data, written)
        except OSError as error:
            self._undo_append(error)
        self.size += len(data)

    def read(self, position: int, size: int) -> bytes:
        try:
            return os.pread(self._fd, size, position)
        except OSError as error:
            raise _storage_error(self.path, "read", error) from error

    def reserve(self, size: int) -> None:
        assert size >= self.size
        try:
            os.ftruncate(self._fd, size)
        except OSError as error:
            raise _storage_error(self.path, "reserve", error) from error

    def truncate(self, size: int) -> None:
        try:
            # Not for nothing: what was ever cut to nothing, ext4 writes to the disk when it is closed.
            if os.fstat(self._fd).st_size != size:
                os.ftruncate(self._fd, size)
        except OSError as error:
            raise _storage_error(self.path, "truncate", error) from error
        self.size = size

    def sync(self) -> None:
        if self._distrusted:
            raise StorageError(f"{self.path}: not synced after an earlier failure")
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            # The kernel reports a lost write once and then calls the pages clean: asking again would lie.
            self._distrusted = True
            raise _storage_error(self.path, "sync", error) from error

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def _append_rest(self, data: Buffer, written: int) -> None:
        view = memoryview(data)
        while written < len(view):
            written += os.pwrite(self._fd, view[written:], self.size + written)

    def _undo_append(self, error: OSError) -> NoReturn:
        try:
            os.ftruncate(self._fd, self.size)
        except OSError:
            self._distrusted = True
        raise _storage_error(self.path, "write", error) from error


class OsDisk:
    """The operating system's files."""

    def open(self, path: str, *, create: bool = False) -> OsFile:
        try:
            fd = _open(path, create)
            return OsFile(path, fd, os.fstat(fd).st_size)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _storage_error(path, "open", error) from error

    def read_file(self, path: str) -> bytes:
        file = self.open(path)
        data = file.read(0, file.size)
        file.close()
        return data

    def replace_file(self, path: str, data: bytes) -> None:
        replace_whole(self, path, data)

    def list(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(path))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _storage_error(path, "list", error) from error

    def size(self, path: str) -> int:
        return _stat(path).st_size

    def modified_ms(self, path: str) -> int:
        return _stat(path).st_mtime_ns // 1_000_000

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def space(self, path: str) -> Space:
        try:
            found = os.statvfs(path)
        except OSError as error:
            raise _storage_error(path, "look at", error) from error
        return Space(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)

    def make_directory(self, path: str) -> None:
        if os.path.isdir(path):
            return
        parent = os.path.dirname(path)
        self.make_directory(parent)
        try:
            os.mkdir(path)
        except OSError as error:
            raise _storage_error(path, "create", error) from error
        self.sync_directory(parent)

    def rename(self, old: str, new: str) -> None:
        try:
            os.rename(old, new)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _storage_error(old, "rename", error) from error

    def remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _storage_error(path, "remove", error) from error

    def remove_tree(self, path: str) -> None:
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _storage_error(path, "remove", error) from error

    def sync_directory(self, path: str) -> None:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise _storage_error(path, "sync", error) from error

    def lock(self, path: str) -> OsLock | None:
        try:
            fd = _open(path, create=True)
        except OSError as error:
            raise _storage_error(path, "open", error) from error
        try:
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _WHOLE_FILE)
        except OSError as error:
            os.close(fd)
            if error.errno in (errno.EACCES, errno.EAGAIN):
                return None
            raise _storage_error(path, "lock", error) from error
        return OsLock(fd)


# A lock of the open file, not of the process: it excludes Java's, another process's and a second broker's in
# our own, and outlives the closing of other descriptors. struct flock: type, whence, start, length, pid.
_WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


class OsLock:
    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def release(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def __del__(self) -> None:
        self.release()


def _open(path: str, create: bool) -> int:
    if create:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT, 0o644)
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:  # a file that may only be looked at: fine until someone writes
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _stat(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _storage_error(path, "stat", error) from error


def _storage_error(path: str, verb: str, error: OSError) -> StorageError:
    return StorageError(f"{path}: could not {verb}: {error.strerror}")
