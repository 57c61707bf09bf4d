"""`odradek topics`: kafka-topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Impossible, Misused, Told, message, said_as
from odradek.cli.flags import idle, switch, text, texts, verb
from odradek.cli.output import json_line
from odradek.cli.reach import ClusterFlags, administer
from odradek.cli.showing import show

if TYPE_CHECKING:
    from odradek.cli.formats.topics import PartitionFilter, TopicReport
    from odradek.client.cluster import Cluster
    from odradek.wire.messages.metadata import MetadataTopic

COLLISION_WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could "
    "collide. To avoid issues it is best to use either, but not both."
)


@dataclass(frozen=True, kw_only=True)
class TopicsFlags(ClusterFlags):
    create: bool = switch("Create a topic.")
    delete: bool = switch("Delete topics.")
    describe: bool = switch("Show partitions, leaders, replicas, overridden settings.")
    list: bool = switch("Show the names.")
    alter: bool = switch("Add partitions.")
    topic: str | None = text("The topic; except with --create, a regular expression.", shown="NAME")
    topic_id: str | None = text("With --describe: the topic's id.", shown="ID")
    partitions: str | None = text("How many partitions it shall have.", shown="COUNT")
    replication_factor: str | None = text("How many brokers shall hold each partition.", shown="COUNT")
    replica_assignment: str | None = text(
        "For each partition the brokers that shall hold it.", shown="ID:ID,ID:ID,..."
    )
    config: tuple[str, ...] = texts("A setting of the new topic; may be repeated.", shown="KEY=VALUE")
    delete_config: tuple[str, ...] = texts("Was taken by old versions; see `odradek configs`.", shown="KEY")
    if_exists: bool = switch("No topic is no error.")
    if_not_exists: bool = switch("With --create: an existing topic is no error.")
    exclude_internal: bool = switch("Leave out the topics that brokers keep for themselves.")
    under_replicated_partitions: bool = switch("Only partitions some replica of which is not in sync.")
    under_min_isr_partitions: bool = switch("Only partitions with less in sync than is asked for.")
    at_min_isr_partitions: bool = switch("Only partitions with just as many in sync as is asked for.")
    unavailable_partitions: bool = switch("Only partitions without a leader that is alive.")
    topics_with_overrides: bool = switch("Only topics with settings of their own, without partitions.")
    partition_size_limit_per_response: str | None = idle()


def run(flags: TopicsFlags) -> None:
    action = _action(flags)
    _check(flags, action)
    if action == "create":
        administer(flags, lambda cluster: _create(cluster, flags))
    elif action == "alter":
        administer(flags, lambda cluster: _alter(cluster, flags))
    elif action == "delete":
        administer(flags, lambda cluster: _delete(cluster, flags))
    elif action == "list":
        _list(flags)
    else:
        _describe(flags)


# -- what may be asked together ----------------------------------------------------------------------------

_ACTIONS = ("list", "describe", "create", "alter", "delete")
_PARTS = (
    "under_replicated_partitions",
    "under_min_isr_partitions",
    "at_min_isr_partitions",
    "unavailable_partitions",
)
_ONLY_WITH = {
    "config": ("create",),
    "partitions": ("create", "alter"),
    "replication_factor": ("create",),
    "replica_assignment": ("create", "alter"),
    **dict.fromkeys((*_PARTS, "topics_with_overrides"), ("describe",)),
    "if_exists": ("alter", "delete", "describe"),
    "if_not_exists": ("create",),
    "exclude_internal": ("list", "describe"),
}


def _action(flags: TopicsFlags) -> str:
    actions = [each for each in _ACTIONS if getattr(flags, each)]
    if len(actions) != 1:
        raise Misused(
            "Command must include exactly one action: --list, --describe, --create, --alter or --delete"
        )
    return actions[0]


def _check(flags: TopicsFlags, action: str) -> None:
    if not flags.bootstrap_server:
        raise Misused("--bootstrap-server must be specified")
    if action == "describe" and flags.if_exists and not (flags.topic or flags.topic_id):
        raise Misused("--topic or --topic-id is required to describe a topic")
    if action not in ("list", "describe") and not flags.topic:
        raise Misused('Missing required argument "[topic]"')
    if action == "alter" and flags.config:
        raise Misused(
            'Option combination "[[bootstrap-server], [config]]" can\'t be used with option "[alter]" '
            "(the kafka-configs CLI supports altering topic configs with a --bootstrap-server option)"
        )
    if action == "alter" and not flags.partitions:
        raise Misused('Missing required argument "[partitions]"')
    for name, actions in _ONLY_WITH.items():
        if getattr(flags, name) and action not in actions:
            raise _clash(name, action)
    if action == "create" and flags.replica_assignment:
        for other in ("partitions", "replication_factor"):
            if getattr(flags, other):
                raise _clash("replica_assignment", other)


def _clash(one: str, other: str) -> Misused:
    return Misused(f'Option "[{_dashed(one)}]" can\'t be used with option "[{_dashed(other)}]"')


def _dashed(name: str) -> str:
    return name.replace("_", "-")


# -- actions -----------------------------------------------------------------------------------------------


async def _create(cluster: Cluster, flags: TopicsFlags) -> None:
    from odradek.client.failures import Refused
    from odradek.client.topics import BROKER_DEFAULT, create_topic
    from odradek.model.errors import ErrorCode

    assert flags.topic is not None
    configs = _configs(flags.config)
    partitions = _number(flags.partitions, "partitions")
    factor = _number(flags.replication_factor, "replication-factor")
    replicas = _assignment(flags.replica_assignment)
    if set(flags.topic) & set("._"):
        click.echo(COLLISION_WARNING)
    if factor is not None and not 1 <= factor < 2**15:
        raise Impossible("The replication factor must be between 1 and 32767 inclusive")
    if partitions is not None and partitions < 1:
        raise Impossible("The partitions must be greater than 0")
    try:
        await create_topic(
            cluster,
            flags.topic,
            partitions=BROKER_DEFAULT if partitions is None else partitions,
            replication_factor=BROKER_DEFAULT if factor is None else factor,
            replicas=replicas,
            configs=configs,
        )
    except Refused as refused:
        if refused.error is not ErrorCode.TOPIC_ALREADY_EXISTS or not flags.if_not_exists:
            raise
    else:
        click.echo(f"Created topic {flags.topic}.")


async def _alter(cluster: Cluster, flags: TopicsFlags) -> None:
    from odradek.client.topics import grow_topic

    count = _number(flags.partitions, "partitions")
    assert count is not None
    replicas = _assignment(flags.replica_assignment)
    for topic in await _required(cluster, flags):
        assert topic.name is not None
        await grow_topic(cluster, topic.name, count, replicas[len(topic.partitions) :])


async def _delete(cluster: Cluster, flags: TopicsFlags) -> None:
    from odradek.client.topics import delete_topic

    for topic in await _required(cluster, flags):
        assert topic.name is not None
        await delete_topic(cluster, topic.name)


def _list(flags: TopicsFlags) -> None:
    topics = administer(flags, lambda cluster: _found(cluster, flags))
    if flags.json:
        for topic in topics:
            click.echo(json_line({"topic": topic.name, "internal": topic.is_internal}))
    else:
        click.echo("\n".join(topic.name or "" for topic in topics))


def _describe(flags: TopicsFlags) -> None:
    from odradek.cli.formats.topics import as_json, description, every, partition_rows, topic_line

    reports, live = administer(flags, lambda cluster: _reports(cluster, flags))
    wanted = _wanted(flags, live) or every
    if flags.topics_with_overrides:
        reports = [each for each in reports if each.overrides]
        lines = (topic_line(each) for each in reports)
    else:
        lines = (line for each in reports for line in description(each, wanted))
    show(
        flags,
        kafka=lines,
        json=map(as_json, reports),
        people=(row for each in reports for row in partition_rows(each, wanted)),
    )


async def _reports(cluster: Cluster, flags: TopicsFlags) -> tuple[Sequence[TopicReport], frozenset[int]]:
    from odradek.cli.formats.java_order import by_name
    from odradek.cli.formats.topics import TopicReport
    from odradek.client.brokers import brokers
    from odradek.client.configs import Kind, Resource, describe_configs
    from odradek.client.failures import Refused
    from odradek.client.topics import reassignments

    topics = await (_with_id(cluster, flags) if flags.topic_id else _required(cluster, flags))
    if not topics:
        return (), frozenset()
    resources = {topic.name or "": Resource(Kind.TOPIC, topic.name or "") for topic in topics}
    configs = await describe_configs(cluster, resources.values())
    moving = await reassignments(cluster, topics)
    reports = {}
    for topic in topics:
        name = topic.name or ""
        described = configs[resources[name]]
        if isinstance(described, Refused):
            raise described
        theirs = {each.number: move for each, move in moving.items() if each.topic == name}
        reports[name] = TopicReport(topic, described, theirs)
    live = frozenset(each.node_id for each in await brokers(cluster))
    return [reports[name] for name in by_name(reports)], live


def _wanted(flags: TopicsFlags, live: frozenset[int]) -> PartitionFilter | None:
    from odradek.cli.formats import topics as formats

    filters: list[PartitionFilter] = []
    if flags.under_replicated_partitions:
        filters.append(formats.under_replicated)
    if flags.under_min_isr_partitions:
        filters.append(formats.under_min_isr)
    if flags.at_min_isr_partitions:
        filters.append(formats.at_min_isr)
    if flags.unavailable_partitions:
        filters.append(formats.unavailable(live))
    if not filters:
        return None
    return lambda report, partition: any(each(report, partition) for each in filters)


# -- which topics ------------------------------------------------------------------------------------------


async def _found(cluster: Cluster, flags: TopicsFlags) -> list[MetadataTopic]:
    from odradek.cli.topic_patterns import name_pattern
    from odradek.client.topics import all_topics

    wanted = name_pattern(flags.topic or ".*")
    topics = {topic.name or "": topic for topic in await all_topics(cluster)}
    return [
        topic
        for name, topic in topics.items()
        if wanted.fullmatch(name) and not (flags.exclude_internal and topic.is_internal)
    ]


async def _required(cluster: Cluster, flags: TopicsFlags) -> list[MetadataTopic]:
    topics = await _found(cluster, flags)
    if flags.topic and not topics and not flags.if_exists:
        raise Impossible(f"Topic 'Optional[{flags.topic}]' does not exist as expected")
    return topics


async def _with_id(cluster: Cluster, flags: TopicsFlags) -> list[MetadataTopic]:
    from odradek.client.failures import Refused
    from odradek.client.topics import topics_with_ids
    from odradek.model.ids import id_bytes

    assert flags.topic_id is not None
    try:
        id = id_bytes(flags.topic_id)
    except ValueError:
        raise Impossible(
            f"Input string `{flags.topic_id}` decoded as {len(flags.topic_id) * 3 // 4} bytes, which is not "
            "equal to the expected 16 bytes of a base64-encoded UUID"
        ) from None
    found = (await topics_with_ids(cluster, [id]))[id]
    if not isinstance(found, Refused):
        return [found]
    if flags.if_exists:
        return []
    raise Impossible(f"TopicId '{flags.topic_id}' does not exist as expected")


# -- values ------------------------------------------------------------------------------------------------


def _configs(given: Iterable[str]) -> dict[str, str]:
    from odradek.model.config.registry import TOPIC_SETTINGS

    pairs = [each.partition("=") for each in given]
    if not all(equals for _, equals, _ in pairs):
        raise Impossible(
            "requirement failed: Invalid topic config: all configs to be added must be in the format "
            '"key=val".'
        )
    configs = {key.strip(): value.strip() for key, _, value in pairs}
    for key, value in configs.items():
        if key not in TOPIC_SETTINGS:
            raise Impossible(
                f"Unknown topic config name: {key}",
                "org.apache.kafka.common.errors.InvalidConfigurationException",
            )
        TOPIC_SETTINGS[key].parse(value)
    return configs


def _number(given: str | None, name: str) -> int | None:
    try:
        return None if given is None else int(given)
    except ValueError:
        raise Impossible(
            f"Cannot parse argument '{given}' of option {name}",
            "joptsimple.OptionArgumentConversionException",
        ) from None


def _assignment(given: str | None) -> list[list[int]]:
    """For each partition, separated by commas, its brokers, separated by colons."""
    replicas: list[list[int]] = []
    for number, partition in enumerate(given.split(",") if given else ()):
        try:
            brokers = [int(each) for each in partition.strip().split(":")]
        except ValueError as bad:
            wrong = str(bad).rpartition(": ")[2].strip("'")
            raise Impossible(f'For input string: "{wrong}"', "java.lang.NumberFormatException") from None
        twice = dict.fromkeys(each for each in brokers if brokers.count(each) > 1)
        if twice:
            raise Impossible(
                f"Partition replica lists may not contain duplicate entries: {','.join(map(str, twice))}",
                "org.apache.kafka.server.common.AdminCommandFailedException",
            )
        if replicas and len(brokers) != len(replicas[0]):
            raise Impossible(
                f"Partition {number} has different replication factor: {brokers}",
                "org.apache.kafka.server.common.AdminOperationException",
            )
        replicas.append(brokers)
    return replicas


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    said = message(failure)
    return Told(
        out=f"Error while executing topic command : {said}",
        err=f"ERROR {said_as(failure)}: {said}\n (org.apache.kafka.tools.TopicCommand)",
    )


topics = verb("topics", TopicsFlags, run, help="Create, delete, describe or change topics.", failing=_told)
