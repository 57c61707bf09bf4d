"""The walk over a batch's records: plain typed Python that mypyc compiles where there is a C compiler.

One `Cursor` knows the format; everything else is a loop around it. It trusts nothing: whatever the bytes are,
they end as whole records or in one BadBatch that names the record.

Compiled and pure must agree on every input, and a compiled `i64` wraps around where Python's integer grows.
So varints are bounded as they are read, and sums are checked before they are made. A parameter typed `bytes`
refuses a memoryview when compiled: callers convert.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias, final

from odradek.model.errors import ErrorCode
from odradek.wire.batch import BadBatch

if TYPE_CHECKING:
    from mypy_extensions import i64

Header: TypeAlias = tuple[str, bytes | None]
Headers: TypeAlias = tuple[Header, ...]

_INT64_MAX: Final = 0x7FFF_FFFF_FFFF_FFFF
_INT64_MIN: Final = -_INT64_MAX - 1
_VARINT_SHIFT_MAX: Final = 28  # of the fifth and last byte of an int32
_VARLONG_SHIFT_MAX: Final = 63  # of the tenth and last byte of an int64


@final
class Cursor:
    """One record of a batch after the other, as positions in its payload; nothing is copied.

    Sizes are -1 for null. Offset deltas must grow, and reach the last one at most, because that is all a
    compacted batch promises; in a batch of as many records as offsets it leaves no gap either.
    """

    __slots__ = (
        "_count",
        "_data",
        "_last_offset_delta",
        "header_count",
        "headers_at",
        "index",
        "key_at",
        "key_size",
        "offset_delta",
        "offset_delta_at",
        "start",
        "stop",
        "timestamp_delta",
        "value_at",
        "value_size",
    )

    def __init__(self, data: bytes, count: i64, last_offset_delta: i64) -> None:
        self._data = data
        self._count: i64 = count
        self._last_offset_delta: i64 = last_offset_delta
        self.index: i64 = -1
        self.start: i64 = 0
        self.stop: i64 = 0
        self.timestamp_delta: i64 = 0
        self.offset_delta: i64 = -1
        self.offset_delta_at: i64 = 0
        self.key_at: i64 = 0
        self.key_size: i64 = 0
        self.value_at: i64 = 0
        self.value_size: i64 = 0
        self.headers_at: i64 = 0
        self.header_count: i64 = 0

    def advance(self) -> bool:
        """Go to the next record. False when there is none, and the payload ends where it should."""
        data = self._data
        if self.index + 1 >= self._count:
            if self.stop != len(data):
                self.refuse(f"is the last, {len(data) - self.stop} bytes follow")
            return False
        self.index += 1
        try:
            self._read(data)
        except IndexError:
            self.refuse("is cut off")
        return True

    def _read(self, data: bytes) -> None:
        """The one place that knows a record. Lengths nearly always fit one byte, which is read in line."""
        at = self.start = self.stop
        size: i64 = data[at]
        at += 1
        if size > 0x7F:
            size, at = _long(data, at, size, _VARINT_SHIFT_MAX)
        stop = at + (size >> 1)
        if size & 1 or stop > len(data):
            self.refuse("has no size that fits")
        self.stop = stop

        number: i64 = data[at + 1]  # behind the attributes, of which none is used
        at += 2
        if number > 0x7F:
            number, at = _long(data, at, number, _VARLONG_SHIFT_MAX)
        self.timestamp_delta = (number >> 1 & _INT64_MAX) ^ -(number & 1)

        self.offset_delta_at = at
        number = data[at]
        at += 1
        if number > 0x7F:
            number, at = _long(data, at, number, _VARINT_SHIFT_MAX)
        number = (number >> 1) ^ -(number & 1)
        if not self.offset_delta < number <= self._last_offset_delta:
            self.refuse(f"has offset delta {number}, behind {self.offset_delta} of {self._last_offset_delta}")
        self.offset_delta = number

        number = data[at]
        at += 1
        if number > 0x7F:
            number, at = _long(data, at, number, _VARINT_SHIFT_MAX)
        self.key_at = at
        if number & 1:
            self.key_size = -1
        else:
            self.key_size = number >> 1
            at += number >> 1

        number = data[at]
        at += 1
        if number > 0x7F:
            number, at = _long(data, at, number, _VARINT_SHIFT_MAX)
        self.value_at = at
        if number & 1:
            self.value_size = -1
        else:
            self.value_size = number >> 1
            at += number >> 1

        number = data[at]
        at += 1
        if number > 0x7F:
            number, at = _long(data, at, number, _VARINT_SHIFT_MAX)
        self.headers_at = at
        self.header_count = (number >> 1) ^ -(number & 1)
        if number:
            at = self._past_headers(data, at)
        if at != stop:
            self.refuse(f"is {at - self.start} bytes long, but says {stop - self.start}")

    def _past_headers(self, data: bytes, at: i64) -> i64:
        left = self.header_count
        if left < 0:
            self.refuse("has a negative number of headers")
        while left > 0 and at < self.stop:
            size, at = varint(data, at)
            if size < 0:
                self.refuse("has a header without a name")
            size, at = varint(data, at + size)
            if size > 0:
                at += size
            left -= 1
        if left > 0:
            self.refuse(f"says it has {self.header_count} headers, {left} are missing")
        return at

    def refuse(self, why: str) -> NoReturn:
        raise BadBatch(ErrorCode.INVALID_RECORD, f"record {self.index} of {self._count} {why}")

    def key(self) -> bytes | None:
        return None if self.key_size < 0 else self._data[self.key_at : self.key_at + self.key_size]

    def value(self) -> bytes | None:
        return None if self.value_size < 0 else self._data[self.value_at : self.value_at + self.value_size]

    def headers(self) -> Headers:
        if not self.header_count:
            return ()
        found: list[Header] = []
        data, at = self._data, self.headers_at
        while len(found) < self.header_count:
            size, at = varint(data, at)
            name = data[at : at + size].decode("utf-8", "replace")  # as Java does
            size, at = varint(data, at + size)
            found.append((name, None if size < 0 else data[at : at + size]))
            if size > 0:
                at += size
        return tuple(found)

    def timestamp(self, base: i64) -> i64:
        delta = self.timestamp_delta
        if (delta >= 0 and base > _INT64_MAX - delta) or (delta < 0 and base < _INT64_MIN - delta):
            self.refuse("has a timestamp outside of time")
        return base + delta

    def record(self, timestamp: i64, base: i64, new_base: i64) -> bytes:
        """The record's own bytes, with its timestamp told from another base."""
        if new_base == base:
            return self._data[self.start : self.stop]
        if timestamp < _INT64_MIN + new_base:
            self.refuse("has a timestamp outside of time")
        behind_timestamp = self._data[self.offset_delta_at : self.stop]
        return _sized([b"\0", encoded_varint(timestamp - new_base), behind_timestamp])


