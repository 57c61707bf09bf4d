"""CRC-32C against its published check values, and the table against the extension."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.wire.checksum import crc32c, crc32c_from_table

PUBLISHED = [  # RFC 3720, B.4, and the check value of the CRC catalogue
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
]


@pytest.mark.parametrize(("data", "expected"), PUBLISHED)
def test_published_values(data: bytes, expected: int) -> None:
    assert crc32c(data) == crc32c_from_table(data) == expected


@given(st.binary(max_size=200))
def test_the_table_agrees_with_the_extension_on_every_kind_of_buffer(data: bytes) -> None:
    expected = crc32c_from_table(data)
    assert crc32c(data) == crc32c(bytearray(data)) == crc32c(memoryview(data)) == expected


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_a_checksum_goes_on_from_what_came_before(front: bytes, back: bytes) -> None:
    assert crc32c_from_table(back, crc32c_from_table(front)) == crc32c(front + back)
