"""Reads any file of a data directory as it lies there, and says where it is damaged and how.

No log is opened and nothing is changed, so it works beside a running broker. What such a broker still holds
in memory is not seen, and the room that it reserved, all zeros, is where a file ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from odradek.log.disk import OsDisk
from odradek.log.entries import EntryFile
from odradek.log.index import OffsetIndex, TimeIndex
from odradek.log.open_files import OpenFiles
from odradek.log.producers import ProducerDescription, ProducerStates
from odradek.log.segment import INDEX, LOG, TIME_INDEX, TXN_INDEX, Segment
from odradek.log.snapshots import SNAPSHOT
from odradek.log.txn_index import AbortedTransaction, TxnIndex
from odradek.wire.batch import NO_TIMESTAMP, BadBatch, BatchHeader, check_checksum

Wrong: TypeAlias = Callable[[str], None]  # told where a file is damaged, and how

_NAME = re.compile(rf"(\d{{20}})({LOG}|{INDEX}|{TIME_INDEX}|{TXN_INDEX}|{SNAPSHOT})(\.\w+)?")
_READ_SIZE = 1 << 20


class SegmentFile(NamedTuple):
    """A file whose name says which part of which segment it is."""

    path: str
    base_offset: int
    kind: str  # ".log", ".index", ".timeindex", ".txnindex" or ".snapshot"
    suffix: str  # ".deleted", ".cleaned", ".swap", or nothing

    @classmethod
    def of(cls, path: str) -> SegmentFile | None:
        named = _NAME.fullmatch(os.path.basename(path))
        return cls(path, int(named[1]), named[2], named[3] or "") if named else None

    def segment(self) -> Segment:
        """The segment it belongs to; `FileNotFoundError` if that has no .log beside it."""
        directory = os.path.dirname(self.path) or "."
        return Segment.existing(OpenFiles(OsDisk()), directory, self.base_offset, self.suffix)


class FoundBatch(NamedTuple):
    position: int
    header: BatchHeader
    data: memoryview
    is_sound: bool  # as far as its checksum goes


class FoundPosition(NamedTuple):
    """An entry of an offset index, and what its log says to it."""

    offset: int
    position: int
    logged: int | None  # the last offset of the batch there; None: there is none, or no log


class FoundTime(NamedTuple):
    """An entry of a time index, and what its log says to it."""

    timestamp: int
    offset: int
    logged: BatchHeader | None  # of the batch that holds the offset

    @property
    def logged_timestamp(self) -> int:
        if self.logged is None or not self.logged.record_count:
            return NO_TIMESTAMP
        return self.logged.max_timestamp


def batches(file: SegmentFile, wrong: Wrong) -> Iterator[FoundBatch]:
    segment = file.segment()
    end, next_offset = 0, file.base_offset
    for position, header, data in segment.contents():
        is_sound = True
        try:
            check_checksum(data, header)
        except BadBatch as error:
            is_sound = False
            wrong(f"byte {position}: {error.detail}")
        if header.base_offset < next_offset:
            wrong(f"byte {position}: offset {header.base_offset} where {next_offset} or more should follow")
        yield FoundBatch(position, header, data, is_sound)
        end, next_offset = position + header.size, header.next_offset
    if not _is_reserved(segment, end):
        wrong(f"byte {end}: no batch; {segment.size - end} bytes are left")


def trailing_bytes(file: SegmentFile) -> int:
    """How many bytes follow the last whole batch."""
    segment = file.segment()
    end = max((position + header.size for position, header in segment.batches()), default=0)
    return segment.size - end


def positions(file: SegmentFile, wrong: Wrong) -> Iterator[FoundPosition]:
    index = OffsetIndex.open(OpenFiles(OsDisk()), file.path, file.base_offset)
    segment = _segment_of(file, wrong)
    before = (-1, -1)
    for number, (relative, position) in _entries(index, wrong):
        if number and not relative:
            return
        if relative <= before[0] or position <= before[1]:
            wrong(f"entry {number}: offset and position do not ascend")
        before = (relative, position)
        header = next((header for _, header in segment.batches(position)), None) if segment else None
        logged = None if header is None else header.last_offset
        if segment is not None and logged != file.base_offset + relative:
            what = "no batch" if logged is None else f"the batch that ends at offset {logged}"
            wrong(f"entry {number}: offset {file.base_offset + relative} leads to {what}")
        yield FoundPosition(file.base_offset + relative, position, logged)


def times(file: SegmentFile, wrong: Wrong) -> Iterator[FoundTime]:
    index = TimeIndex.open(OpenFiles(OsDisk()), file.path, file.base_offset)
    segment = _segment_of(file, wrong)
    before = NO_TIMESTAMP
    for number, (timestamp, relative) in _entries(index, wrong):
        if number and not timestamp:
            return
        if timestamp <= before and number:
            wrong(f"entry {number}: timestamp {timestamp} does not follow {before}")
        before, offset = timestamp, file.base_offset + relative
        at = segment.locate(offset) if segment is not None and segment.size else None
        header = None if segment is None or at is None else next(segment.batches(at))[1]
        if segment is not None and segment.size and (header is None or header.max_timestamp != timestamp):
            what = "no batch" if header is None else f"a batch of timestamp {header.max_timestamp}"
            wrong(f"entry {number}: timestamp {timestamp} leads to {what}")
        yield FoundTime(timestamp, offset, header)


def aborted(file: SegmentFile, wrong: Wrong) -> Iterator[AbortedTransaction]:
    index = TxnIndex.open(OpenFiles(OsDisk()), file.path, file.base_offset)
    before = -1
    for number, (_, *fields) in _entries(index, wrong):
        found = AbortedTransaction(*fields)
        if not before < found.last_offset or not file.base_offset <= found.last_offset:
            wrong(f"entry {number}: last offset {found.last_offset} does not ascend")
        before = found.last_offset
        yield found


def producers(file: SegmentFile) -> Iterator[ProducerDescription]:
    """Of a snapshot; `StorageError` where it is damaged."""
    return ProducerStates.load(OsDisk().read_file(file.path)).describe()


def _entries(index: EntryFile, wrong: Wrong) -> Iterator[tuple[int, tuple[int, ...]]]:
    size = OsDisk().size(index.path)
    if size % index.ENTRY.size:
        wrong(f"byte {index.count * index.ENTRY.size}: {size % index.ENTRY.size} bytes of an entry")
    for number in range(index.count):
        yield number, index.entry(number)


def _segment_of(file: SegmentFile, wrong: Wrong) -> Segment | None:
    try:
        return file.segment()
    except FileNotFoundError:
        wrong(f"there is no {LOG} beside it to compare with")
        return None


def _is_reserved(segment: Segment, position: int) -> bool:
    """Is there nothing but zeros from here on?"""
    while position < segment.size:
        data = segment.file.read(position, _READ_SIZE)
        if any(data):
            return False
        position += len(data)
    return True
