"""Bytes to messages and back, by functions compiled once for each message and version in use.

    decode, encode = decoder(FetchRequest, 17), encoder(FetchResponse, 17)
    request, end = decode(frame, at)
    parts = encode(response, bytearray(prefix))

How they look can be seen by printing `"\\n".join(decoding(FetchRequest, 17).lines)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from odradek.wire.decoding import decoding
from odradek.wire.encoding import encoding
from odradek.wire.parts import FileSlice
from odradek.wire.primitives import ITEMS_MAX
from odradek.wire.schema import declaration

if TYPE_CHECKING:
    from collections.abc import Callable

    from odradek.wire.batch import Buffer
    from odradek.wire.parts import Part

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# (message, out) -> parts: `out` with the message appended, and whatever is to be sent uncopied after it.
# Raises `Unencodable`.
Encoder: TypeAlias = "Callable[[T, bytearray], list[Part]]"


class Decoder(Protocol[T_co]):
    """The message at a position, and where it ends. Records in it are views into the data. `Malformed` is
    raised as well where its arrays have more than `items_max` items together."""

    def __call__(self, data: Buffer, at: int = 0, items_max: int = ITEMS_MAX, /) -> tuple[T_co, int]: ...


def decoder(cls: type[T], version: int) -> Decoder[T]:
    """The function that decodes this message in this version; compiled when first asked for."""
    return cast("Decoder[T]", _compiled(cls, version, "decode"))


def encoder(cls: type[T], version: int) -> Encoder[T]:
    """The function that encodes this message in this version; compiled when first asked for."""
    return cast("Encoder[T]", _compiled(cls, version, "encode"))


def decode(cls: type[T], version: int, data: Buffer, at: int = 0) -> T:
    """The message there. What follows it is left alone, as Kafka does: a newer peer may have said more."""
    value, _ = decoder(cls, version)(data, at)
    return value


def encode(value: object, version: int) -> bytes:
    """The message as one piece of bytes, records included."""
    parts = encode_parts(value, version)
    return b"".join(part.read() if isinstance(part, FileSlice) else part for part in parts)


def encode_parts(value: object, version: int, prefix: Buffer = b"") -> list[Part]:
    """The message after a prefix, in parts: records are neither read nor copied."""
    return encoder(type(value), version)(value, bytearray(prefix))


def _compiled(cls: type, version: int, direction: str) -> Any:
    declared = declaration(cls)
    made = declared.compiled.get((direction, version))
    if made is None:
        if declared.versions is not None and version not in declared.versions:
            raise ValueError(f"{cls.__name__} has no version {version}")
        source = (decoding if direction == "decode" else encoding)(cls, version)
        made = source.made(direction, f"<{direction} {cls.__name__} v{version}>")
        declared.compiled[direction, version] = made
    return made
