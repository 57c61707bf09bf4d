"""A disk that lies the way real ones do: the twin of `log/disk.py`'s OsDisk, in memory, from a seed.

What `crash` leaves behind is this, and nobody may rely on more:

- A file holds what it held when `sync` last returned, up to the first byte written since. From there on each
  sector is as it was at that sync, or as it was written since, even if cut off again, or zeros; a bit or two
  may have flipped; and the file ends where it ever ended since, or anywhere in between. Where only its size
  was changed, the change happened or did not.
- A directory holds what it held when `sync_directory` last returned, changed by the first so many of the
  changes since: they keep their order, and each is whole (a rename never leaves both names or none). Two
  directories know nothing of each other, nor a file's `sync` of its name.
- A failed `sync` is like Linux's: the pages count as clean from then on, so that reading shows what was
  written, another sync succeeds, and a crash reveals that they were lost.

Short of a crash everything reads back as it was written. Operations fail when told to: for want of
`capacity`, at random (`error_rate`), or below a path that is `broken`.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from typing import TypeAlias

from odradek.log.disk import Space, replace_whole
from odradek.model.errors import StorageError
from odradek.wire.batch import Buffer

_CLEAN = sys.maxsize
_CLOSED = -1


class SimDisk:
    """Files by absolute path. The folder `/` is there from the start."""

    def __init__(self, random: Random, *, capacity: int = sys.maxsize) -> None:
        self.capacity = capacity
        self.error_rate = 0.0
        self.flips = True  # whether a crash may leave flipped bits
        self.now_ms = 0  # what files are dated with
        self.broken: set[str] = set()  # paths below which nothing works any more
        self.deceives = False  # a sync failed: what reads back now may not outlive a crash
        self.counts: Counter[str] = Counter()  # operations by name, the failed ones too
        self._random = random
        self._root = _Folder()
        self._locks: set[str] = set()
        self._lives = 0  # a file opened before a crash is of no use after it

    # -- what the world does to it -----------------------------------------------------------------------

    def crash(self) -> None:
        """The power goes and comes back: what is not durable may be gone, and no open file works any more."""
        self.kill()
        self.deceives = False
        self._root.crash(self._random, flips=self.flips)

    def kill(self) -> None:
        """The process goes, the machine stays: everything written is there, open files and locks are not."""
        self._lives += 1
        self._locks.clear()

    @property
    def used(self) -> int:
        return self._root.used()

    # -- the port ----------------------------------------------------------------------------------------

    def open(self, path: str, *, create: bool = False) -> SimFile:
        folder, name = self._begin("open", path)
        content = folder.entries.get(name)
        if content is None and create:
            content = _Content(self.now_ms)
            folder.change((name, content))
        if not isinstance(content, _Content):
            raise FileNotFoundError(path)
        return SimFile(self, path, content, self._lives)

    def read_file(self, path: str) -> bytes:
        file = self.open(path)
        return file.read(0, file.size)

    def replace_file(self, path: str, data: bytes) -> None:
        replace_whole(self, path, data)

    def list(self, path: str) -> list[str]:
        self._begin("list", path)
        return sorted(self._folder(path).entries)

    def size(self, path: str) -> int:
        folder, name = self._begin("size", path)
        content = folder.entries.get(name)
        if content is None:
            raise FileNotFoundError(path)
        return content.live.length if isinstance(content, _Content) else 0

    def exists(self, path: str) -> bool:
        try:
            folder, name = self._split(path)
        except FileNotFoundError:
            return False
        return not name or name in folder.entries

    def modified_ms(self, path: str) -> int:
        folder, name = self._begin("size", path)
        content = folder.entries.get(name)
        if not isinstance(content, _Content):
            raise FileNotFoundError(path)
        return content.modified_ms

    def space(self, path: str) -> Space:
        self._begin("space", path)
        return Space(self.capacity, self.capacity - self.used)

    def make_directory(self, path: str) -> None:
        if self.exists(path):
            return
        parent, _, name = path.rpartition("/")
        self.make_directory(parent)
        folder, _ = self._begin("make_directory", path)
        folder.change((name, _Folder()))
        self.sync_directory(parent)

    def rename(self, old: str, new: str) -> None:
        folder, old_name = self._begin("rename", old)
        target, new_name = self._split(new)
        assert folder is target, "from one directory to another: nobody does, so it is not simulated"
        moved = folder.entries.get(old_name)
        if moved is None:
            raise FileNotFoundError(old)
        folder.change((old_name, None), (new_name, moved))

    def remove(self, path: str) -> None:
        try:
            folder, name = self._begin("remove", path)
        except FileNotFoundError:
            return
        if name in folder.entries:
            assert isinstance(folder.entries[name], _Content), f"{path} is a directory"
            folder.change((name, None))

    def remove_tree(self, path: str) -> None:
        if not self.exists(path):
            return
        for name in self.list(path):
            child = f"{path}/{name}"
            if isinstance(self._folder(path).entries[name], _Folder):
                self.remove_tree(child)
            else:
                self.remove(child)
        folder, name = self._begin("remove_tree", path)
        folder.change((name, None))

    def sync_directory(self, path: str) -> None:
        self._begin("sync_directory", path)
        self._folder(path).sync()

    def lock(self, path: str) -> SimLock | None:
        self.open(path, create=True)
        if path in self._locks:
            return None
        self._locks.add(path)
        return SimLock(self._locks, path)

    # -- inside ------------------------------------------------------------------------------------------

    def _begin(self, operation: str, path: str) -> tuple[_Folder, str]:
        self._permit(operation, path)
        return self._split(path)

    def _permit(self, operation: str, path: str) -> None:
        """Every operation passes here: it is counted, and fails if it has to."""
        self.counts[operation] += 1
        if self.error_rate and self._random.random() < self.error_rate:
            raise _failure(path, operation)
        for each in self.broken:
            if path == each or path.startswith(f"{each}/"):
                raise _failure(path, operation)

    def _split(self, path: str) -> tuple[_Folder, str]:
        parent, _, name = path.rpartition("/")
        return self._folder(parent), name

    def _folder(self, path: str) -> _Folder:
        at: _Content | _Folder | None = self._root
        for name in path.split("/"):
            if name:
                at = at.entries.get(name) if isinstance(at, _Folder) else None
        if not isinstance(at, _Folder):
            raise FileNotFoundError(path)
        return at


class SimFile:
    """An open file of a SimDisk."""

    __slots__ = ("_content", "_disk", "_distrusted", "_life", "path", "size")

    def __init__(self, disk: SimDisk, path: str, content: _Content, life: int) -> None:
        self.path = path
        self.size = content.live.length
        self._disk = disk
        self._content = content
        self._life = life
        self._distrusted = False

    def fileno(self) -> int:
        raise OSError(f"{self.path}: a simulated file has no descriptor")

    def append(self, data: Buffer) -> None:
        try:
            self._permit("append")
            self._make_room(self.size + len(data))
        except StorageError:
            self._append_in_vain(data)
            raise
        self._content.write(self.size, data)
        self._content.modified_ms = self._disk.now_ms
        self.size += len(data)

    def read(self, position: int, size: int) -> bytes:
        self._permit("read")
        return self._content.live.read(position, size)

    def reserve(self, size: int) -> None:
        self._permit("reserve")
        if size > self._content.live.length:
            self._content.resize(size)

    def truncate(self, size: int) -> None:
        self._permit("truncate")
        self._content.resize(size)
        self._content.modified_ms = self._disk.now_ms
        self.size = size

    def sync(self) -> None:
        try:
            self._permit("sync")
        except StorageError:
            self._distrusted = self._disk.deceives = True
            self._content.lose(self._disk._random, flips=self._disk.flips)
            raise
        self._content.sync()

    def close(self) -> None:
        self._life = _CLOSED

    def _permit(self, operation: str) -> None:
        assert self._life == self._disk._lives, f"{self.path}: closed, or opened before the crash"
        if self._distrusted and operation in ("append", "sync"):
            raise StorageError(f"{self.path}: no {operation} after an earlier failure")
        self._disk._permit(operation, self.path)

    def _make_room(self, size: int) -> None:
        growth = size - len(self._content.live.bytes)
        disk = self._disk
        if growth > 0 and disk.capacity < sys.maxsize and disk.used + growth > disk.capacity:
            raise StorageError(f"{self.path}: could not write: No space left on device")

    def _append_in_vain(self, data: Buffer) -> None:
        """Some of it may have been written before the failure, and cutting it off again may fail."""
        random = self._disk._random
        if self._distrusted:
            return
        self._content.write(self.size, data[: random.randint(0, len(data))])
        if random.random() < 0.1:
            self._distrusted = True
        else:
            self._content.resize(self.size)


class SimLock:
    """A lock of a SimDisk, held until it is released or the machine crashes."""

    def __init__(self, held: set[str], path: str) -> None:
        self._held = held
        self._path = path

    def release(self) -> None:
        self._held.discard(self._path)


class _Image:
    """What a file holds: some bytes, and from there zeros up to its length, which take no room."""

    __slots__ = ("bytes", "length")

    def __init__(self, content: bytearray, length: int) -> None:
        self.bytes = content
        self.length = length

    def read(self, position: int, size: int) -> bytes:
        found = bytes(self.bytes[position : position + size])
        return found.ljust(max(min(size, self.length - position), 0), b"\0")

    def write(self, position: int, data: Buffer) -> None:
        assert position <= self.length
        self.bytes.extend(bytes(max(position - len(self.bytes), 0)))
        self.bytes[position : position + len(data)] = data
        self.length = max(self.length, len(self.bytes))

    def resize(self, size: int) -> None:
        del self.bytes[size:]
        self.length = size

    def spell_out(self, size: int) -> None:
        """Hold zeros below `size` as bytes: they are as durable as others."""
        self.bytes.extend(bytes(max(min(self.length, size) - len(self.bytes), 0)))

    def copy(self) -> _Image:
        return _Image(self.bytes.copy(), self.length)

    def take(self, other: _Image, start: int) -> None:
        """From `start` on be as the other is."""
        del self.bytes[start:]
        if len(other.bytes) > start:
            self.bytes.extend(bytes(start - len(self.bytes)))
            self.bytes += other.bytes[start:]
        self.length = other.length


class _Content:
    """A file: as it reads now, and as far as the disk has it."""

    __slots__ = ("_changed_from", "_cut", "_cut_at", "_durable", "_written_from", "live", "modified_ms")

    def __init__(self, now_ms: int) -> None:
        self.modified_ms = now_ms
        self.live = _Image(bytearray(), 0)
        self._durable = _Image(bytearray(), 0)
        self._changed_from = _CLEAN  # everything below is the same in both, unless a sync failed
        self._written_from = _CLEAN  # likewise, but a mere change of size is no writing
        self._cut_at, self._cut = 0, b""  # the longest tail that was written and cut off since the last sync

    def write(self, position: int, data: Buffer) -> None:
        self.live.write(position, data)
        self._changed_from = min(self._changed_from, position)
        self._written_from = min(self._written_from, position)

    def resize(self, size: int) -> None:
        tail = len(self.live.bytes)
        if size < tail and self._written_from < tail and tail > self._cut_at + len(self._cut):
            self._cut_at, self._cut = size, bytes(self.live.bytes[size:])
        self._changed_from = min(self._changed_from, size, self.live.length)
        self.live.resize(size)

    def sync(self) -> None:
        if self._changed_from < _CLEAN:
            self._durable.take(self.live, self._changed_from)
            self._settle()

    def lose(self, random: Random, *, flips: bool) -> None:
        """The disk keeps some of what was changed, and the kernel forgets that there was more."""
        if self._changed_from < _CLEAN:
            left = self._survivor(random)
            if flips and random.random() < 0.2 and len(left.bytes) > self._written_from:
                for _ in range(random.randint(1, 2)):
                    at = random.randrange(self._written_from, len(left.bytes))
                    left.bytes[at] ^= 1 << random.randrange(8)
            self._durable = left
            self._settle()

    def crash(self, random: Random, *, flips: bool) -> None:
        self.lose(random, flips=flips)
        self.live = self._durable.copy()

    def _settle(self) -> None:
        self._changed_from = self._written_from = _CLEAN
        self._cut_at, self._cut = 0, b""

    def _survivor(self, random: Random) -> _Image:
        before, after = self._durable, self._durable.copy()
        after.take(self.live, self._changed_from)
        fate = random.random()
        if self._written_from == _CLEAN:
            return before if fate < 0.5 else after
        for each in (before, after):
            each.spell_out(self._written_from)
        if fate < 0.2:
            return after
        if fate < 0.3:
            return before
        if fate < 0.65:
            end = len(after.bytes)
            left = after.bytes[: random.randint(min(self._written_from, end), end)]
        else:
            left = self._patchwork(random, before.bytes, after.bytes)
        return _Image(left, max(len(left), random.choice((0, before.length, after.length))))

    def _patchwork(self, random: Random, before: bytearray, after: bytearray) -> bytearray:
        """Every written sector from a version of its own; one beyond that version's end is zeros."""
        under = after + before[len(after) :]
        cut = under[: self._cut_at].ljust(self._cut_at, b"\0") + self._cut if self._cut else after
        ends = [len(before), len(after), len(cut)]
        end = random.choice([*ends, random.randint(min(self._written_from, *ends), max(ends))])
        sector = random.choice((16, 64, 512, 4096))
        left = under[: min(self._written_from, end)]
        while len(left) < end:
            stop = min(end, (len(left) // sector + 1) * sector)
            version = random.choice((before, after, cut, b""))
            left += version[len(left) : stop].ljust(stop - len(left), b"\0")
        return left


class _Folder:
    """A directory: as it lists now, as the disk has it, and the changes in between, each a whole."""

    __slots__ = ("_durable", "_since", "entries")

    def __init__(self) -> None:
        self.entries: dict[str, _Content | _Folder] = {}
        self._durable: dict[str, _Content | _Folder] = {}
        self._since: list[tuple[_Change, ...]] = []

    def change(self, *changes: _Change) -> None:
        _apply(self.entries, changes)
        self._since.append(changes)

    def sync(self) -> None:
        self._durable = dict(self.entries)
        self._since.clear()

    def crash(self, random: Random, *, flips: bool) -> None:
        if self._since:
            for changes in self._since[: random.randint(0, len(self._since))]:
                _apply(self._durable, changes)
            self._since.clear()
            self.entries = dict(self._durable)
        for each in self.entries.values():
            each.crash(random, flips=flips)

    def used(self) -> int:
        return sum(
            len(each.live.bytes) if isinstance(each, _Content) else each.used()
            for each in self.entries.values()
        )


_Change: TypeAlias = tuple[str, _Content | _Folder | None]  # a name, and what it stands for from now on


def _apply(entries: dict[str, _Content | _Folder], changes: tuple[_Change, ...]) -> None:
    for name, what in changes:
        if what is None:
            entries.pop(name, None)
        else:
            entries[name] = what


def _failure(path: str, operation: str) -> StorageError:
    return StorageError(f"{path}: could not {operation}: Input/output error")
