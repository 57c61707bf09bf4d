"""One segment: a .log file of record batches, and the indexes that find their way in it.

A segment opens nothing before it is needed. The active one, created or activated, holds its files; the others
borrow theirs from `OpenFiles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from odradek.log.disk import DiskFile
from odradek.log.facts import SegmentFacts
from odradek.log.index import NO_TIMESTAMP, RELATIVE_OFFSET_MAX, LatestTimestamp, OffsetIndex, TimeIndex
from odradek.log.open_files import OpenFiles
from odradek.log.settings import LogSettings
from odradek.log.txn_index import TxnIndex
from odradek.model.errors import StorageError
from odradek.wire.batch import HEADER_SIZE, MAGIC, BatchHeader, Buffer, read_header
from odradek.wire.parts import FileSlice
from odradek.wire.records import Record, read_records

LOG = ".log"
INDEX = ".index"
TIME_INDEX = ".timeindex"
TXN_INDEX = ".txnindex"
KINDS = (LOG, INDEX, TIME_INDEX, TXN_INDEX)

_SEARCH_AHEAD = 8 * 1024  # the stretch between two index entries, usually
_SCAN_AHEAD = 1024 * 1024


class BrokenEnd(StorageError):
    """A segment does not end with a batch."""


class FoundTimestamp(NamedTuple):
    """A record that was looked for by its timestamp."""

    timestamp: int
    offset: int
    leader_epoch: int


class Segment:
    """Files of `directory` named by `base_offset`. `size` is that of the .log."""

    __slots__ = (
        "_file",
        "_files",
        "_first_timestamp",
        "_index",
        "_index_interval",
        "_indexes_are_full",
        "_latest_offset",
        "_latest_timestamp",
        "_pages_are_full",
        "_suffix",
        "_time_index",
        "_txn_index",
        "_unindexed",
        "base_offset",
        "directory",
        "size",
    )

    def __init__(
        self, files: OpenFiles, directory: str, base_offset: int, *, size: int, suffix: str = ""
    ) -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.size = size
        self._files = files
        self._suffix = suffix
        self._file: DiskFile | None = None  # held while it is written to
        self._index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._txn_index: TxnIndex | None = None
        self._index_interval = 0
        self._unindexed = 0  # bytes since the batch of the last index entry began
        self._pages_are_full = False
        self._indexes_are_full = False
        self._first_timestamp: int | None = None  # None: not looked up yet
        self._latest_timestamp: int | None = None
        self._latest_offset = base_offset

    @classmethod
    def existing(cls, files: OpenFiles, directory: str, base_offset: int, suffix: str = "") -> Segment:
        segment = cls(files, directory, base_offset, size=0, suffix=suffix)
        segment.size = files.disk.size(segment.path(LOG))
        return segment

    @classmethod
    def create(
        cls, files: OpenFiles, directory: str, base_offset: int, settings: LogSettings, suffix: str = ""
    ) -> Segment:
        """New and empty, replacing what a roll that failed may have left."""
        segment = cls(files, directory, base_offset, size=0, suffix=suffix)
        segment._file = files.disk.open(segment.path(LOG), create=True)
        segment._file.truncate(0)
        if settings.preallocate:
            segment._file.reserve(settings.segment_bytes)
        segment._index = OffsetIndex(files, segment.path(INDEX), base_offset, 0)
        segment._index.create(settings.segment_index_bytes)
        segment._time_index = TimeIndex(files, segment.path(TIME_INDEX), base_offset, 0)
        segment._time_index.create(settings.segment_index_bytes)
        files.disk.remove(segment.path(TXN_INDEX))
        segment._txn_index = TxnIndex(files, segment.path(TXN_INDEX), base_offset, 0)
        segment._index_interval = settings.index_interval_bytes
        segment._latest_timestamp = NO_TIMESTAMP
        return segment

    def path(self, kind: str) -> str:
        """kind: one of KINDS, or ".snapshot"."""
        return f"{self.directory}/{self.base_offset:020d}{kind}{self._suffix}"

    @property
    def file(self) -> DiskFile:
        return self._file or self._files.open(self.path(LOG))

    @property
    def index(self) -> OffsetIndex:
        if self._index is None:
            self._index = OffsetIndex.open(self._files, self.path(INDEX), self.base_offset)
        return self._index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            self._time_index = TimeIndex.open(self._files, self.path(TIME_INDEX), self.base_offset)
        return self._time_index

    @property
    def txn_index(self) -> TxnIndex:
        if self._txn_index is None:
            self._txn_index = TxnIndex.open(self._files, self.path(TXN_INDEX), self.base_offset)
        return self._txn_index

    # -- writing -----------------------------------------------------------------------------------------

    def activate(self, settings: LogSettings) -> int:
        """Make an existing segment ready for appends, and say where its batches end: an offset. What follows
        the last index entry is read for that."""
        self.configure(settings)
        timestamp, offset = self.time_index.last
        last_entry = self.index.last
        next_offset, begin = (last_entry[0] + 1, last_entry[1]) if last_entry else (self.base_offset, 0)
        end = begin
        for position, header in self.batches(begin):
            next_offset, end = header.next_offset, position + header.size
            if header.max_timestamp > timestamp:
                timestamp, offset = header.max_timestamp, header.last_offset
        if end != self.size:
            raise BrokenEnd(f"{self.path(LOG)}: no batch at byte {end} of {self.size}")
        self._latest_timestamp, self._latest_offset = timestamp, offset
        self._unindexed = end - begin
        return next_offset

    def configure(self, settings: LogSettings) -> None:
        self._index_interval = settings.index_interval_bytes
        self.index.limit(settings.segment_index_bytes)
        self.time_index.limit(settings.segment_index_bytes)
        self._indexes_are_full = self.index.is_full or self.time_index.is_full

    def append(self, batch: Buffer, last_offset: int, max_timestamp: int) -> None:
        """One batch. Whatever can fail comes before anything changes."""
        if self._pages_are_full:
            self._write_pages()
        file = self._file or self._hold_file()
        file.append(batch)
        position, size = self.size, len(batch)
        self.size = position + size
        self.note(position, size, last_offset, max_timestamp)

    def note(self, position: int, size: int, last_offset: int, max_timestamp: int) -> None:
        """A batch lies here: index it if it is time for an entry. Cannot fail."""
        assert self._latest_timestamp is not None
        if max_timestamp > self._latest_timestamp:
            self._latest_timestamp, self._latest_offset = max_timestamp, last_offset
        if self._unindexed > self._index_interval:
            self._unindexed = size
            self._add_entries(last_offset, position)
        else:
            self._unindexed += size

    def is_full_for(self, size: int, last_offset: int, settings: LogSettings) -> bool:
        """Has it no room for a batch of `size` bytes that ends at `last_offset`? Time is the log's affair."""
        return (
            self.size > settings.segment_bytes - size
            or last_offset - self.base_offset > RELATIVE_OFFSET_MAX
            or self._indexes_are_full
        )

    def finish(self) -> list[DiskFile]:
        """Nothing is appended from now on: end all files where their content ends. Those to be synced yet."""
        self.time_index.add_if_later(self._latest)
        touched = [each.trim() for each in (self.index, self.time_index, self._txn_index) if each is not None]
        if self._file is not None:
            self._file.truncate(self.size)
            self._files.hold(self.path(LOG), self._file)
            touched.append(self._file)
            self._file = None
        return [file for file in touched if file is not None]

    def cut_from(self, offset: int, settings: LogSettings) -> int:
        """Forget the batch that holds `offset` and all behind it, and be active. Where batches end now."""
        position = self.locate(offset)
        if position is not None:
            self.end_at(position)
            self.index.cut_from(position)
            self.time_index.cut_from(offset)
            self.txn_index.cut_from(offset)
        if position == 0:
            self._first_timestamp = None
        return self.activate(settings)

    def end_at(self, position: int) -> None:
        """Cut the .log."""
        (self._file or self._hold_file()).truncate(position)
        self.size = position

    def begin_anew(self, settings: LogSettings) -> None:
        """Forget what the indexes say, for every batch to be noted again."""
        self._index_interval = settings.index_interval_bytes
        self._hold_file()
        self.index.clear()
        self.time_index.clear()
        self._files.disk.remove(self.path(TXN_INDEX))
        self._txn_index = None
        self._latest_timestamp, self._latest_offset = NO_TIMESTAMP, self.base_offset
        self._unindexed = 0

    def _hold_file(self) -> DiskFile:
        path = self.path(LOG)
        self._file = self._files.disk.open(path)
        if self._file.size < self.size:
            raise StorageError(f"{path}: {self._file.size} bytes, there were {self.size}")
        return self._file

    def _add_entries(self, last_offset: int, position: int) -> None:
        self.index.add(last_offset, position)
        self.time_index.add_if_later(self._latest)
        self._pages_are_full = self.index.page_is_full or self.time_index.page_is_full
        self._indexes_are_full = self.index.is_full or self.time_index.is_full

    def _write_pages(self) -> None:
        self.index.write_out()
        self.time_index.write_out()
        self._pages_are_full = False

    # -- reading -----------------------------------------------------------------------------------------

    def batches(self, position: int = 0, ahead: int = _SCAN_AHEAD) -> Iterator[tuple[int, BatchHeader]]:
        """(position, header) of every whole batch from `position`; stops where the bytes end or cannot be a
        batch. Reads `ahead` bytes at a time, and passes over what a batch has beyond them."""
        file = self.file
        chunk, chunk_at = b"", position
        while position + HEADER_SIZE <= self.size:
            at = position - chunk_at
            if at + HEADER_SIZE > len(chunk):
                chunk, chunk_at, at = file.read(position, ahead), position, 0
                if len(chunk) < HEADER_SIZE:
                    return
            header = read_header(chunk, at)
            size = header.size
            if header.magic != MAGIC or size < HEADER_SIZE or position + size > self.size:
                return
            yield position, header
            position += size

    def contents(
        self, position: int = 0, ahead: int = _SCAN_AHEAD
    ) -> Iterator[tuple[int, BatchHeader, memoryview]]:
        """The same with each batch's bytes; they stay valid."""
        file = self.file
        chunk, chunk_at = memoryview(b""), position
        for begin, header in self.batches(position, ahead):
            at = begin - chunk_at
            if at + header.size > len(chunk):
                chunk = memoryview(file.read(begin, max(ahead, header.size)))
                chunk_at, at = begin, 0
            yield begin, header, chunk[at : at + header.size]

    def locate(self, offset: int) -> int | None:
        """Where the first batch begins that does not lie wholly before `offset`."""
        for position, header in self.batches(self.index.position_before(offset), _SEARCH_AHEAD):
            if header.last_offset >= offset:
                return position
        return None

    def slice(self, position: int, end: int, size_max: int, *, min_one_message: bool) -> FileSlice | None:
        """The bytes from `position` to `end`, `size_max` at most. A first batch that is larger comes whole or
        not at all."""
        size = end - position
        if size > size_max:
            if size_max <= 0 and not min_one_message:
                return None
            first_size = read_header(self.file.read(position, HEADER_SIZE)).size
            if first_size > size_max and not min_one_message:
                return None
            size = min(size, max(size_max, first_size))
        return FileSlice(self.file, position, size) if size > 0 else None

    # -- by time -------------------------------------------------------------------------------------------

    @property
    def first_timestamp(self) -> int:
        """The largest timestamp of the first batch; NO_TIMESTAMP where it has none, or is not there."""
        if self._first_timestamp is None and self.size:
            self._first_timestamp = next(
                (header.max_timestamp for _, header in self.batches(0, HEADER_SIZE)), NO_TIMESTAMP
            )
        return NO_TIMESTAMP if self._first_timestamp is None else self._first_timestamp

    @property
    def max_timestamp(self) -> int:
        """NO_TIMESTAMP where no record has one."""
        return self._latest.timestamp

    def facts(self, *, with_first: bool) -> SegmentFacts:
        """Where no record has a timestamp, the file's own age counts. `with_first` costs a read."""
        largest = self.max_timestamp
        return SegmentFacts(
            self.base_offset,
            self.size,
            largest if largest >= 0 else self._files.disk.modified_ms(self.path(LOG)),
            self.first_timestamp if with_first else NO_TIMESTAMP,
        )

    def find_timestamp(self, timestamp: int, from_offset: int) -> FoundTimestamp | None:
        """The first record from `from_offset` on that is not older than `timestamp`."""
        if self.max_timestamp < timestamp:
            return None
        begin = max(self.time_index.offset_before(timestamp), from_offset)
        for position, header in self.batches(self.index.position_before(begin), _SEARCH_AHEAD):
            if header.max_timestamp >= timestamp and header.last_offset >= from_offset:
                for record in self._records(position, header):
                    if record.timestamp >= timestamp and record.offset >= from_offset:
                        return FoundTimestamp(record.timestamp, record.offset, header.leader_epoch)
        return None

    def find_max_timestamp(self) -> FoundTimestamp | None:
        """The first record that has the segment's largest timestamp."""
        latest = self._latest
        if latest.timestamp == NO_TIMESTAMP:
            return None
        for position, header in self.batches(self.index.position_before(latest.offset), _SEARCH_AHEAD):
            if header.max_timestamp == latest.timestamp:
                for record in self._records(position, header):
                    if record.timestamp == latest.timestamp:
                        return FoundTimestamp(record.timestamp, record.offset, header.leader_epoch)
        return None

    @property
    def _latest(self) -> LatestTimestamp:
        if self._latest_timestamp is None:
            self._latest_timestamp, self._latest_offset = self.time_index.last
        return LatestTimestamp(self._latest_timestamp, self._latest_offset)

    def _records(self, position: int, header: BatchHeader) -> Iterator[Record]:
        return read_records(self.file.read(position, header.size))

    # -- as files ------------------------------------------------------------------------------------------

    def rename(self, suffix: str, kinds: tuple[str, ...] = KINDS) -> None:
        """Give the files that exist another suffix. Who reads them goes on reading."""
        old = {kind: self.path(kind) for kind in kinds}
        self._suffix = suffix
        for kind, path in old.items():
            self._files.forget(path)
            try:
                self._files.disk.rename(path, self.path(kind))
            except FileNotFoundError:
                assert kind != LOG, path

    def remove(self) -> None:
        """At once; who still reads goes on reading."""
        for kind in KINDS:
            self._files.forget(self.path(kind))
            self._files.disk.remove(self.path(kind))
        self._file = None
