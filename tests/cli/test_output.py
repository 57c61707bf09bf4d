from __future__ import annotations

import json

from odradek.cli.output import Row, json_line, table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows: list[Row] = [{"topic": "orders", "size": 7}, {"topic": "a", "size": 1234}]
    assert list(table(rows)) == [
        "topic   size",
        "orders     7",
        "a       1234",
    ]


def test_what_is_not_there_is_a_dash() -> None:
    assert list(table([{"key": None, "count": 1}, {"key": "k", "count": None}])) == [
        "key  count",
        "-        1",
        "k        -",
    ]


def test_no_rows_are_no_table() -> None:
    assert list(table([])) == []


def test_rows_are_printed_as_they_come() -> None:
    """A log may be longer than memory."""
    endless: list[Row] = [{"offset": offset} for offset in range(5000)]
    lines = table(iter(endless))
    assert next(lines).strip() == "offset"
    assert sum(1 for _ in lines) == 5000


def test_a_program_gets_one_object_a_line() -> None:
    line = json_line({"key": "kä\n", "offsets": [1, 2], "none": None})
    assert "\n" not in line
    assert json.loads(line) == {"key": "kä\n", "offsets": [1, 2], "none": None}
