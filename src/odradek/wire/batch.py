"""A record batch stays bytes; this module reads its 61-byte header, cuts a buffer into batches and re-stamps
a batch in place.

What is wrong with a batch is raised as a `BadBatch`: an `ApiError` with Kafka's code for it, so that a
producer is answered with it as it stands, while a log that reads its own files knows where it broke.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, TypeAlias

from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.checksum import crc32c

Buffer: TypeAlias = bytes | bytearray | memoryview

_HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE = _HEADER.size
LENGTH_AT = 8
LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
CRC_COVERS_FROM = 21
ATTRIBUTES_AT = 21
MAX_TIMESTAMP_AT = 35
LOG_OVERHEAD = 12  # base offset and length: what a length does not count
MAGIC = 2
_LEGACY_SIZE_MIN = LOG_OVERHEAD + 14  # of a record of format 0
assert HEADER_SIZE == 61
assert LEADER_EPOCH_AT + 4 <= CRC_COVERS_FROM  # why stamp() needs no new checksum

_BASE_OFFSET = struct.Struct(">q")
_LENGTH = struct.Struct(">i")
_LEADER_EPOCH = struct.Struct(">i")
_CRC = struct.Struct(">I")
_ATTRIBUTES = struct.Struct(">h")
_MAX_TIMESTAMP = struct.Struct(">q")

COMPRESSION_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1
NO_LEADER_EPOCH = -1


class BadBatch(ApiError):
    """These bytes are no batch, or one that contradicts itself."""


class BatchHeader(NamedTuple):
    """The fixed front of a batch, as numbers."""

    base_offset: int
    length: int  # bytes after this field
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size(self) -> int:
        return LOG_OVERHEAD + self.length

    @property
    def delete_horizon_ms(self) -> int | None:
        """When a compacted batch's tombstones and markers may go; it takes the base timestamp's place."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None


def read_header(batch: Buffer, at: int = 0) -> BatchHeader:
    return BatchHeader._make(_HEADER.unpack_from(batch, at))


def split(buffer: Buffer) -> list[tuple[int, BatchHeader]]:
    """Where each batch of a buffer begins, and its header. A last batch that is cut off, as a reply to a
    fetch may end, is left out: the batches then end before the buffer does."""
    end = len(buffer)
    if end >= HEADER_SIZE:
        header = read_header(buffer)
        if header.size == end and header.magic == MAGIC:
            return [(0, header)]
    return _split_many(buffer)


def _split_many(buffer: Buffer) -> list[tuple[int, BatchHeader]]:
    found: list[tuple[int, BatchHeader]] = []
    at = 0
    while len(buffer) - at > MAGIC_AT:
        size = batch_size(buffer, at)
        if at + size > len(buffer):
            break
        found.append((at, read_header(buffer, at)))
        at += size
    return found


def batch_size(buffer: Buffer, at: int = 0) -> int:
    """How many bytes the batch that begins here says it has. Looks at no more than its first 17 bytes."""
    magic = buffer[at + MAGIC_AT]
    size = LOG_OVERHEAD + int(_LENGTH.unpack_from(buffer, at + LENGTH_AT)[0])
    if magic != MAGIC and size >= _LEGACY_SIZE_MIN:
        # Formats 0 and 1 are a client's mistake, anything else is no batch at all.
        error = ErrorCode.INVALID_RECORD if magic < MAGIC else ErrorCode.CORRUPT_MESSAGE
        raise BadBatch(error, f"magic {magic} at byte {at}, only {MAGIC} is served")
    if size < HEADER_SIZE:
        raise BadBatch(
            ErrorCode.CORRUPT_MESSAGE, f"a batch of {size} bytes at byte {at}, {HEADER_SIZE} at least"
        )
    return size


def checksum(batch: Buffer, at: int = 0) -> int:
    """What the checksum of the whole batch at `at` should be."""
    end = at + LOG_OVERHEAD + int(_LENGTH.unpack_from(batch, at + LENGTH_AT)[0])
    return crc32c(memoryview(batch)[at + CRC_COVERS_FROM : end])


def check_checksum(batch: Buffer, header: BatchHeader, at: int = 0) -> None:
    found = crc32c(memoryview(batch)[at + CRC_COVERS_FROM : at + header.size])
    if found != header.crc:
        raise BadBatch(
            ErrorCode.CORRUPT_MESSAGE,
            f"checksum {found:#010x} at byte {at}, its header says {header.crc:#010x}",
        )


def stamp(batch: bytearray | memoryview, base_offset: int, leader_epoch: int, at: int = 0) -> None:
    """Give a produced batch its place in the log. Both fields lie outside the checksum."""
    _BASE_OFFSET.pack_into(batch, at, base_offset)
    _LEADER_EPOCH.pack_into(batch, at + LEADER_EPOCH_AT, leader_epoch)


def stamp_time(
    batch: bytearray | memoryview, max_timestamp: int, *, log_append_time: bool, at: int = 0
) -> None:
    """Replace the batch's largest timestamp, and say whether it is the log's own time for all records.
    Both lie inside the checksum, which is computed anew."""
    (attributes,) = _ATTRIBUTES.unpack_from(batch, at + ATTRIBUTES_AT)
    kept = attributes & ~LOG_APPEND_TIME
    _ATTRIBUTES.pack_into(batch, at + ATTRIBUTES_AT, kept | (LOG_APPEND_TIME if log_append_time else 0))
    _MAX_TIMESTAMP.pack_into(batch, at + MAX_TIMESTAMP_AT, max_timestamp)
    _CRC.pack_into(batch, at + CRC_AT, checksum(batch, at))


def sealed(header: BatchHeader, payload: Buffer) -> bytearray:
    """A whole batch of a header and the records behind it; length and checksum are computed here."""
    batch = bytearray(HEADER_SIZE)
    length = HEADER_SIZE - LOG_OVERHEAD + len(payload)
    _HEADER.pack_into(batch, 0, *header._replace(length=length, magic=MAGIC, crc=0))
    batch += payload
    _CRC.pack_into(batch, CRC_AT, checksum(batch))
    return batch
