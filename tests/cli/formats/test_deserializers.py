"""What Kafka's deserializers make of bytes, as a text."""

from __future__ import annotations

import struct

import pytest

from odradek.cli.formats.deserializers import Undeserializable, deserializer, is_known

PACKAGE = "org.apache.kafka.common.serialization."


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("ByteArray", b"\xff", b"\xff"),
        ("String", b"\xff", "\ufffd".encode()),
        ("Bytes", b"a\\ \x00\xe4", rb"a\x5C \x00\xE4"),
        ("Short", b"\xff\xff", b"-1"),
        ("Integer", b"\x00\x00\x01\x00", b"256"),
        ("Long", struct.pack(">q", -(2**63)), b"-9223372036854775808"),
        ("Double", struct.pack(">d", 0.1), b"0.1"),
        ("Double", struct.pack(">d", 1e7), b"1.0E7"),
        ("Float", struct.pack(">f", 0.1), b"0.1"),
        ("Float", struct.pack(">f", 2.6100788e20), b"2.6100788E20"),
        ("Float", struct.pack(">f", 16777216.0), b"1.6777216E7"),
        ("Boolean", b"\x01", b"true"),
        ("Boolean", b"\x00", b"false"),
        ("UUID", b"123E4567-e89b-12d3-a456-426614174000", b"123e4567-e89b-12d3-a456-426614174000"),
        ("Void", b"", b""),
        ("SomethingElse", b"\xff", b"\xff"),
    ],
)
def test_bytes_mean_what_the_name_says(name: str, data: bytes, text: bytes) -> None:
    assert deserializer(f"{PACKAGE}{name}Deserializer")(data) == text
    assert deserializer(f"{name}Deserializer")(data) == text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Integer", b""),
        ("Long", b"1234567"),
        ("Double", b"123456789"),
        ("Boolean", b"\x02"),
        ("UUID", b"x"),
        ("Void", b"x"),
    ],
)
def test_bytes_that_mean_nothing_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(Undeserializable):
        deserializer(f"{name}Deserializer")(data)


def test_names_are_known_or_not() -> None:
    assert is_known(f"{PACKAGE}LongDeserializer")
    assert not is_known("com.example.MyDeserializer")
