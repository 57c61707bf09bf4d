"""The verbs and their help."""

from __future__ import annotations

import click

from odradek import __version__


@click.group()
@click.version_option(__version__, prog_name="odradek")
def main() -> None:
    """Apache Kafka's log in Python."""
