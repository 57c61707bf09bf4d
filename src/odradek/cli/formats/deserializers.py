"""What the bytes of keys and values mean, by the names of Kafka's deserializers."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from typing import TypeAlias

from odradek.model.config.values import write

Deserializer: TypeAlias = Callable[[bytes], bytes]  # to the text that is shown

_PACKAGE = "org.apache.kafka.common.serialization."


class Undeserializable(Exception):
    """These bytes do not mean that."""


def deserializer(name: str) -> Deserializer:
    """By its class's name, with or without package. Bytes stay as they are for a name that is unknown."""
    return _BY_NAME.get(name.removeprefix(_PACKAGE).removesuffix("Deserializer"), as_it_is)


def is_known(name: str) -> bool:
    return name.removeprefix(_PACKAGE).removesuffix("Deserializer") in _BY_NAME


def as_it_is(data: bytes) -> bytes:
    return data


def _text(data: bytes) -> bytes:
    return data.decode(errors="replace").encode()


def _number(name: str, code: str) -> Deserializer:
    layout = struct.Struct(f">{code}")

    def deserialized(data: bytes) -> bytes:
        if len(data) != layout.size:
            raise Undeserializable(f"Size of data received by {name}Deserializer is not {layout.size}")
        number = layout.unpack(data)[0]
        return (write(_shortest(number) if code == "f" else number) or "").encode()

    return deserialized


def _shortest(number: float) -> float:
    """The number with the fewest digits that a float of four bytes cannot tell from this one."""
    candidates = (float(f"{number:.{digits}g}") for digits in range(1, 9))
    same = struct.pack(">f", number)
    return next((each for each in candidates if struct.pack(">f", each) == same), number)


def _truth(data: bytes) -> bytes:
    if data not in (b"\0", b"\1"):
        raise Undeserializable(f"Size of data received by BooleanDeserializer is not 1: {len(data)}")
    return b"true" if data == b"\1" else b"false"


def _uuid(data: bytes) -> bytes:
    try:
        return str(uuid.UUID(data.decode())).encode()
    except ValueError as bad:
        raise Undeserializable(f"Error parsing data into UUID: {bad}") from None


def _shown_bytes(data: bytes) -> bytes:
    """Printable ASCII as it is, anything else as \\xNN."""
    return b"".join(
        bytes([each]) if 0x20 <= each < 0x7F and each != 0x5C else b"\\x%02X" % each for each in data
    )


def _nothing(data: bytes) -> bytes:
    if data:
        raise Undeserializable("Data should be null for a VoidDeserializer.")
    return b""


_BY_NAME: dict[str, Deserializer] = {
    "ByteArray": as_it_is,
    "Bytes": _shown_bytes,
    "String": _text,
    "Short": _number("Short", "h"),
    "Integer": _number("Integer", "i"),
    "Long": _number("Long", "q"),
    "Float": _number("Float", "f"),
    "Double": _number("Double", "d"),
    "Boolean": _truth,
    "UUID": _uuid,
    "Void": _nothing,
}
