"""Finding out what is to be known of groups: state, members, offsets, lag in records and in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from odradek.cli.formats.groups import GroupReport, Progress
from odradek.cli.reach import now_ms
from odradek.client.failures import Refused
from odradek.client.groups import NO_OFFSET, committed_offsets, coordinators, describe_groups
from odradek.client.offsets import LATEST, list_offsets
from odradek.client.records import NO_TIMESTAMP, timestamps_at
from odradek.groups.subscription import assigned_partitions
from odradek.model.ids import Partition

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.wire.messages.groups import DescribedGroup

Key = TypeVar("Key")
Value = TypeVar("Value")


async def group_reports(
    cluster: Cluster, ids: Iterable[str], *, with_offsets: bool, in_seconds: bool = False
) -> list[GroupReport]:
    """By id. `Refused` where one of them is."""
    ids = sorted(set(ids))
    described = accepted(await describe_groups(cluster, ids))
    brokers = accepted(await coordinators(cluster, ids))
    committed = accepted(await committed_offsets(cluster, ids)) if with_offsets else {}
    reports = []
    for id in ids:
        places = {
            partition: each.committed_offset
            for partition, each in accepted(committed.get(id, {})).items()
            if each.committed_offset != NO_OFFSET
        }
        wanted = [*places, *assigned(described[id])] if with_offsets else []
        progress = await progress_of(cluster, wanted, places, in_seconds=in_seconds)
        reports.append(GroupReport(described[id], progress, brokers[id], in_seconds))
    return reports


def accepted(answers: Mapping[Key, Value | Refused]) -> dict[Key, Value]:
    """What was answered, where nothing was refused."""
    found: dict[Key, Value] = {}
    for key, answer in answers.items():
        if isinstance(answer, Refused):
            raise answer
        found[key] = answer
    return found


async def progress_of(
    cluster: Cluster, partitions: Sequence[Partition], places: Mapping[Partition, int], *, in_seconds: bool
) -> dict[Partition, Progress]:
    ends = await list_offsets(cluster, dict.fromkeys(partitions, LATEST)) if partitions else {}
    found = {
        partition: Progress(places.get(partition), None if isinstance(end, Refused) else end.offset)
        for partition, end in ends.items()
    }
    if not in_seconds:
        return found
    behind = {partition: places[partition] for partition, each in found.items() if (each.lag or 0) > 0}
    times = await timestamps_at(cluster, behind)
    now = now_ms()
    return {
        partition: each._replace(waiting_s=_waiting_s(each, times.get(partition), now))
        for partition, each in found.items()
    }


def _waiting_s(progress: Progress, timestamp: int | Refused | None, now: int) -> float | None:
    """The age of the oldest record that is yet to be consumed."""
    if progress.lag is None or isinstance(timestamp, Refused):
        return None
    if timestamp is None or timestamp == NO_TIMESTAMP:
        return 0.0
    return max(now - timestamp, 0) / 1000


def assigned(group: DescribedGroup) -> list[Partition]:
    return [each for member in group.members for each in assigned_partitions(member.member_assignment)]
