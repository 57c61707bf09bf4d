"""What verbs print: tables for people, JSON lines for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Row: TypeAlias = Mapping[str, Json]

_LOOKED_AT = 1000  # rows that decide how wide a column is; a longer cell later on just sticks out


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Lines of a table whose heading is the first row's names. Nothing for no rows."""
    coming = iter(rows)
    first = [{name: _text(cell) for name, cell in row.items()} for row in islice(coming, _LOOKED_AT)]
    if not first:
        return
    names = list(first[0])
    widths = {name: max(len(name), *(len(row[name]) for row in first)) for name in names}
    to_the_right = {name for name in names if all(_is_number(row[name]) for row in first)}
    later = ({name: _text(cell) for name, cell in row.items()} for row in coming)
    for row in chain([{name: name for name in names}], first, later):
        cells = (
            row[name].rjust(widths[name]) if name in to_the_right else row[name].ljust(widths[name])
            for name in names
        )
        yield "  ".join(cells).rstrip()


def json_line(row: Json) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _text(cell: Json) -> str:
    if cell is None:
        return "-"
    return cell if isinstance(cell, str) else json_line(cell)


def _is_number(text: str) -> bool:
    return text == "-" or text.lstrip("-").isdecimal()
