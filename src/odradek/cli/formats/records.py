"""Records as kafka-console-consumer prints them, and as JSON.

With everything switched on: time, partition, offset, headers, key and value, a tab between each two.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.cli.formats.deserializers import Deserializer, as_it_is, deserializer
from odradek.cli.formats.lines import Headers, is_true

if TYPE_CHECKING:
    from odradek.cli.output import Json, Row

TIME_NAMES = ("NoTimestampType", "CreateTime", "LogAppendTime")  # by librdkafka's numbers


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    time_kind: int  # an index into TIME_NAMES
    time_ms: int
    headers: Headers
    key: bytes | None
    value: bytes | None


class RecordFormat(NamedTuple):
    print_time: bool = False
    print_partition: bool = False
    print_offset: bool = False
    print_headers: bool = False
    print_key: bool = False
    print_value: bool = True
    separator: bytes = b"\t"  # between any two parts
    line_end: bytes = b"\n"
    headers_separator: bytes = b","
    null: bytes = b"null"
    key: Deserializer = as_it_is
    value: Deserializer = as_it_is
    headers: Deserializer = as_it_is

    @staticmethod
    def of(properties: Mapping[str, str]) -> RecordFormat:
        """From the properties of the formatter, as --property gives them."""
        default = RecordFormat()

        def given(key: str, otherwise: bytes) -> bytes:
            return properties[key].encode() if key in properties else otherwise

        return RecordFormat(
            print_time=is_true(properties, "print.timestamp"),
            print_partition=is_true(properties, "print.partition"),
            print_offset=is_true(properties, "print.offset"),
            print_headers=is_true(properties, "print.headers"),
            print_key=is_true(properties, "print.key"),
            print_value=is_true({"print.value": "true", **properties}, "print.value"),
            separator=given("key.separator", default.separator),
            line_end=given("line.separator", default.line_end),
            headers_separator=given("headers.separator", default.headers_separator),
            null=given("null.literal", default.null),
            key=_named(properties, "key.deserializer"),
            value=_named(properties, "value.deserializer"),
            headers=_named(properties, "headers.deserializer"),
        )

    def text(self, record: Record) -> bytes:
        """`Undeserializable` when the bytes do not mean what they are said to mean."""
        return self.separator.join(self._parts(record)) + self.line_end

    def _parts(self, record: Record) -> Iterator[bytes]:
        if self.print_time:
            kind = TIME_NAMES[record.time_kind]
            yield f"{kind}:{record.time_ms}".encode() if record.time_kind else kind.encode()
        if self.print_partition:
            yield b"Partition:%d" % record.partition
        if self.print_offset:
            yield b"Offset:%d" % record.offset
        if self.print_headers:
            pairs = (
                name.encode() + b":" + self._shown(value, self.headers) for name, value in record.headers
            )
            yield self.headers_separator.join(pairs) or b"NO_HEADERS"
        if self.print_key:
            yield self._shown(record.key, self.key)
        if self.print_value:
            yield self._shown(record.value, self.value)

    def _shown(self, data: bytes | None, read: Deserializer) -> bytes:
        return read(self.null if data is None else data)


def as_json(record: Record) -> Row:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.time_ms if record.time_kind else None,
        "timestamp_type": TIME_NAMES[record.time_kind],
        "headers": [[name, _json(value)] for name, value in record.headers],
        "key": _json(record.key),
        "value": _json(record.value),
    }


def _json(data: bytes | None) -> Json:
    """Text as text; what is none, in base64."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _named(properties: Mapping[str, str], key: str) -> Deserializer:
    name = properties.get(key)
    return as_it_is if name is None else deserializer(name)
