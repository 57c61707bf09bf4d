"""The records inside a batch: read them, check them, thin them out, and build batches of them.

The produce and fetch paths never come here. Who does: compaction, coordinators that load their partition,
look-ups by time, key checks on compacted topics, clients and tools. The walk itself is `kernel.py`, which is
compiled where a C compiler was there at installation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from odradek.model.errors import ErrorCode
from odradek.wire import kernel
from odradek.wire.batch import (
    COMPRESSION_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    BadBatch,
    BatchHeader,
    Buffer,
    read_header,
    sealed,
)
from odradek.wire.compression import DECOMPRESSED_SIZE_MAX, Codec, compress, decompress

_INT64_MAX = (1 << 63) - 1


class Record(NamedTuple):
    """One record as its consumer sees it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: kernel.Headers = ()


class Producer(NamedTuple):
    """Who wrote a batch, for idempotence: the sequence is that of its first record."""

    id: int = NO_PRODUCER_ID
    epoch: int = NO_PRODUCER_EPOCH
    sequence: int = NO_SEQUENCE


def read_records(batch: Buffer, at: int = 0, *, size_max: int = DECOMPRESSED_SIZE_MAX) -> Iterator[Record]:
    """The records of the batch at `at`, one by one. Raises BadBatch where it finds the first that is none.
    Checks no checksum."""
    header, cursor = _open(batch, at, size_max)
    same_timestamp = bool(header.attributes & LOG_APPEND_TIME)
    timestamp = header.max_timestamp if same_timestamp else header.base_timestamp
    return map(Record._make, kernel.rows(cursor, header.base_offset, timestamp, same_timestamp))


def read_keys(
    batch: Buffer, at: int = 0, *, size_max: int = DECOMPRESSED_SIZE_MAX
) -> Iterator[tuple[int, bytes | None, bool]]:
    """(offset, key, has a value) of each record: what compaction asks. Without a value it is a tombstone."""
    header, cursor = _open(batch, at, size_max)
    return kernel.keys(cursor, header.base_offset)


def check_records(batch: Buffer, at: int = 0, *, size_max: int = DECOMPRESSED_SIZE_MAX) -> list[int]:
    """Walk a produced batch: every record whole, offsets without gaps, as many as announced. Returns the
    indices of the records without a key, which a compacted topic refuses. Makes no objects."""
    header, cursor = _open(batch, at, size_max)
    if header.record_count != header.last_offset_delta + 1:
        detail = f"{header.record_count} records on {header.last_offset_delta + 1} offsets"
        raise BadBatch(ErrorCode.INVALID_RECORD, detail)
    return kernel.walk(cursor)


def retain(
    batch: Buffer, kept: Sequence[bool] | bytes, at: int = 0, *, delete_horizon_ms: int | None = None
) -> bytearray:
    """The batch with only those records whose place in `kept` is true (one place a record).

    Offsets, producer, sequence, epoch, codec and attributes stay; the largest timestamp becomes that of what
    is left. With nothing left: the header alone, as Kafka keeps it for a producer's last sequence. A delete
    horizon, once set, stays; `delete_horizon_ms` sets it where the batch had none."""
    header, cursor = _open(batch, at, DECOMPRESSED_SIZE_MAX)
    mask = bytes(kept)
    assert len(mask) == header.record_count
    attributes, base_timestamp = header.attributes, header.base_timestamp
    if delete_horizon_ms is not None and not attributes & DELETE_HORIZON:
        attributes, base_timestamp = attributes | DELETE_HORIZON, delete_horizon_ms
    elif all(mask):
        return bytearray(memoryview(batch)[at : at + header.size])

    if attributes & LOG_APPEND_TIME:  # what the records say of time then means nothing, and is left alone
        payload, count, _ = kernel.retained(cursor, mask, 0, 0)
        max_timestamp = header.max_timestamp
    else:
        payload, count, max_timestamp = kernel.retained(cursor, mask, header.base_timestamp, base_timestamp)
    if not count:
        return sealed(_emptied(header), b"")
    header = header._replace(
        attributes=attributes, base_timestamp=base_timestamp, max_timestamp=max_timestamp, record_count=count
    )
    return sealed(header, compress(_codec(header), payload))


