"""What the verifiable producer and consumer tell of themselves: one JSON object a line, its time first."""

from __future__ import annotations

import click

from odradek.cli.output import Json, json_line
from odradek.runtime.clock import Clock


class Events:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def tell(self, event: str, **details: Json) -> None:
        click.echo(json_line({"timestamp": self.clock.wall_ms(), "name": event, **details}))
