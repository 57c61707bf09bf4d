"""What every verb that talks to a cluster has in common: its flags, and how the cluster is reached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from odradek.cli.failures import Misused
from odradek.cli.flags import number, switch, text

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.client.connections import Connector
    from odradek.client.settings import ClientSettings
    from odradek.runtime.clock import Clock
    from odradek.runtime.entropy import Entropy

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class ClusterFlags:
    bootstrap_server: str | None = text("Brokers to connect to first.", shown="HOST:PORT,...")
    command_config: str | None = text("Properties for the connection: TLS, timeouts.", shown="FILE")
    timeout: int | None = number("Give up after so many milliseconds.", shown="MS")
    json: bool = switch("Print JSON, for programs.")
    plain: bool = switch("At a terminal, print what is printed elsewhere: Kafka's own format.")


@dataclass(frozen=True)
class Reach:
    """How clusters are reached where it is not over the network, when, and with which luck: the object of
    click's context."""

    connector: Callable[[ClientSettings], Connector]
    clock: Clock | None = None  # None: the machine's
    entropy: Entropy | None = None  # None: the machine's


def administer(flags: ClusterFlags, work: Callable[[Cluster], Awaitable[Result]]) -> Result:
    """Do the work with a cluster that is connected as the flags say."""
    import asyncio

    from odradek.client.cluster import Cluster

    reach = click.get_current_context().find_object(Reach)

    async def session() -> Result:
        settings = settings_of(flags)
        cluster = (
            Cluster(settings)
            if reach is None
            else Cluster(settings, reach.connector(settings), reach.entropy)
        )
        async with cluster:
            return await work(cluster)

    return asyncio.run(session())


def now_ms() -> int:
    from odradek.runtime.clock import SystemClock

    reach = click.get_current_context().find_object(Reach)
    clock = SystemClock() if reach is None or reach.clock is None else reach.clock
    return clock.wall_ms()


def settings_of(flags: ClusterFlags) -> ClientSettings:
    from odradek.client.settings import ClientSettings

    properties = dict(properties_in(flags.command_config)) if flags.command_config else {}
    if flags.timeout is not None:
        properties["default.api.timeout.ms"] = str(flags.timeout)
    return ClientSettings.of(flags.bootstrap_server or "", properties)


def properties_in(path: str) -> Mapping[str, str]:
    import javaproperties

    try:
        with open(path, encoding="utf-8") as file:
            return dict(javaproperties.load(file))
    except (OSError, ValueError) as failure:
        raise Misused(f"{path}\n{failure}") from None
