"""`odradek get-offsets`: kafka-get-offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Impossible, Told, message, said_as
from odradek.cli.flags import switch, text, verb
from odradek.cli.output import Row
from odradek.cli.reach import ClusterFlags, administer
from odradek.cli.showing import show

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.client.failures import Refused
    from odradek.model.ids import Partition
    from odradek.wire.messages.offsets import ListOffsetsPartitionResponse

_COMPLAINT = "Error occurred: "
_UNKNOWN = -1
_PLACES: Mapping[str, int] = {
    "latest": -1,
    "earliest": -2,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
}


@dataclass(frozen=True, kw_only=True)
class OffsetsFlags(ClusterFlags):
    topic: str | None = text("Topics: a regular expression, or several.", shown="NAME,...")
    partitions: str | None = text("Only these partitions.", shown="NUMBER,...")
    topic_partitions: str | None = text(
        "Topics with partitions or ranges of them: orders:0,pay.*:2-4.", shown="RULE,..."
    )
    time: str | None = text(f"{', '.join(_PLACES)}, or milliseconds since 1970.", shown="TIME")
    exclude_internal_topics: bool = switch("Leave out the topics that brokers keep for themselves.")
    broker_list: str | None = text("The old name of --bootstrap-server.", shown="HOST:PORT,...")


def run(flags: OffsetsFlags) -> None:
    if not (flags.bootstrap_server or flags.broker_list):
        raise Impossible("Missing required option(s) [bootstrap-server]")
    if flags.topic_partitions and (flags.topic or flags.partitions):
        raise Impossible("--topic-partitions cannot be used with --topic or --partitions")
    time = _time(flags.time or "latest")
    reaching = replace(flags, bootstrap_server=flags.bootstrap_server or flags.broker_list)
    found = administer(reaching, lambda cluster: _offsets(cluster, flags, time))
    rows = [_row(partition, answer) for partition, answer in sorted(found.items())]
    show(flags, kafka=map(_line, filter(_is_known, rows)), json=filter(None, rows), people=filter(None, rows))


def _row(partition: Partition, answer: ListOffsetsPartitionResponse | Refused) -> Row:
    """Empty where there was no answer."""
    from odradek.client.failures import Refused

    if isinstance(answer, Refused):
        said = f"{said_as(answer)}: {message(answer)}"
        click.echo(f"Skip getting offsets for topic-partition {partition} due to error: {said}", err=True)
        return {}
    place: Row = {"topic": partition.topic, "partition": partition.number}
    return {**place, "offset": answer.offset, "timestamp": answer.timestamp}


def _is_known(row: Row) -> bool:
    return row.get("offset", _UNKNOWN) != _UNKNOWN


def _line(row: Row) -> str:
    return f"{row['topic']}:{row['partition']}:{row['offset']}"


async def _offsets(
    cluster: Cluster, flags: OffsetsFlags, time: int
) -> Mapping[Partition, ListOffsetsPartitionResponse | Refused]:
    from odradek.cli.topic_patterns import by_rules, by_topic_and_numbers
    from odradek.client.offsets import list_offsets
    from odradek.client.topics import all_topics
    from odradek.model.ids import Partition

    if flags.topic_partitions:
        wanted = by_rules(flags.topic_partitions)
    else:
        wanted = by_topic_and_numbers(flags.topic, flags.partitions)
    partitions = [
        partition
        for topic in await all_topics(cluster)
        if not (flags.exclude_internal_topics and topic.is_internal)
        for each in topic.partitions
        if wanted(partition := Partition(topic.name or "", each.partition_index))
    ]
    if not partitions:
        raise Impossible("Could not match any topic-partitions with the specified filters")
    return await list_offsets(cluster, dict.fromkeys(partitions, time))


def _time(given: str) -> int:
    if given in _PLACES:
        return _PLACES[given]
    try:
        return int(given)
    except ValueError:
        places = " / ".join(f"{place} or {name}" for name, place in _PLACES.items())
        raise Impossible(
            f"Malformed time argument {given}. Please use {places}, or a specified long format timestamp"
        ) from None


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(err=_COMPLAINT + message(failure))


get_offsets = verb(
    "get-offsets",
    OffsetsFlags,
    run,
    help="Show where logs begin and end.",
    failing=_told,
    complaint=_COMPLAINT,
)
