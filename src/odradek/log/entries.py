"""A file of fixed-size entries in ascending order, searched where it lies: what every index of a segment is.

New entries gather in memory and reach the file a page at a time: an index can be rebuilt from its log, and
after a crash it is, so nothing is lost with them. Nothing is mapped and nothing is read whole. A search reads
the pages it touches, about a microsecond each, and keeps the last, where a sequential reader's next search
ends: one page an index in use, where the index of a full segment kept in memory would hold 2 MiB, and no
fault when a file is cut that someone still searches.
"""

from __future__ import annotations

from bisect import bisect_right
from struct import Struct
from typing import ClassVar, Self

from odradek.log.disk import DiskFile
from odradek.log.open_files import OpenFiles
from odradek.model.errors import StorageError
from odradek.wire.batch import Buffer

PAGE_SIZE = 4096


class EntryFile:
    """Entries are numbered from 0. One writer; `count` includes what only memory holds yet."""

    ENTRY: ClassVar[Struct]
    SPARE: ClassVar[int] = 0  # entries that a full file has still room for

    __slots__ = (
        "_files",
        "_page",
        "_page_at",
        "_tail",
        "_tail_at",
        "_was_written",
        "_written",
        "base_offset",
        "count",
        "count_max",
        "path",
    )

    def __init__(self, files: OpenFiles, path: str, base_offset: int, count: int) -> None:
        self.path = path
        self.base_offset = base_offset
        self.count = count
        self.count_max = 0  # what room is reserved for while entries are added
        self._files = files
        self._was_written = False  # since it was last trimmed
        self._written = count  # entries that the file holds
        self._tail = bytearray()  # entries from number _tail_at on, some of them written
        self._tail_at = count
        self._page = b""  # entries from number _page_at on, as the file holds them
        self._page_at = -1

    @classmethod
    def open(cls, files: OpenFiles, path: str, base_offset: int) -> Self:
        """One that is not there has no entries."""
        try:
            size = files.disk.size(path)
        except FileNotFoundError:
            size = 0
        return cls(files, path, base_offset, size // cls.ENTRY.size)

    def entry(self, number: int) -> tuple[int, ...]:
        size = self.ENTRY.size
        if number >= self._tail_at:
            return self.ENTRY.unpack_from(self._tail, (number - self._tail_at) * size)
        page_at = number - number % (PAGE_SIZE // size)
        if page_at != self._page_at:
            self._load_page(page_at)
        return self.ENTRY.unpack_from(self._page, (number - page_at) * size)

    def count_not_above(self, value: int, field: int) -> int:
        """How many entries have at most `value` in `field`: all before the first that has more."""
        low, high = 0, self.count
        if self._page and self._field(self._page_at, field) <= value:
            low = self._page_at
            page_end = low + len(self._page) // self.ENTRY.size
            if self._field(page_end - 1, field) > value:
                high = page_end
        if self._tail and self._field(self._tail_at, field) <= value:
            low = self._tail_at
        return bisect_right(range(high), value, low, key=lambda number: self._field(number, field))

    # -- writing -----------------------------------------------------------------------------------------

    def create(self, size_max: int) -> None:
        """Make the file, and let it look `size_max` bytes long until it is trimmed."""
        self.limit(size_max)
        self._write(b"")

    def clear(self) -> None:
        """Have no entries, whatever the file holds; it is made if it is not there."""
        self.count = self._written = 0
        self._drop_memory()
        self._write(b"")

    def limit(self, size_max: int) -> None:
        self.count_max = size_max // self.ENTRY.size

    @property
    def is_full(self) -> bool:
        return self.count >= self.count_max - self.SPARE

    def push(self, *fields: int) -> None:
        """Cannot fail: the file is written to later, by `write_out`."""
        self._tail += self.ENTRY.pack(*fields)
        self.count += 1

    @property
    def page_is_full(self) -> bool:
        """Time to `write_out`."""
        return len(self._tail) >= PAGE_SIZE

    def write_out(self) -> None:
        if self._written < self.count:
            self._write(memoryview(self._tail)[(self._written - self._tail_at) * self.ENTRY.size :])
        if self.page_is_full:
            self._drop_memory()

    def cut(self, count: int) -> None:
        """Forget all but the first `count` entries."""
        if count < self.count:
            self._tail_at = min(self._tail_at, count)
            del self._tail[(count - self._tail_at) * self.ENTRY.size :]
            self.count = count
            if count < self._written:
                self._written = count
                self._drop_memory()
                self._write(b"")

    def trim(self) -> DiskFile | None:
        """End the file with its last entry, and answer it if it still has to be synced."""
        self.write_out()
        self._drop_memory()
        if not self._was_written:
            return None
        file = self._files.disk.open(self.path)
        file.truncate(self.count * self.ENTRY.size)
        self._was_written = False
        return file

    def _write(self, entries: Buffer) -> None:
        """Put them behind those that the file has. It is opened for just that: a page of entries comes with
        megabytes of log, and a broker with thousands of logs has better uses for its descriptors."""
        file = self._files.disk.open(self.path, create=True)
        file.truncate(self._written * self.ENTRY.size)
        if entries:
            file.append(entries)
        self._written = self.count
        self._was_written = True
        if self.count_max > self.count:
            file.reserve(self.count_max * self.ENTRY.size)

    def _drop_memory(self) -> None:
        self._tail = bytearray()
        self._tail_at = self.count
        self._page, self._page_at = b"", -1

    def _load_page(self, page_at: int) -> None:
        size = self.ENTRY.size
        wanted = min(PAGE_SIZE // size, self._tail_at - page_at) * size
        file = self._files.open(self.path)
        page = file.read(page_at * size, wanted)
        if len(page) != wanted:
            raise StorageError(f"{self.path}: entries from number {page_at} on are gone")
        self._page, self._page_at = page, page_at

    def _field(self, number: int, field: int) -> int:
        return self.entry(number)[field]
