"""Numbers of variable size: what every compact length, count and tag is."""

from __future__ import annotations

import pytest

from odradek.wire.primitives import INT32_MAX, read_uvarint, uvarint


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16_383, "ff7f"),
        (16_384, "808001"),
        (INT32_MAX, "ffffffff07"),
    ],
)
def test_a_number_takes_seven_bits_a_byte(value: int, encoded: str) -> None:
    assert uvarint(value).hex() == encoded
    assert read_uvarint(bytes.fromhex("ee" + encoded + "ee"), 1) == (value, 1 + len(encoded) // 2)


def test_a_number_may_be_longer_than_it_needs_to_be() -> None:
    assert read_uvarint(bytes.fromhex("8080808000"), 0) == (0, 5)


@pytest.mark.parametrize("encoded", ["8080808008", "ffffffff0f", "ffffffffff01", "808080808000"])
def test_a_number_above_int32_or_of_six_bytes_is_refused(encoded: str) -> None:
    with pytest.raises(ValueError, match="above the largest int32"):
        read_uvarint(bytes.fromhex(encoded), 0)


def test_a_number_that_does_not_end_is_refused() -> None:
    with pytest.raises(IndexError):
        read_uvarint(b"\x80\x80", 0)