def walk(cursor: Cursor) -> list[int]:
    """Look at every record; the indices of those without a key."""
    keyless: list[int] = []
    while cursor.advance():
        if cursor.key_size < 0:
            keyless.append(cursor.index)
    return keyless


def rows(
    cursor: Cursor, base_offset: i64, base_timestamp: i64, same_timestamp: bool
) -> Iterator[tuple[int, int, bytes | None, bytes | None, Headers]]:
    """(offset, timestamp, key, value, headers) of every record. All have the same timestamp where the log
    gave them its own."""
    while cursor.advance():
        yield (
            base_offset + cursor.offset_delta,
            base_timestamp if same_timestamp else cursor.timestamp(base_timestamp),
            cursor.key(),
            cursor.value(),
            cursor.headers(),
        )


def keys(cursor: Cursor, base_offset: i64) -> Iterator[tuple[int, bytes | None, bool]]:
    """(offset, key, has a value) of every record."""
    while cursor.advance():
        yield base_offset + cursor.offset_delta, cursor.key(), cursor.value_size >= 0


def retained(cursor: Cursor, kept: bytes, base_timestamp: i64, new_base: i64) -> tuple[bytes, int, int]:
    """The records whose byte in `kept` is not 0, their timestamps told from a new base: the payload, how many
    they are, and their largest timestamp (-1 if there is none)."""
    parts: list[bytes] = []
    count: i64 = 0
    max_timestamp: i64 = -1
    while cursor.advance():
        if kept[cursor.index]:
            timestamp = cursor.timestamp(base_timestamp)
            parts.append(cursor.record(timestamp, base_timestamp, new_base))
            max_timestamp = max(max_timestamp, timestamp)
            count += 1
    return b"".join(parts), count, max_timestamp


def encoded(
    offset_delta: i64,
    timestamp_delta: i64,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[Header],
) -> bytes:
    """One record."""
    parts = [b"\0", encoded_varint(timestamp_delta), encoded_varint(offset_delta)]
    _put(parts, key)
    _put(parts, value)
    parts.append(encoded_varint(len(headers)))
    for name, content in headers:
        _put(parts, name.encode())
        _put(parts, content)
    return _sized(parts)


def _put(parts: list[bytes], content: bytes | None) -> None:
    if content is None:
        parts.append(b"\1")
    else:
        parts.append(encoded_varint(len(content)))
        parts.append(content)


def _sized(parts: list[bytes]) -> bytes:
    body = b"".join(parts)
    return encoded_varint(len(body)) + body


def varint(data: bytes, at: i64) -> tuple[i64, i64]:
    """The int32 at a position, and the position behind it. Raises IndexError when it is cut off."""
    number: i64 = data[at]
    at += 1
    if number > 0x7F:
        number, at = _long(data, at, number, _VARINT_SHIFT_MAX)
    return (number >> 1) ^ -(number & 1), at


def _long(data: bytes, at: i64, number: i64, shift_max: i64) -> tuple[i64, i64]:
    """Go on reading a number behind its first byte: the number, still zigzag, and where it ended."""
    number &= 0x7F
    shift: i64 = 7
    while True:
        byte: i64 = data[at]
        at += 1
        if shift == shift_max and byte > (0x0F if shift_max == _VARINT_SHIFT_MAX else 0x01):
            raise BadBatch(ErrorCode.INVALID_RECORD, f"a varint at byte {at} of the records is too long")
        number |= (byte & 0x7F) << shift
        if byte <= 0x7F:
            return number, at
        shift += 7


_BYTES: Final = [bytes([byte]) for byte in range(256)]


def encoded_varint(number: i64) -> bytes:
    """Zigzag, then seven bits a byte. An int64 and an int32 of the same value are the same bytes."""
    left: i64 = (number << 1) ^ (number >> 63)
    if not left & ~0x7F:
        return _BYTES[left]
    parts = []
    while left & ~0x7F:
        parts.append(_BYTES[left & 0x7F | 0x80])
        left = left >> 7 & _INT64_MAX >> 6  # without the sign that a compiled shift would drag along
    parts.append(_BYTES[left])
    return b"".join(parts)
