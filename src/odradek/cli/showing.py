"""One answer, three readers: programs that ask for JSON, people at a terminal, scripts for Kafka's tools.

Whatever is no terminal gets Kafka's own format, to the letter; so does a terminal where --plain asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from odradek.cli.output import Row, json_line, table
from odradek.cli.reach import ClusterFlags


def show(flags: ClusterFlags, *, kafka: Iterable[str], json: Iterable[Row], people: Iterable[Row]) -> None:
    """Of the three only the one that is wanted is made. `people` are the rows of a table."""
    if flags.json:
        lines: Iterable[str] = map(json_line, json)
    else:
        lines = table(people) if is_for_people(flags) else kafka
    for line in lines:
        click.echo(line)


def is_for_people(flags: ClusterFlags) -> bool:
    return not (flags.json or flags.plain) and sys.stdout.isatty()
