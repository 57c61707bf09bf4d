"""`odradek start`: run a broker until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import TYPE_CHECKING

import click

from odradek.model.config.broker_config import BrokerConfig
from odradek.model.config.environment import settings_of
from odradek.model.config.setting import ConfigError
from odradek.observe.logs import start_logging

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from odradek.broker.node import NodeFault

# Without a file of settings: what a first broker on a laptop needs, as Kafka's own sample file has it.
_FOR_A_LAPTOP = {
    "broker.id": "0",
    "listeners": "PLAINTEXT://127.0.0.1:9092",
    "log.dirs": "odradek-data",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}


@click.command()
@click.argument("properties", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, over what the file says."
)
@click.option("--data", metavar="DIR", help="Where the data goes: log.dirs.")
@click.option("--listen", metavar="HOST:PORT", help="Where clients connect; port 0 is any free one.")
@click.option("--log-level", metavar="LEVELS", help="DEBUG, INFO, WARN or ERROR; see odradek.log.levels.")
def start(
    properties: str | None,
    settings: tuple[str, ...],
    data: str | None,
    listen: str | None,
    log_level: str | None,
) -> None:
    """Run a broker.

    PROPERTIES is a server.properties as Kafka reads it; KAFKA_* environment variables count too. When clients
    are served, one line `ready HOST:PORT` is printed. SIGTERM and SIGINT stop cleanly, a second one at once.
    """
    try:
        shorthands = {
            "log.dirs": data,
            "listeners": None if listen is None else f"PLAINTEXT://{listen}",
            "odradek.log.levels": log_level,
        }
        config = BrokerConfig.of(_settings(properties, settings, shorthands))
    except ConfigError as bad:
        sys.exit(f"odradek: {bad}")
    as_json = config.string("odradek.log.format") == "json"
    start_logging(sys.stderr, config.words("odradek.log.levels"), as_json=as_json)
    sys.exit(asyncio.run(_run(config)))


async def _run(config: BrokerConfig) -> int:
    from odradek.broker.embedded import EmbeddedBroker
    from odradek.broker.registration import BrokerIdTaken
    from odradek.log.checkpoint import ForeignDirectory
    from odradek.model.errors import StorageError
    from odradek.runtime.limits import raise_open_files
    from odradek.runtime.signals import stopping_on_signals

    log = logging.getLogger("odradek")
    for notice in config.notices():
        log.warning("%s", notice)
    raise_open_files()
    broker = EmbeddedBroker(config)
    stopped = asyncio.Event()
    try:
        with stopping_on_signals(stopped.set):
            try:
                addresses = await broker.start()
            except (BrokerIdTaken, ConfigError, ForeignDirectory, OSError, StorageError) as failure:
                log.error("could not start: %s", failure)
                return 1
            print(f"ready {','.join(map(str, addresses))}", flush=True)
            return await _serve(broker.node.fault, stopped, log)
    finally:
        await broker.stop()


async def _serve(fault: asyncio.Future[NodeFault], stopped: asyncio.Event, log: logging.Logger) -> int:
    fault.add_done_callback(lambda _: stopped.set())
    await stopped.wait()
    if fault.done():
        log.critical("the broker stops because of a bug: %s", fault.result(), exc_info=fault.result())
        return 70
    return 0


def _settings(
    properties: str | None, settings: Iterable[str], shorthands: Mapping[str, str | None]
) -> Mapping[str, str]:
    """From weak to strong: the file, or what a laptop needs; the environment; --set; the shorthands."""
    found = dict(_FOR_A_LAPTOP) if properties is None else _read(properties)
    found.update(settings_of(os.environ))
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting}: write it as KEY=VALUE")
        found[key.strip()] = value
    found.update({key: value for key, value in shorthands.items() if value is not None})
    if "log.dirs" in found:
        found["log.dirs"] = ",".join(os.path.abspath(each.strip()) for each in found["log.dirs"].split(","))
    return found


def _read(path: str) -> dict[str, str]:
    import javaproperties

    try:
        with open(path, encoding="utf-8") as file:
            return dict(javaproperties.load(file))
    except (OSError, ValueError) as failure:
        raise ConfigError(f"{path}: {failure}") from None
