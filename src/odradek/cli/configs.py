"""`odradek configs`: kafka-configs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odradek.cli.config_entities import Entity, entities
from odradek.cli.failures import Impossible, Misused, Told, message, said_as
from odradek.cli.flags import ARGUMENTS, switch, text, texts, verb
from odradek.cli.reach import ClusterFlags, administer, properties_in
from odradek.cli.showing import is_for_people, show

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.client.configs import Resource
    from odradek.wire.messages.configs import DescribedConfig


@dataclass(frozen=True, kw_only=True)
class ConfigsFlags(ClusterFlags):
    describe: bool = switch("Show settings.")
    alter: bool = switch("Change settings.")
    all: bool = switch("With --describe: also what was not changed while brokers run.")
    entity_type: tuple[str, ...] = texts("topics, brokers, users, clients, ips, ...", shown="TYPE")
    entity_name: tuple[str, ...] = texts("Whose settings.", shown="NAME")
    entity_default: bool = switch("The default of all of the type.")
    topic: str | None = text("This topic's settings.", shown="NAME")
    broker: str | None = text("This broker's settings.", shown="ID")
    broker_defaults: bool = switch("What holds for all brokers.")
    broker_logger: str | None = text("How much this broker's loggers say.", shown="ID")
    user: str | None = text("This user's quotas and credentials.", shown="NAME")
    user_defaults: bool = switch("The quotas of users without some of their own.")
    client: str | None = text("This client's quotas; with --user, of that user's.", shown="ID")
    client_defaults: bool = switch("The quotas of clients without some of their own.")
    ip: str | None = text("The quotas of this address.", shown="ADDRESS")
    ip_defaults: bool = switch("The quotas of addresses without some of their own.")
    client_metrics: str | None = text("This subscription to metrics of clients.", shown="NAME")
    add_config: str | None = text("Set these; brackets hold a list together.", shown="KEY=VALUE,KEY=[A,B]")
    add_config_file: str | None = text("Set what this file of properties says.", shown="FILE")
    delete_config: tuple[str, ...] = texts("Back to the default.", shown="KEY,...")
    force: bool = switch("Taken, without effect.")


def run(flags: ConfigsFlags) -> None:
    if flags.describe == flags.alter:
        raise Misused("Command must include exactly one action: --describe, --alter")
    if not flags.bootstrap_server:
        raise Misused("Exactly one of --bootstrap-server or --bootstrap-controller must be specified")
    found = entities(click.get_current_context().meta[ARGUMENTS])
    if flags.alter:
        _alter(flags, found)
    elif found[0].type in _WITH_QUOTAS:
        from odradek.cli.quota_configs import describe

        administer(flags, lambda cluster: describe(cluster, found, in_json=flags.json))
    else:
        _describe(flags, found[0])


_WITH_QUOTAS = ("users", "clients", "ips")

# -- show --------------------------------------------------------------------------------------------------

_CHANGED_WHILE_RUNNING = {"topics": 1, "brokers": 2, "broker-loggers": 6, "client-metrics": 7}
_CHANGED_FOR_ALL_BROKERS = 3


def _describe(flags: ConfigsFlags, entity: Entity) -> None:
    from odradek.cli.formats.configs import as_json, heading, setting_lines, setting_rows

    async def shown(cluster: Cluster) -> None:
        names = await _names(cluster, entity.type) if entity.name is None else [entity.name]
        for name in names:
            if not (flags.json or is_for_people(flags)):
                click.echo(heading(entity.type, name, shows_all=flags.all))
            configs = await _settings(cluster, Entity(entity.type, name), all=flags.all)
            show(
                flags,
                kafka=setting_lines(configs),
                json=[as_json(entity.type, name, configs)],
                people=setting_rows(entity.type, name, configs),
            )

    administer(flags, shown)


async def _names(cluster: Cluster, type: str) -> list[str]:
    from odradek.cli.formats.java_order import hash_of_text, in_map
    from odradek.client.brokers import brokers
    from odradek.client.configs import Kind, list_resources
    from odradek.client.topics import all_topics

    if type == "topics":
        return in_map([topic.name or "" for topic in await all_topics(cluster)], hash_of_text)
    if type == "client-metrics":
        return list(await list_resources(cluster, Kind.CLIENT_METRICS))
    ids = [str(broker.node_id) for broker in await brokers(cluster)]
    return [*ids, ""] if type == "brokers" else ids


async def _settings(cluster: Cluster, entity: Entity, *, all: bool) -> list[DescribedConfig]:
    from odradek.client.configs import describe_configs
    from odradek.client.failures import Refused

    resource = _resource(entity)
    described = (await describe_configs(cluster, [resource], synonyms=True))[resource]
    if isinstance(described, Refused):
        raise described
    is_default = entity.type == "brokers" and not entity.name
    source = _CHANGED_FOR_ALL_BROKERS if is_default else _CHANGED_WHILE_RUNNING[entity.type]
    return [each for each in described if all or each.config_source == source]


def _resource(entity: Entity) -> Resource:
    from odradek.client.configs import Kind, Resource

    kinds = {
        "topics": Kind.TOPIC,
        "brokers": Kind.BROKER,
        "broker-loggers": Kind.BROKER_LOGGER,
        "client-metrics": Kind.CLIENT_METRICS,
    }
    return Resource(kinds[entity.type], entity.name or "")


# -- change ------------------------------------------------------------------------------------------------


def _alter(flags: ConfigsFlags, found: Sequence[Entity]) -> None:
    entity = found[0]
    for each in found:
        if each.name is None:
            raise Misused(f"an entity name must be specified with --alter of {each.type}")
    if flags.add_config and flags.add_config_file:
        raise Misused("Only one of --add-config or --add-config-file must be specified")
    if not (flags.add_config or flags.add_config_file or flags.delete_config):
        raise Misused(
            "At least one of --add-config, --add-config-file, or --delete-config "
            "must be specified with --alter"
        )
    added = properties_in(flags.add_config_file) if flags.add_config_file else pairs(flags.add_config or "")
    deleted = [key.strip() for each in flags.delete_config for key in each.split(",") if key.strip()]

    async def altered(cluster: Cluster) -> None:
        if entity.type in _WITH_QUOTAS:
            from odradek.cli.quota_configs import alter

            await alter(cluster, found, added, deleted)
        else:
            await _alter_settings(cluster, entity, added, deleted)

    administer(flags, altered)
    one = entity.type.removesuffix("s")
    if entity.name:
        click.echo(f"Completed updating config for {one} {entity.name}.")
    else:
        click.echo(f"Completed updating default config for {entity.type} in the cluster.")


async def _alter_settings(
    cluster: Cluster, entity: Entity, added: Mapping[str, str], deleted: Sequence[str]
) -> None:
    from odradek.client.configs import Change, Operation, alter_configs

    await _check_deleted(cluster, entity, deleted, added)
    changes = [
        *(Change(key, Operation.SET, value) for key, value in added.items()),
        *(Change(key, Operation.DELETE) for key in deleted),
    ]
    await alter_configs(cluster, _resource(entity), changes)


async def _check_deleted(
    cluster: Cluster, entity: Entity, deleted: Sequence[str], added: Mapping[str, str]
) -> None:
    if entity.type == "broker-loggers":
        loggers = {each.name for each in await _settings(cluster, entity, all=True)}
        unknown = [each for each in (*deleted, *added) if each not in loggers]
        if unknown:
            raise Misused(f"Invalid broker logger(s): {','.join(unknown)}")
        return
    known = {each.name for each in await _settings(cluster, entity, all=False)}
    unknown = [each for each in deleted if each not in known]
    if unknown:
        raise Misused(f"Invalid config(s): {','.join(unknown)}")


def pairs(given: str) -> dict[str, str]:
    """k1=v1,k2=[v1,v2]: a comma in brackets belongs to the value, and the brackets do not."""
    found = {}
    for each in re.split(r",(?![^\[]*\])", given):
        if not each.strip():
            continue
        key, _, value = each.partition("=")
        value = value.strip().replace("[", "").replace("]", "")
        if not value:
            raise Misused(
                "requirement failed: Invalid entity config: all configs to be added must be in the format "
                '"key=val".'
            )
        found[key.strip()] = value
    return found


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    if isinstance(failure, Impossible):
        return Told(err=message(failure))
    return Told(
        err=f"Error while executing config command with args '{' '.join(arguments)}'\n"
        f"java.util.concurrent.ExecutionException: {said_as(failure)}: {message(failure)}"
    )


configs = verb("configs", ConfigsFlags, run, help="Show and change settings.", failing=_told)
