"""`odradek broker-api-versions`: kafka-broker-api-versions."""

from __future__ import annotations

from dataclasses import dataclass

import click

from odradek.cli.failures import Misused
from odradek.cli.flags import verb
from odradek.cli.output import json_line
from odradek.cli.reach import ClusterFlags, administer


@dataclass(frozen=True, kw_only=True)
class ApiVersionsFlags(ClusterFlags):
    """Those that all have."""


def run(flags: ApiVersionsFlags) -> None:
    from odradek.cli.formats.api_versions import as_json, broker_text
    from odradek.client.brokers import offers

    if not flags.bootstrap_server:
        raise Misused('Missing required argument "[bootstrap-server]"')
    for broker, offer in administer(flags, offers).items():
        click.echo(json_line(as_json(broker, offer)) if flags.json else broker_text(broker, offer))


broker_api_versions = verb(
    "broker-api-versions", ApiVersionsFlags, run, help="Show what each broker can be asked."
)
