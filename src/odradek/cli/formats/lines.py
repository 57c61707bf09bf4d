"""Lines of text to records, as kafka-console-producer reads them.

With everything switched on a line is `header:value,header:value<TAB>key<TAB>value`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]


class BadLine(Exception):
    """A line without what is asked of every line."""


class Line(NamedTuple):
    headers: Headers
    key: bytes | None
    value: bytes | None


class LineFormat(NamedTuple):
    parse_key: bool = False
    parse_headers: bool = False
    ignore_error: bool = False  # a line without separator is a value
    key_separator: str = "\t"
    headers_delimiter: str = "\t"  # behind the headers
    headers_separator: str = ","  # between two
    headers_key_separator: str = ":"
    null_marker: str | None = None  # stands for null

    @staticmethod
    def of(properties: Mapping[str, str]) -> LineFormat:
        """From the properties of the reader, as --property gives them."""
        default = LineFormat()
        return LineFormat(
            parse_key=is_true(properties, "parse.key"),
            parse_headers=is_true(properties, "parse.headers"),
            ignore_error=is_true(properties, "ignore.error"),
            key_separator=properties.get("key.separator", default.key_separator),
            headers_delimiter=properties.get("headers.delimiter", default.headers_delimiter),
            headers_separator=properties.get("headers.separator", default.headers_separator),
            headers_key_separator=properties.get("headers.key.separator", default.headers_key_separator),
            null_marker=properties.get("null.marker"),
        )

    def parse(self, text: str, number: int) -> Line:
        """`BadLine` where a separator is missing."""
        rest, headers, key = text, None, None
        if self.parse_headers:
            headers, rest = self._cut(rest, self.headers_delimiter, "headers delimiter", number)
        if self.parse_key:
            key, rest = self._cut(rest, self.key_separator, "key separator", number)
        return Line(
            () if headers is None or headers == self.null_marker else self._headers(headers, number),
            self._bytes(key),
            self._bytes(rest),
        )

    def _cut(self, text: str, separator: str, what: str, number: int) -> tuple[str | None, str]:
        before, found, behind = text.partition(separator)
        if found:
            return before, behind
        if self.ignore_error:
            return None, text
        raise BadLine(f"No {what} found on line number {number}: '{text}'")

    def _headers(self, text: str, number: int) -> Headers:
        found: list[tuple[str, bytes | None]] = []
        for each in text.split(self.headers_separator):
            name, separator, value = each.partition(self.headers_key_separator)
            if separator:
                if name == self.null_marker:
                    raise BadLine(
                        f"Header keys should not be equal to the null marker '{name}' as they can't be null"
                    )
                found.append((name, self._bytes(value)))
            elif self.ignore_error:
                found.append((each, None))
            else:
                raise BadLine(f"No header key separator found in pair '{each}' on line number {number}")
        return tuple(found)

    def _bytes(self, text: str | None) -> bytes | None:
        return None if text is None or text == self.null_marker else text.encode()


def line_of_json(text: str, number: int) -> Line:
    """A record as `console-consumer --json` prints it; what it does not say is null."""
    try:
        said = json.loads(text)
        return Line(
            tuple((str(name), _bytes_of(value)) for name, value in said.get("headers", ())),
            _bytes_of(said.get("key")),
            _bytes_of(said.get("value")),
        )
    except (ValueError, TypeError, AttributeError, KeyError) as bad:
        raise BadLine(f"No record in JSON found on line number {number}: {bad}") from None


def _bytes_of(said: object) -> bytes | None:
    """Text, null, or {"base64": ...} for what is no text; anything else is JSON in itself."""
    if said is None:
        return None
    if isinstance(said, str):
        return said.encode()
    if isinstance(said, dict) and list(said) == ["base64"]:
        return base64.b64decode(said["base64"], validate=True)
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()


def is_true(properties: Mapping[str, str], key: str) -> bool:
    return properties.get(key, "false").strip().lower() == "true"
