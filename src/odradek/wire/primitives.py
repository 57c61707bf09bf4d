"""What compiled codecs call where straight-line code would not do: long lengths, tagged fields, refusals.

Generated code handles the common case inline (a compact length below 128 is one byte); the rest is here, and
so is every bound on what a peer may claim. What refuses raises `ValueError`; the codec around it adds which
field of which message it was.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odradek.wire.batch import Buffer
    from odradek.wire.schema import UnknownTags

ARRAY_LENGTH_MAX: Final = 1_000_000
ITEMS_MAX: Final = 10_000_000  # of all arrays together, where a message's reader names no bound of its own
TAGGED_FIELDS_MAX: Final = 10_000
STRING_SIZE_MAX: Final = 0x7FFF
INT32_MAX: Final = 0x7FFFFFFF

TRUNCATED: Final = "the bytes end before the message does"

SHORT: Final = 128  # a variable-size number below this is one byte
PREPARED: Final = 16  # arrays of fewer numbers are read and written by a `Struct` made beforehand


class Malformed(Exception):
    """These bytes are not this message in this version."""

    def __init__(self, message: str, field: str, position: int, reason: str) -> None:
        super().__init__(f"{message}, {field or 'as a whole'}, byte {position}: {reason}")
        self.message = message
        self.field = field
        self.position = position


class Unencodable(Exception):
    """This version cannot say this value: null where it has no null, or a number out of its type's range."""

    def __init__(self, message: str, field: str, reason: str) -> None:
        super().__init__(f"{message}, {field or 'as a whole'}: {reason}")
        self.message = message
        self.field = field


# -- numbers of variable size ------------------------------------------------------------------------------


def read_uvarint(data: Buffer, at: int) -> tuple[int, int]:
    """The number, and where it ends. At most five bytes, and never above what a signed int32 holds."""
    first = data[at]
    return (first, at + 1) if first < SHORT else uvarint_rest(data, at + 1, first)


def uvarint_rest(data: Buffer, at: int, first: int) -> tuple[int, int]:
    """The number whose first byte has been read, and where it ends."""
    value, shift, byte = first & 0x7F, 7, first
    while byte >= SHORT:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if value > INT32_MAX or shift > 35:
            raise ValueError("a variable-size number above the largest int32")
    return value, at


def uvarint(value: int) -> bytes:
    encoded = bytearray()
    while value >= SHORT:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


# -- reading: lengths that are not short -------------------------------------------------------------------


def compact_string_size(data: Buffer, at: int, first: int) -> tuple[int, int]:
    """One more than the size of a string that is null or not short, and where its bytes begin."""
    size, at = compact_bytes_size(data, at, first)
    if size > STRING_SIZE_MAX + 1:
        raise ValueError(f"a string of {size - 1} bytes, {STRING_SIZE_MAX} at most")
    return size, at


def compact_bytes_size(data: Buffer, at: int, first: int) -> tuple[int, int]:
    size, at = uvarint_rest(data, at, first)
    if not size:
        refuse_null()
    return size, at


def compact_array_length(data: Buffer, at: int, first: int, item_size_min: int) -> tuple[int, int]:
    """One more than the number of items, and where they begin."""
    length, at = uvarint_rest(data, at, first)
    checked_length(length - 1, len(data) - at, item_size_min)
    return length, at


def checked_length(length: int, rest: int, item_size_min: int) -> int:
    if length < 0:
        refuse_null()
    if length > ARRAY_LENGTH_MAX:
        raise ValueError(f"an array of {length} items, {ARRAY_LENGTH_MAX} at most")
    if length * item_size_min > rest:
        raise ValueError(f"an array of {length} items in {rest} bytes")
    return length


def refuse_null() -> NoReturn:
    raise ValueError("null where this version has no null")


def refuse_items() -> NoReturn:
    raise ValueError("more items in all its arrays than are taken")


def refuse_truncated() -> NoReturn:
    raise ValueError(TRUNCATED)


# -- reading: tagged fields --------------------------------------------------------------------------------


def tag_count(data: Buffer, at: int, first: int) -> tuple[int, int]:
    count, at = uvarint_rest(data, at, first)
    if count > TAGGED_FIELDS_MAX:
        raise ValueError(f"{count} tagged fields, {TAGGED_FIELDS_MAX} at most")
    return count, at


def read_tag(data: Buffer, at: int, before: int) -> tuple[int, int, int]:
    """A tag, where its field begins and where it ends. Tags ascend: `before` is the one before it."""
    tag, at = read_uvarint(data, at)
    if tag <= before:
        raise ValueError(f"tag {tag} after tag {before}")
    size, at = read_uvarint(data, at)
    if at + size > len(data):
        refuse_truncated()
    return tag, at, at + size


def read_unknown_tags(data: Buffer, at: int, first: int) -> tuple[UnknownTags, int]:
    """All of a struct's tagged fields, where its declaration knows none, and where they end."""
    count, at = tag_count(data, at, first)
    found = []
    tag = -1
    for _ in range(count):
        tag, at, end = read_tag(data, at, tag)
        found.append((tag, bytes(data[at:end])))
        at = end
    return tuple(found), at


def refuse_tag_size() -> NoReturn:
    raise ValueError("a tagged field of another size than it claims")


# -- writing -----------------------------------------------------------------------------------------------


def compact_string_prefix(size_and_one: int) -> bytes:
    if size_and_one > STRING_SIZE_MAX + 1:
        raise ValueError(f"a string of {size_and_one - 1} bytes, {STRING_SIZE_MAX} at most")
    return uvarint(size_and_one)


def tagged_fields(fields: Sequence[tuple[int, Buffer]]) -> bytes:
    """A struct's tagged fields, by ascending tag."""
    encoded = bytearray(uvarint(len(fields)))
    before = -1
    for tag, field in sorted(fields, key=_tag):
        if tag == before:
            raise ValueError(f"tag {tag} twice")
        before = tag
        encoded += uvarint(tag)
        encoded += uvarint(len(field))
        encoded += field
    return bytes(encoded)


def _tag(field: tuple[int, Buffer]) -> int:
    return field[0]


# -- arrays of fixed-width numbers -------------------------------------------------------------------------


@cache
def number_readers(code: str) -> tuple[Callable[[Buffer, int], tuple[int, ...]], ...]:
    """What reads an array of `code`, by its length."""
    return tuple(struct.Struct(f">{length}{code}").unpack_from for length in range(PREPARED))


@cache
def number_writers(code: str) -> tuple[Callable[..., bytes], ...]:
    """What writes an array of `code`, by its length."""
    return tuple(struct.Struct(f">{length}{code}").pack for length in range(PREPARED))
