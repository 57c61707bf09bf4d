"""`odradek zookeeper`: run a real ZooKeeper, and look into one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Ended, Impossible, Told
from odradek.coordination.store import StoreError
from odradek.model.config.setting import ConfigError

if TYPE_CHECKING:
    from odradek.cli.zookeeper_servers import Servers


@click.group("zookeeper")
def zookeeper() -> None:
    """Run a real ZooKeeper, or look into one."""


@zookeeper.command()
@click.option("--nodes", default="1", type=click.Choice(["1", "3", "5"]), help="How many servers: 1, 3 or 5.")
@click.option("--data", default="odradek-zookeeper", metavar="DIR", help="Where they keep what they know.")
@click.option("--port", default=2181, help="Of the first; the next ones have the next. 0: free ones.")
@click.option("--jars", metavar="DIR", help="ZooKeeper's jars, where they are not pyspark's.")
def start(nodes: str, data: str, port: int, jars: str | None) -> None:
    """Run ZooKeeper on this machine, for development.

    It comes inside the package pyspark, or from the jars in DIR, as of a ZooKeeper's or a Kafka's `lib`.
    When all servers serve, one line `ready HOST:PORT,...` is printed. SIGTERM and SIGINT stop cleanly.
    """
    from odradek.cli.zookeeper_servers import Servers

    try:
        servers = Servers(Path(data).absolute(), int(nodes), port, jars=jars)
        sys.exit(asyncio.run(_serve(servers)))
    except (Impossible, OSError) as failure:
        raise Ended(Told(err=f"odradek: {failure}")) from None


@zookeeper.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("server", metavar="HOST:PORT")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def shell(server: str, command: tuple[str, ...]) -> None:
    """Look into a ZooKeeper: ls, get, set, create, delete, stat, in the forms of its own shell.

    HOST:PORT may be several, separated by commas, and may end with a path below which everything is seen.
    Without a COMMAND they are read from standard input, one a line.
    """
    try:
        sys.exit(asyncio.run(_talk(server, command)))
    except (ConfigError, ImportError, StoreError) as failure:
        raise Ended(Told(err=f"odradek: {failure}")) from None


async def _serve(servers: Servers) -> int:
    from odradek.runtime.signals import stopping_on_signals

    stopped = asyncio.Event()
    with stopping_on_signals(stopped.set):
        stopping = asyncio.ensure_future(stopped.wait())
        try:
            starting = asyncio.ensure_future(servers.start())
            await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                return 0
            starting.result()
            click.echo(f"ready {','.join(servers.addresses)}")
            lost = asyncio.ensure_future(servers.majority_lost())
            await asyncio.wait([lost, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not lost.done():
                lost.cancel()
                return 0
            outputs = ", ".join(str(each.output) for each in servers.servers)
            click.echo(f"odradek: too few servers are left: see {outputs}", err=True)
            return 1
        finally:
            stopping.cancel()
            await servers.stop()


async def _talk(server: str, command: Sequence[str]) -> int:
    from odradek.cli import zookeeper_shell
    from odradek.coordination.ensemble import Ensemble, servers_and_root
    from odradek.coordination.zookeeper import ZooKeeper

    servers, root = servers_and_root(server)
    session = await ZooKeeper(Ensemble(servers, root)).session()
    try:
        if command:
            return await zookeeper_shell.say(session, command)
        for line in _lines():
            words = zookeeper_shell.split(line)
            if words in (["quit"], ["close"]):
                break
            if words:
                await zookeeper_shell.say(session, words)
        return 0
    finally:
        await session.close()


def _lines() -> Iterable[str]:
    """Waiting for the next one holds up the loop: the session lives on kazoo's thread."""
    while True:
        if sys.stdin.isatty():
            click.echo("> ", nl=False)
        line = sys.stdin.readline()
        if not line:
            return
        yield line
