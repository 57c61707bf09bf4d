"""`odradek consumer-groups --reset-offsets`: where groups shall go on, and letting them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from odradek.cli.consumer_groups import complain, ids_in_order, ids_meant
from odradek.cli.failures import Impossible, Misused
from odradek.cli.formats import groups as formats
from odradek.cli.formats.java_order import by_name
from odradek.cli.formats.times import duration_ms, moment_ms
from odradek.cli.group_reports import accepted
from odradek.cli.output import Row, json_line
from odradek.cli.reach import administer, now_ms
from odradek.client.failures import Refused
from odradek.client.groups import NO_OFFSET, commit_offsets, committed_offsets, describe_groups
from odradek.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.client.topics import topics_named
from odradek.model.ids import Partition

if TYPE_CHECKING:
    from odradek.cli.consumer_groups import GroupsFlags
    from odradek.client.cluster import Cluster

Offsets = Mapping[Partition, int]
Plans = dict[str, Offsets]

UNKNOWN = -1  # the number of all partitions of a topic that is not there
_MAY_BE_RESET = ("Empty", "Dead")
_NO_FILE = "java.lang.RuntimeException"


def reset(flags: GroupsFlags) -> None:
    plans = administer(flags, lambda cluster: _reset(cluster, flags))
    if flags.json:
        for id, new in plans.items():
            for partition, offset in new.items():
                place: Row = {"topic": partition.topic, "partition": partition.number}
                click.echo(json_line({"group": id, **place, "offset": offset, "done": flags.execute}))
        return
    for line in formats.plan_as_csv(plans) if flags.export else formats.plan(plans):
        click.echo(line)


async def _reset(cluster: Cluster, flags: GroupsFlags) -> Plans:
    ids = await ids_meant(cluster, flags)
    groups = accepted(await describe_groups(cluster, ids))
    filed = _plans_in(flags.from_file, ids) if flags.from_file else None
    plans: Plans = {}
    for id in by_name(list(groups)):
        state = groups[id].group_state
        if state not in _MAY_BE_RESET:
            complain(
                f"Assignments can only be reset if the group '{id}' is inactive, "
                f"but the current state is {state}."
            )
            plans[id] = {}
        else:
            new = (
                await _within(cluster, filed[id]) if filed is not None else await _planned(cluster, flags, id)
            )
            plans[id] = {each: new[each] for each in formats.in_order(new)}
    if flags.execute:
        for id, new in plans.items():
            accepted(await commit_offsets(cluster, id, new))
    return {id: plans[id] for id in ids_in_order(plans)}


async def _planned(cluster: Cluster, flags: GroupsFlags, id: str) -> Offsets:
    committed = await _committed(cluster, id)
    partitions = (
        list(committed) if flags.all_topics else await partitions_named(cluster, flags.topic, strict=True)
    )
    if flags.to_earliest:
        return await _at(cluster, partitions, EARLIEST)
    if flags.to_latest:
        return await _at(cluster, partitions, LATEST)
    if flags.to_datetime is not None:
        return await _since(cluster, partitions, moment_ms(flags.to_datetime))
    if flags.by_duration is not None:
        return await _since(cluster, partitions, now_ms() - duration_ms(flags.by_duration))
    if flags.to_offset is not None:
        return await _within(cluster, dict.fromkeys(partitions, _number(flags.to_offset, "to-offset")))
    if flags.shift_by is not None:
        return await _within(cluster, _shifted(partitions, committed, _number(flags.shift_by, "shift-by")))
    ends = await _at(cluster, [each for each in partitions if each not in committed], LATEST)
    return {each: committed[each] for each in partitions if each in committed} | ends


# -- places ------------------------------------------------------------------------------------------------


async def _committed(cluster: Cluster, id: str) -> dict[Partition, int]:
    found = accepted(accepted(await committed_offsets(cluster, [id]))[id])
    return {
        each: committed.committed_offset
        for each, committed in found.items()
        if committed.committed_offset != NO_OFFSET
    }


async def _at(cluster: Cluster, partitions: Sequence[Partition], place: int) -> dict[Partition, int]:
    found = accepted(await list_offsets(cluster, dict.fromkeys(partitions, place)))
    return {each: answer.offset for each, answer in found.items()}


async def _since(cluster: Cluster, partitions: Sequence[Partition], time_ms: int) -> dict[Partition, int]:
    """The first record from then on; the end where there is none."""
    found = await _at(cluster, partitions, time_ms)
    without = [each for each in formats.in_order(partitions) if found[each] == NO_OFFSET]
    for each in without:
        click.echo(
            f"\nWarn: Partition {each.number} from topic {each.topic} is empty. "
            "Falling back to latest known offset."
        )
    return found | await _at(cluster, without, LATEST)


def _shifted(partitions: Sequence[Partition], committed: Offsets, by: int) -> dict[Partition, int]:
    for each in partitions:
        if each not in committed:
            raise Misused(
                f"Cannot shift offset for partition {each} since there is no current committed offset"
            )
    return {each: committed[each] + by for each in partitions}


async def _within(cluster: Cluster, wanted: Offsets) -> dict[Partition, int]:
    """Moved to where the log begins or ends, where they would be outside."""
    starts, ends = await _at(cluster, list(wanted), EARLIEST), await _at(cluster, list(wanted), LATEST)
    found = {}
    for each in formats.in_order(wanted):
        offset = found[each] = max(starts[each], min(wanted[each], ends[each]))
        if offset != wanted[each]:
            side = "higher than latest" if offset < wanted[each] else "lower than earliest"
            click.echo(
                f"WARN New offset ({wanted[each]}) is {side} offset for topic partition {each}. "
                f"Value will be set to {offset} (org.apache.kafka.tools.consumer.group.ConsumerGroupCommand)",
                err=True,
            )
    return found


# -- what is named -----------------------------------------------------------------------------------------


async def partitions_named(
    cluster: Cluster, names: Sequence[str], *, strict: bool = False
) -> list[Partition]:
    """`orders` means all of its partitions, `orders:0,2` these two. A topic that is not there has one that is
    UNKNOWN, or if `strict` is refused."""
    partitions: list[Partition] = []
    whole: list[str] = []
    for name in names:
        topic, *numbers = name.split(":")
        if len(numbers) > 1:
            raise Misused(f"Invalid topic arg '{name}', expected topic name and partitions")
        if numbers:
            partitions += [Partition(topic, _partition_number(each, name)) for each in numbers[0].split(",")]
        else:
            whole.append(topic)
    for topic, found in (await topics_named(cluster, whole) if whole else {}).items():
        if not isinstance(found, Refused):
            partitions += [Partition(topic, each.partition_index) for each in found.partitions]
        elif strict:
            raise found
        else:
            partitions.append(Partition(topic, UNKNOWN))
    return partitions


def _partition_number(text: str, name: str) -> int:
    if not text.isdecimal():
        raise Misused(f"Invalid partition '{text}' specified in topic arg '{name}''")
    return int(text)


def _number(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Impossible(
            f"Cannot parse argument '{text}' of option {option}",
            "joptsimple.OptionArgumentConversionException",
        ) from None


def _plans_in(path: str, ids: Sequence[str]) -> dict[str, Offsets]:
    """Lines of [GROUP,]TOPIC,PARTITION,OFFSET; the group may be missing where only one is meant."""
    plans: dict[str, dict[Partition, int]] = {id: {} for id in ids}
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, ValueError):
        raise Impossible(f"java.io.IOException: Unable to read file {path}", _NO_FILE) from None
    for number, row in enumerate(rows, 1):
        *group, topic, partition, offset = row if len(row) in (3, 4) else ("", "", "")
        id = group[0] if group else ids[0]
        if not (topic and partition.isdecimal() and offset.isdecimal()) or not (group or len(ids) == 1):
            raise Impossible(f"{path}: line {number} is not [GROUP,]TOPIC,PARTITION,OFFSET")
        if id in plans:
            plans[id][Partition(topic, int(partition))] = int(offset)
    return dict(plans)
