"""CRC-32C, Kafka's checksum: by the C extension, or from a table where that is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from odradek.wire.batch import Buffer

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed


def _table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


_TABLE = _table()


def crc32c_from_table(data: Buffer, before: int = 0) -> int:
    """The checksum of `data`, going on from that of what came before it."""
    crc = before ^ 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


crc32c: Callable[[Buffer], int]
try:
    from fastcrc import crc32

    crc32c = crc32.iscsi
except ImportError:
    crc32c = crc32c_from_table