def _open(batch: Buffer, at: int, size_max: int) -> tuple[BatchHeader, kernel.Cursor]:
    """The header, and a cursor before the first record."""
    if len(batch) - at < HEADER_SIZE:
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, f"{len(batch) - at} bytes are no batch")
    header = read_header(batch, at)
    if not HEADER_SIZE <= header.size <= len(batch) - at or header.magic != MAGIC:
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, f"no whole batch at byte {at}: {header}")
    if header.record_count < 0 or not 0 <= header.base_offset <= _INT64_MAX - header.last_offset_delta:
        raise BadBatch(ErrorCode.INVALID_RECORD, f"a batch of impossible numbers at byte {at}: {header}")
    codec = _codec(header)
    packed = memoryview(batch)[at + HEADER_SIZE : at + header.size]
    payload = decompress(codec, packed, size_max) if header.record_count else bytes(packed)
    return header, kernel.Cursor(payload, header.record_count, header.last_offset_delta)


def _codec(header: BatchHeader) -> Codec:
    number = header.attributes & COMPRESSION_MASK
    if number > Codec.ZSTD:
        raise BadBatch(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"codec {number}")
    return Codec(number)


def _emptied(header: BatchHeader) -> BatchHeader:
    """The header Kafka leaves of a batch whose records are all gone."""
    return header._replace(
        attributes=header.attributes & (LOG_APPEND_TIME | TRANSACTIONAL | CONTROL),
        base_timestamp=NO_TIMESTAMP,
        record_count=0,
    )


NO_PRODUCER = Producer()


class BatchBuilder:
    """One batch in the making.

    builder = BatchBuilder(codec=Codec.LZ4)
    builder.append(timestamp, key, value, [("name", b"value")])
    batch = builder.build()
    """

    def __init__(
        self,
        *,
        base_offset: int = 0,
        codec: Codec = Codec.NONE,
        level: int | None = None,
        producer: Producer = NO_PRODUCER,
        transactional: bool = False,
        control: bool = False,
        log_append_time_ms: int | None = None,
        leader_epoch: int = NO_LEADER_EPOCH,
    ) -> None:
        self.count = 0
        self._codec = codec
        self._level = level
        self._payload = bytearray()
        attributes = codec | (TRANSACTIONAL if transactional else 0) | (CONTROL if control else 0)
        if log_append_time_ms is not None:
            attributes |= LOG_APPEND_TIME
        self._log_append_time_ms = log_append_time_ms
        self._base_offset = base_offset
        self._last_offset = base_offset - 1
        self._base_timestamp = self._max_timestamp = NO_TIMESTAMP
        self._attributes = attributes
        self._leader_epoch = leader_epoch
        self._producer = producer

    @property
    def size(self) -> int:
        """Bytes so far, header included, before compression."""
        return HEADER_SIZE + len(self._payload)

    def append(
        self,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[kernel.Header] = (),
        *,
        offset: int | None = None,
    ) -> None:
        """Add a record; its offset follows the last one's unless given (compaction leaves gaps)."""
        if offset is None:
            offset = self._last_offset + 1
        assert offset > self._last_offset
        if not self.count:
            self._base_timestamp = self._max_timestamp = timestamp
        delta = timestamp - self._base_timestamp
        assert -_INT64_MAX - 1 <= delta <= _INT64_MAX
        self._payload += kernel.encoded(offset - self._base_offset, delta, key, value, headers)
        self._last_offset = offset
        self._max_timestamp = max(self._max_timestamp, timestamp)
        self.count += 1

    def build(self) -> bytearray:
        """The sealed batch of what was appended, of which there must be something."""
        assert self.count
        appended = self._log_append_time_ms
        header = BatchHeader(
            base_offset=self._base_offset,
            length=0,  # computed when sealed, as are magic and checksum
            leader_epoch=self._leader_epoch,
            magic=MAGIC,
            crc=0,
            attributes=self._attributes,
            last_offset_delta=self._last_offset - self._base_offset,
            base_timestamp=self._base_timestamp,
            max_timestamp=self._max_timestamp if appended is None else appended,
            producer_id=self._producer.id,
            producer_epoch=self._producer.epoch,
            base_sequence=self._producer.sequence,
            record_count=self.count,
        )
        return sealed(header, compress(self._codec, self._payload, self._level))


_NUMBERS_SIZE_MAX = 5 + 1 + 10 + 5 + 5 + 5 + 5  # size, attributes, timestamp, offset, key, value, headers
_HEADER_NUMBERS_SIZE_MAX = 5 + 5


def record_size_max(key: bytes | None, value: bytes | None, headers: Sequence[kernel.Header] = ()) -> int:
    """How many bytes a record adds to a batch at most, before compression. Cheap: no number is encoded."""
    size = _NUMBERS_SIZE_MAX + len(key or b"") + len(value or b"")
    for name, content in headers:
        size += _HEADER_NUMBERS_SIZE_MAX + len(name.encode()) + len(content or b"")
    return size
