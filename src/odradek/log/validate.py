"""What a produced batch must satisfy, with Kafka's own error codes, and the time it is stamped with.

The usual batch is judged by its 61-byte header and its checksum alone. Its records are opened only where the
topic asks about each of them (keys on a compacted topic, a lower bound of timestamps, another codec), or to
say for which of them a batch is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from odradek.log.settings import LogSettings
from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.batch import (
    COMPRESSION_MASK,
    CONTROL,
    CRC_COVERS_FROM,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC,
    NO_TIMESTAMP,
    BadBatch,
    BatchHeader,
    check_checksum,
    read_header,
    sealed,
    split,
    stamp_time,
)
from odradek.wire.checksum import crc32c
from odradek.wire.compression import Codec, compress, decompress
from odradek.wire.records import check_records, read_records

_UNLIMITED_MS = (1 << 63) - 1


class RefusedRecord(NamedTuple):
    """Which record of a batch was not accepted (counted from 0), and why."""

    batch_index: int
    reason: str


class RecordsRefused(ApiError):
    """A batch is refused for some of its records."""

    def __init__(self, error: ErrorCode, records: tuple[RefusedRecord, ...]) -> None:
        super().__init__(error, f"{len(records)} records refused, the first because {records[0].reason}")
        self.records = records


class Admission:
    """What one topic asks of a batch, worked out once from its settings."""

    __slots__ = (
        "_after_max_ms",
        "_before_max_ms",
        "_codec",
        "_level",
        "_needs_keys",
        "_opens_records",
        "_size_max",
        "_time_bit",
    )

    def __init__(self, settings: LogSettings) -> None:
        append_time = settings.message_timestamp_type == "LogAppendTime"
        self._size_max = settings.max_message_bytes
        self._time_bit = LOG_APPEND_TIME if append_time else 0
        self._before_max_ms = _UNLIMITED_MS if append_time else settings.message_timestamp_before_max_ms
        self._after_max_ms = _UNLIMITED_MS if append_time else settings.message_timestamp_after_max_ms
        self._needs_keys = settings.compacted
        self._codec, self._level = _target_codec(settings)
        self._opens_records = self._needs_keys or self._before_max_ms < _UNLIMITED_MS

    def admit(
        self, records: bytearray | memoryview, now_ms: int, *, from_client: bool
    ) -> tuple[bytearray | memoryview, BatchHeader]:
        """The batch as it is to be stored, and its header; `ApiError` if it may not be."""
        if len(records) < HEADER_SIZE:
            raise BadBatch(ErrorCode.INVALID_RECORD, f"{len(records)} bytes hold no whole batch")
        header = read_header(records)
        base_offset, length, _, magic, crc, attributes, last_delta, _, max_timestamp, *_ = header
        if magic != MAGIC or length + LOG_OVERHEAD != len(records):
            return self.admit(_only_batch(records), now_ms, from_client=from_client)
        if length + LOG_OVERHEAD > self._size_max:
            raise _too_large(length + LOG_OVERHEAD, self._size_max)
        if crc32c(memoryview(records)[CRC_COVERS_FROM:]) != crc:
            check_checksum(records, header)
        codec = attributes & COMPRESSION_MASK
        if codec > Codec.ZSTD:
            raise BadBatch(ErrorCode.UNKNOWN_SERVER_ERROR, f"codec {codec}")  # as Kafka answers
        if from_client:
            if base_offset or header.record_count != last_delta + 1 or last_delta < 0 or attributes & CONTROL:
                raise _not_for_clients(header)
            if header.producer_id >= 0 and header.base_sequence < 0:
                raise BadBatch(
                    ErrorCode.INVALID_RECORD,
                    f"sequence {header.base_sequence} of producer {header.producer_id}",
                )
            if self._opens_records:
                self._check_records(records, now_ms)
        if max_timestamp > now_ms + self._after_max_ms:
            raise self._out_of_time(records, now_ms)
        if self._codec is not None and codec != self._codec and not attributes & CONTROL:
            records = self._recompress(records, header)
            header = read_header(records)
        if (attributes | self._time_bit) & LOG_APPEND_TIME:
            header = self._stamp_time(records, header, now_ms)
        return records, header

    def _stamp_time(self, batch: bytearray | memoryview, header: BatchHeader, now_ms: int) -> BatchHeader:
        """Whose time a batch has is for the topic to say, not for its producer."""
        if self._time_bit & header.attributes:
            reason = "a producer does not set the log's own time"
            raise RecordsRefused(ErrorCode.INVALID_TIMESTAMP, _each(range(header.record_count), reason))
        max_timestamp = now_ms if self._time_bit else header.max_timestamp
        stamp_time(batch, max_timestamp, log_append_time=bool(self._time_bit))
        return read_header(batch)

    def _check_records(self, batch: bytearray | memoryview, now_ms: int) -> None:
        """Ask about each record what the topic asks."""
        keyless = check_records(batch)
        if self._needs_keys and keyless:
            reason = "a compacted topic takes no record without a key"
            raise RecordsRefused(ErrorCode.INVALID_RECORD, _each(keyless, reason))
        if self._before_max_ms < _UNLIMITED_MS and next(self._untimely(batch, now_ms), None):
            raise self._out_of_time(batch, now_ms)

    def _out_of_time(self, batch: bytearray | memoryview, now_ms: int) -> ApiError:
        refused = tuple(self._untimely(batch, now_ms))
        if not refused:
            return BadBatch(ErrorCode.INVALID_TIMESTAMP, "the header's largest timestamp is no record's")
        return RecordsRefused(ErrorCode.INVALID_TIMESTAMP, refused)

    def _untimely(self, batch: bytearray | memoryview, now_ms: int) -> Iterator[RefusedRecord]:
        earliest, latest = now_ms - self._before_max_ms, now_ms + self._after_max_ms
        for index, record in enumerate(read_records(batch)):
            if record.timestamp != NO_TIMESTAMP and not earliest <= record.timestamp <= latest:
                yield RefusedRecord(index, f"timestamp {record.timestamp} is outside {earliest}..{latest}")

    def _recompress(self, batch: bytearray | memoryview, header: BatchHeader) -> bytearray:
        """Under the topic's codec. The records' bytes are the same under all of them."""
        assert self._codec is not None
        check_records(batch)
        plain = memoryview(batch)[HEADER_SIZE:]
        codec = Codec(header.attributes & COMPRESSION_MASK)
        if codec != Codec.NONE:
            plain = memoryview(decompress(codec, plain))
        attributes = header.attributes & ~COMPRESSION_MASK | self._codec
        stored = sealed(header._replace(attributes=attributes), compress(self._codec, plain, self._level))
        if len(stored) > self._size_max:
            raise _too_large(len(stored), self._size_max)
        return stored


def _target_codec(settings: LogSettings) -> tuple[Codec | None, int | None]:
    match settings.compression_type:
        case "producer":
            return None, None
        case "uncompressed":
            return Codec.NONE, None
        case "gzip":
            return Codec.GZIP, settings.compression_gzip_level
        case "lz4":
            return Codec.LZ4, settings.compression_lz4_level
        case "zstd":
            return Codec.ZSTD, settings.compression_zstd_level
        case name:
            return Codec[name.upper()], None


def _only_batch(records: bytearray | memoryview) -> memoryview:
    """The one batch of a request. Bytes behind it that are no whole batch are left out, as Kafka does."""
    batches = split(records)
    if len(batches) != 1:
        raise BadBatch(ErrorCode.INVALID_RECORD, f"{len(batches)} whole batches, there must be one")
    at, header = batches[0]
    return memoryview(records)[at : at + header.size]


def _each(indices: Iterable[int], reason: str) -> tuple[RefusedRecord, ...]:
    return tuple(RefusedRecord(index, reason) for index in indices)


def _not_for_clients(header: BatchHeader) -> BadBatch:
    if header.base_offset:
        detail = f"the batch begins at offset {header.base_offset}, a producer's begins at 0"
    elif header.attributes & CONTROL:
        detail = "clients write no control records"
    else:
        detail = f"{header.record_count} records on {header.last_offset_delta + 1} offsets"
    return BadBatch(ErrorCode.INVALID_RECORD, detail)


def _too_large(size: int, size_max: int) -> ApiError:
    return ApiError(ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {size} bytes, {size_max} at most")
