"""Files of a data directory in the words of Kafka's DumpLogSegments, for scripts that read those.

What the files hold goes to standard output, what is wrong with them to standard error when all were read, as
with Kafka. Unlike Kafka's, this one ends with 1 where something is wrong.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from odradek.cli.data_file import (
    FoundBatch,
    SegmentFile,
    Wrong,
    aborted,
    batches,
    positions,
    producers,
    times,
    trailing_bytes,
)
from odradek.cli.stored_records import StoredText
from odradek.log.index import OffsetIndex, TimeIndex
from odradek.log.producers import NO_OFFSET, NO_SEQUENCE, SEQUENCE_MASK
from odradek.log.segment import INDEX, LOG, TIME_INDEX, TXN_INDEX
from odradek.model.errors import StorageError
from odradek.wire.batch import (
    COMPRESSION_MASK,
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BadBatch,
    BatchHeader,
)
from odradek.wire.compression import Codec
from odradek.wire.markers import decode_marker
from odradek.wire.records import Record, read_records

_MISMATCHES = "Mismatches in :{}"
_TIME_MISMATCHES = "Found timestamp mismatch in :{}"
_UNORDERED_TIMES = "Found out of order timestamp in :{}"
_NOT_FOUND = "The following indexed offsets are not found in the log."
_GAPS = "Non-consecutive offsets in {}"
_SAID_IN_ORDER = (_MISMATCHES, _TIME_MISMATCHES, _UNORDERED_TIMES, _NOT_FOUND, _GAPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Kafka's flags."""

    records: bool  # --deep-iteration, and whatever implies it
    contents: bool  # --print-data-log, or a decoder
    decoder: StoredText | None
    skips_metadata: bool
    sanity_only: bool
    verify_only: bool
    bytes_max: int | None  # of a .log


class KafkaDump:
    """Prints files one after the other, and at the end what was wrong."""

    def __init__(self, wanted: Wanted) -> None:
        self.is_damaged = False
        self._wanted = wanted
        # Heading -> file -> what is said of it.
        self._findings: dict[str, dict[str, list[str]]] = {each: defaultdict(list) for each in _SAID_IN_ORDER}

    def lines(self, paths: Sequence[str]) -> Iterator[str]:
        for path in paths:
            yield f"Dumping {path}"
            file = SegmentFile.of(path)
            if file is None:
                click.echo(f"Ignoring unknown file {path}", err=True)
                continue
            try:
                yield from self._of_kind(file)
            except (StorageError, FileNotFoundError) as error:
                self.is_damaged = True
                click.echo(str(error), err=True)

    def say_what_is_wrong(self) -> None:
        for heading in _SAID_IN_ORDER:
            for path, found in self._findings[heading].items():
                click.echo(heading.format(os.path.abspath(path)), err=True)
                for line in reversed(found):
                    click.echo(line, err=True)

    def _of_kind(self, file: SegmentFile) -> Iterator[str]:
        if file.kind == LOG:
            return self._log(file)
        if file.kind == INDEX:
            return self._index(file)
        if file.kind == TIME_INDEX:
            return self._time_index(file)
        return _transactions(file, self._wrong) if file.kind == TXN_INDEX else _snapshot(file)

    # -- logs ----------------------------------------------------------------------------------------------

    def _log(self, file: SegmentFile) -> Iterator[str]:
        yield f"Log starting offset: {file.base_offset}"
        bound = self._wanted.bytes_max
        last_offset: int | None = None
        for found in batches(file, self._wrong):
            if bound is not None and found.position + found.header.size > bound:
                return
            yield _batch_line(found)
            for record in self._records(found) if self._wanted.records else ():
                if last_offset is not None and record.offset != last_offset + 1:
                    gap = f"  {last_offset} is followed by {record.offset}"
                    self._findings[_GAPS][file.path].append(gap)
                last_offset = record.offset
                yield self._record_line(found.header, record)
        trailing = trailing_bytes(file)
        if trailing:
            yield f"Found {trailing} invalid bytes at the end of {os.path.basename(file.path)}"

    def _records(self, found: FoundBatch) -> list[Record]:
        try:
            return list(read_records(found.data))
        except BadBatch as error:
            self.is_damaged = True
            click.echo(f"byte {found.position}: {error.detail}", err=True)
            return []

    def _record_line(self, header: BatchHeader, record: Record) -> str:
        is_marker = header.attributes & CONTROL
        line = ""
        if not self._wanted.skips_metadata:
            line = f"| {_metadata(header, record)}" + (_marker(record) if is_marker else "")
        if self._wanted.contents and not is_marker:
            key, payload = self._contents(record)
            if key is not None:
                line += f"{'' if line else '|'} key: {key}"
            if payload is not None:
                line += f" payload: {payload}"  # after nothing but a space where there is nothing before it
        return line

    def _contents(self, record: Record) -> tuple[str | None, str | None]:
        decoder = self._wanted.decoder
        if decoder is not None and record.key is not None:
            return decoder(record.key, record.value)
        return _text(record.key), _text(record.value)

    # -- indexes -------------------------------------------------------------------------------------------

    def _index(self, file: SegmentFile) -> Iterator[str]:
        if not os.path.getsize(file.path):
            yield f"{file.path} is empty."
        elif self._wanted.sanity_only:
            yield self._sanity(file, OffsetIndex.ENTRY.size)
        else:
            for found in positions(file, self._wrong):
                if found.logged is not None and found.logged != found.offset:
                    line = f"  Index offset: {found.offset}, log offset: {found.logged}"
                    self._findings[_MISMATCHES][file.path].append(line)
                if not self._wanted.verify_only:
                    yield f"offset: {found.offset} position: {found.position}"

    def _time_index(self, file: SegmentFile) -> Iterator[str]:
        if self._wanted.sanity_only:
            yield self._sanity(file, TimeIndex.ENTRY.size)
            return
        before: int | None = None
        for found in times(file, self._wrong):
            logged = found.logged
            if logged is not None and logged.last_offset != found.offset:
                line = f"Indexed offset: {found.offset}, found log offset: {logged.last_offset}"
                self._findings[_NOT_FOUND][file.path].append(line)
            if logged is not None and found.logged_timestamp != found.timestamp:
                line = f"  Index timestamp: {found.timestamp}, log timestamp: {found.logged_timestamp}"
                self._findings[_TIME_MISMATCHES][file.path].append(line)
            if before is not None and found.timestamp < before:
                line = f"  Index timestamp: {found.timestamp}, Previously indexed timestamp: {before}"
                self._findings[_UNORDERED_TIMES][file.path].append(line)
            before = found.timestamp
            if not self._wanted.verify_only:
                yield f"timestamp: {found.timestamp} offset: {found.offset}"

    def _sanity(self, file: SegmentFile, entry_size: int) -> str:
        size = os.path.getsize(file.path)
        if size % entry_size:
            raise StorageError(
                f"Index file {os.path.abspath(file.path)} is corrupt, found {size} bytes which is neither "
                f"positive nor a multiple of {entry_size}"
            )
        return f"{file.path} passed sanity check."

    def _wrong(self, what: str) -> None:
        del what  # said in Kafka's words, where it has any
        self.is_damaged = True


