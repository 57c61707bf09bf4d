"""A record batch stays bytes; this module reads its 61-byte header and re-stamps it in place."""

from __future__ import annotations

import struct
from typing import NamedTuple, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

_HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE = _HEADER.size
LENGTH_AT = 8
LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
CRC_COVERS_FROM = 21
LOG_OVERHEAD = 12  # base offset and length: what a length does not count
assert HEADER_SIZE == 61
assert LEADER_EPOCH_AT + 4 <= CRC_COVERS_FROM  # why stamp() needs no new checksum

_BASE_OFFSET = struct.Struct(">q")
_LEADER_EPOCH = struct.Struct(">i")

COMPRESSION_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40


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
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size(self) -> int:
        return LOG_OVERHEAD + self.length


def read_header(batch: Buffer, at: int = 0) -> BatchHeader:
    return BatchHeader._make(_HEADER.unpack_from(batch, at))


def stamp(batch: bytearray | memoryview, base_offset: int, leader_epoch: int, at: int = 0) -> None:
    """Give a produced batch its place in the log. Both fields lie outside the checksum."""
    _BASE_OFFSET.pack_into(batch, at, base_offset)
    _LEADER_EPOCH.pack_into(batch, at + LEADER_EPOCH_AT, leader_epoch)
