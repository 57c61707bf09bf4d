"""`odradek cluster`: kafka-cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from odradek.cli.failures import Misused
from odradek.cli.flags import number, text, verb
from odradek.cli.output import json_line
from odradek.cli.reach import ClusterFlags, administer


@dataclass(frozen=True, kw_only=True)
class ClusterIdFlags(ClusterFlags):
    bootstrap_server: str | None = text(
        "Brokers to connect to first.", "--bootstrap-server", "-b", shown="HOST:PORT,..."
    )
    config: str | None = text("The same as --command-config.", "--config", "-c", shown="FILE")


@dataclass(frozen=True, kw_only=True)
class UnregisterFlags(ClusterIdFlags):
    id: int | None = number("The broker.", "--id", "-i", shown="ID")


def show_id(flags: ClusterIdFlags) -> None:
    from odradek.client.brokers import describe_cluster

    found = administer(_understood(flags), describe_cluster).cluster_id
    click.echo(json_line({"cluster_id": found}) if flags.json else f"Cluster ID: {found}")


def unregister(flags: UnregisterFlags) -> None:
    from odradek.client.brokers import unregister_broker
    from odradek.client.failures import Unsupported

    if flags.id is None:
        raise Misused("argument --id/-i is required")
    id = flags.id
    try:
        administer(_understood(flags), lambda cluster: unregister_broker(cluster, id))
    except Unsupported:
        click.echo("The target cluster does not support the broker unregistration API.")
    else:
        click.echo(f"Broker {id} is no longer registered.")


def _understood(flags: ClusterIdFlags) -> ClusterIdFlags:
    if not flags.bootstrap_server:
        raise Misused("one of the arguments --bootstrap-server/-b --bootstrap-controller/-C is required")
    return replace(flags, command_config=flags.command_config or flags.config)


cluster = click.Group(
    "cluster",
    help="Show the cluster's id, or forget a broker.",
    commands=[
        verb("cluster-id", ClusterIdFlags, show_id, help="Show the cluster's id."),
        verb("unregister", UnregisterFlags, unregister, help="Forget a broker that is gone for good."),
    ],
)
