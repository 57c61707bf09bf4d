"""Lines become records as kafka-console-producer makes them; where they cannot, its words say why."""

from __future__ import annotations

import pytest

from odradek.cli.formats.lines import BadLine, Line, LineFormat, line_of_json

KEYED = {"parse.key": "true", "key.separator": ":"}
ALL = {**KEYED, "parse.headers": "true", "headers.delimiter": "|"}
LENIENT = {"ignore.error": "true"}
NULLS = {"null.marker": "NULL"}


@pytest.mark.parametrize(
    ("properties", "text", "line"),
    [
        ({}, "a:b", Line((), None, b"a:b")),
        ({}, "", Line((), None, b"")),
        (KEYED, "a:b:c", Line((), b"a", b"b:c")),
        (KEYED, ":b", Line((), b"", b"b")),
        ({"parse.key": "true"}, "a\tb", Line((), b"a", b"b")),
        ({**KEYED, **LENIENT}, "b", Line((), None, b"b")),
        ({**KEYED, **NULLS}, "NULL:b", Line((), None, b"b")),
        ({**KEYED, **NULLS}, "a:NULL", Line((), b"a", None)),
        (ALL, "h:1,i:2:3|a:b", Line((("h", b"1"), ("i", b"2:3")), b"a", b"b")),
        (ALL, "h:|a:b", Line((("h", b""),), b"a", b"b")),
        ({**ALL, **NULLS}, "h:NULL|a:b", Line((("h", None),), b"a", b"b")),
        ({**ALL, **NULLS}, "NULL|a:b", Line((), b"a", b"b")),
        ({**ALL, **LENIENT}, "h|a:b", Line((("h", None),), b"a", b"b")),
        ({**ALL, **LENIENT}, "b", Line((), None, b"b")),
        ({**ALL, **LENIENT}, "h:1|b", Line((("h", b"1"),), None, b"b")),
        ({"parse.key": "TRUE "}, "ä\tü", Line((), "ä".encode(), "ü".encode())),
    ],
)
def test_a_line_is_a_record(properties: dict[str, str], text: str, line: Line) -> None:
    assert LineFormat.of(properties).parse(text, 1) == line


@pytest.mark.parametrize(
    ("properties", "text", "complaint"),
    [
        (KEYED, "b", "No key separator found on line number 7: 'b'"),
        (ALL, "b", "No headers delimiter found on line number 7: 'b'"),
        (ALL, "h|a:b", "No header key separator found in pair 'h' on line number 7"),
        (
            {**ALL, **NULLS},
            "NULL:1|a:b",
            "Header keys should not be equal to the null marker 'NULL' as they can't be null",
        ),
    ],
)
def test_a_line_that_is_none_is_named(properties: dict[str, str], text: str, complaint: str) -> None:
    with pytest.raises(BadLine) as bad:
        LineFormat.of(properties).parse(text, 7)
    assert str(bad.value) == complaint


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"value":{"base64":"?"}}', '{"headers":[1]}'])
def test_what_is_no_record_in_json_is_named(text: str) -> None:
    with pytest.raises(BadLine, match="No record in JSON found on line number 7"):
        line_of_json(text, 7)


def test_a_value_that_is_json_in_itself_is_written_short() -> None:
    assert line_of_json('{"value": {"a": [1, null]}}', 1).value == b'{"a":[1,null]}'
    assert line_of_json('{"value": false}', 1).value == b"false"
