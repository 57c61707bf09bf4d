"""`odradek broker-api-versions`: kafka-broker-api-versions."""

from __future__ import annotations

from dataclasses import dataclass

from odradek.cli.failures import Misused
from odradek.cli.flags import verb
from odradek.cli.reach import ClusterFlags, administer
from odradek.cli.showing import show


@dataclass(frozen=True, kw_only=True)
class ApiVersionsFlags(ClusterFlags):
    """Those that all have."""


def run(flags: ApiVersionsFlags) -> None:
    from odradek.cli.formats.api_versions import api_rows, as_json, broker_text
    from odradek.client.brokers import offers

    if not flags.bootstrap_server:
        raise Misused('Missing required argument "[bootstrap-server]"')
    found = administer(flags, offers).items()
    show(
        flags,
        kafka=(broker_text(*each) for each in found),
        json=(as_json(*each) for each in found),
        people=(row for each in found for row in api_rows(*each)),
    )


broker_api_versions = verb(
    "broker-api-versions", ApiVersionsFlags, run, help="Show what each broker can be asked."
)