def _batch_line(found: FoundBatch) -> str:
    header = found.header
    is_transactional, is_control = header.attributes & TRANSACTIONAL, header.attributes & CONTROL
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.record_count} "
        f"baseSequence: {header.base_sequence} lastSequence: {_last_sequence(header)} "
        f"producerId: {header.producer_id} producerEpoch: {header.producer_epoch} "
        f"partitionLeaderEpoch: {header.leader_epoch} "
        f"isTransactional: {_boolean(is_transactional)} isControl: {_boolean(is_control)} "
        f"deleteHorizonMs: {_optional(header.delete_horizon_ms)} position: {found.position} "
        f"{_time_type(header)}: {header.max_timestamp} size: {header.size} magic: {header.magic} "
        f"compresscodec: {Codec(header.attributes & COMPRESSION_MASK).name.lower()} crc: {header.crc} "
        f"isvalid: {_boolean(found.is_sound)}"
    )


def _metadata(header: BatchHeader, record: Record) -> str:
    sequence = header.base_sequence
    if sequence != NO_SEQUENCE:
        sequence = (sequence + record.offset - header.base_offset) & SEQUENCE_MASK
    return (
        f"offset: {record.offset} {_time_type(header)}: {record.timestamp} keySize: {_size(record.key)} "
        f"valueSize: {_size(record.value)} sequence: {sequence} "
        f"headerKeys: [{','.join(name for name, _ in record.headers)}]"
    )


def _marker(record: Record) -> str:
    marker = decode_marker(record.key, record.value)
    if marker is None:
        return ""
    return f" endTxnMarker: {marker.type.name} coordinatorEpoch: {marker.coordinator_epoch}"


def _transactions(file: SegmentFile, wrong: Wrong) -> Iterator[str]:
    for found in aborted(file, wrong):
        yield (
            f"version: 0 producerId: {found.producer_id} firstOffset: {found.first_offset} "
            f"lastOffset: {found.last_offset} lastStableOffset: {found.last_stable_offset}"
        )


def _snapshot(file: SegmentFile) -> Iterator[str]:
    for each in producers(file):
        first_offset = each.transaction_first_offset
        line = (
            f"producerId: {each.producer_id} producerEpoch: {each.epoch} "
            f"coordinatorEpoch: {each.coordinator_epoch} "
            f"currentTxnFirstOffset: {_optional(None if first_offset == NO_OFFSET else first_offset)} "
            f"lastTimestamp: {each.last_timestamp} "
        )
        if each.last_offset != NO_OFFSET:
            first_sequence = each.last_sequence
            if first_sequence != NO_SEQUENCE:
                first_sequence = (first_sequence - each.last_offset_delta) & SEQUENCE_MASK
            line += (
                f"firstSequence: {first_sequence} lastSequence: {each.last_sequence} "
                f"lastOffset: {each.last_offset} offsetDelta: {each.last_offset_delta} "
                f"timestamp: {each.last_timestamp}"
            )
        yield line


def _last_sequence(header: BatchHeader) -> int:
    if header.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return (header.base_sequence + header.last_offset_delta) & SEQUENCE_MASK


def _time_type(header: BatchHeader) -> str:
    return "LogAppendTime" if header.attributes & LOG_APPEND_TIME else "CreateTime"


def _optional(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def _boolean(value: int) -> str:
    return "true" if value else "false"


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)
