"""Groups as kafka-consumer-groups prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from odradek.cli.formats.java_order import hash_of_partition, hash_of_text, in_map
from odradek.cli.output import Row
from odradek.groups.subscription import assigned_partitions
from odradek.model.ids import Partition
from odradek.wire.messages.groups import DescribedGroup, DescribedMember
from odradek.wire.messages.metadata import MetadataBroker

_WIDTH = 15


class Progress(NamedTuple):
    """How far a group has come in one partition; None: nothing committed, or no log to compare with."""

    committed: int | None
    end: int | None
    waiting_s: float | None = None  # the age of the oldest record that it has not consumed; 0 without any

    @property
    def lag(self) -> int | None:
        return None if self.committed is None or self.end is None else self.end - self.committed


@dataclass(frozen=True, slots=True)
class GroupReport:
    """All that is known of one group."""

    group: DescribedGroup
    progress: Mapping[Partition, Progress]
    coordinator: MetadataBroker | None = None
    in_seconds: bool = False  # whether the lag in seconds was asked for

    @property
    def id(self) -> str:
        return self.group.group_id

    @property
    def state(self) -> str:
        return self.group.group_state

    @property
    def is_dead(self) -> bool:
        return self.state == "Dead"


class _Line(NamedTuple):
    partition: Partition
    progress: Progress
    member: DescribedMember | None

    @property
    def who(self) -> tuple[str, str, str]:
        member = self.member
        return ("-", "-", "-") if member is None else (member.member_id, member.client_host, member.client_id)


# -- tables ------------------------------------------------------------------------------------------------


def offsets(report: GroupReport) -> Iterator[str]:
    """Partitions of members first, then those that nobody consumes now. No lines for none."""
    lines = list(_lines(report))
    if not lines:
        return
    widths = {
        "GROUP": _width([report.id]),
        "TOPIC": _width(each.partition.topic for each in lines),
        "PARTITION": 10,
        "CURRENT-OFFSET": 15,
        "LOG-END-OFFSET": 15,
        "LAG": 15,
        "CONSUMER-ID": _width(each.who[0] for each in lines),
        "HOST": _width(each.who[1] for each in lines),
        "CLIENT-ID": 15 if report.in_seconds else 0,
        **({"LAG-SECONDS": 0} if report.in_seconds else {}),
    }
    yield _row(widths.values(), widths)
    for each in lines:
        partition, progress = each.partition, each.progress
        numbers = map(_or_none, (progress.committed, progress.end, progress.lag))
        seconds = [_seconds(progress.waiting_s)] if report.in_seconds else []
        cells = (report.id, partition.topic, str(partition.number), *numbers, *each.who, *seconds)
        yield _row(widths.values(), cells)


def members(report: GroupReport, *, at_length: bool) -> Iterator[str]:
    found = report.group.members
    has_static = any(each.group_instance_id for each in found)
    widths = {
        "GROUP": _width([report.id]),
        "CONSUMER-ID": _width(each.member_id for each in found),
        **(
            {"GROUP-INSTANCE-ID": max(17, *(len(each.group_instance_id or "") for each in found))}
            if has_static
            else {}
        ),
        "HOST": _width(each.client_host for each in found),
        "CLIENT-ID": _width(each.client_id for each in found),
        "#PARTITIONS": _WIDTH,
    }
    yield _row(widths.values(), widths) + " " + ("ASSIGNMENT" if at_length else "")
    for each in found:
        partitions = assigned_partitions(each.member_assignment)
        static = [each.group_instance_id or ""] if has_static else []
        cells = (report.id, each.member_id, *static, each.client_host, each.client_id, str(len(partitions)))
        yield _row(widths.values(), cells) + " " + (_assignment(partitions) if at_length else "")


def state(report: GroupReport) -> Iterator[str]:
    broker = report.coordinator
    where = "-:-  (-)" if broker is None else f"{broker.host}:{broker.port}  ({broker.node_id})"
    widths = (max(25, len(where)), 25, 20, 15, 0)  # the first column's width follows from the second's cell
    count = str(len(report.group.members))
    yield _row(widths, ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"))
    yield _row(widths, (report.id, where, report.group.protocol_data, report.state, count))


def plan(plans: Mapping[str, Mapping[Partition, int]]) -> Iterator[str]:
    """Kafka 3.9 has forgotten to end these lines; its other versions and we do."""
    widths = (30, 30, 10, 15)
    yield ""
    yield _row(widths, ("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"))
    for id, new in plans.items():
        for partition, offset in new.items():
            yield _row(widths, (id, partition.topic, str(partition.number), str(offset)))


def plan_as_csv(plans: Mapping[str, Mapping[Partition, int]]) -> Iterator[str]:
    """What --from-file reads; groups are named where there are several."""
    for id, new in plans.items():
        for partition, offset in new.items():
            group = f"{id}," if len(plans) > 1 else ""
            yield f"{group}{partition.topic},{partition.number},{offset}"
    yield ""


def deletions(outcomes: Mapping[Partition, str]) -> Iterator[str]:
    """What became of the offsets that were to be forgotten."""
    widths = (30, 15, 15)
    yield ""
    yield _row(widths, ("TOPIC", "PARTITION", "STATUS"))
    for each in sorted(outcomes):
        number = str(each.number) if each.number >= 0 else "Not Provided"
        yield _row(widths, (each.topic, number, outcomes[each]))


def listed(rows: Sequence[tuple[str, str, str]], *, types: bool, states: bool) -> Iterator[str]:
    """Ids with types and states, of which only what was asked for."""
    if not (types or states):
        yield from (id for id, _, _ in rows)
        return
    longest = max(_WIDTH, *(len(id) for id, _, _ in rows), 0)
    for id, type, state in (("GROUP", "TYPE", "STATE"), *rows):
        cells = [
            id.ljust(longest + 10),
            type.ljust(20) if types else None,
            state.ljust(20) if states else None,
        ]
        yield " ".join(filter(None, cells))


# -- for programs ------------------------------------------------------------------------------------------


def as_json(report: GroupReport) -> Row:
    return {
        "group": report.id,
        "state": report.state,
        "coordinator": None if report.coordinator is None else report.coordinator.node_id,
        "strategy": report.group.protocol_data,
        "members": [
            {
                "member": each.member_id,
                "instance": each.group_instance_id,
                "client": each.client_id,
                "host": each.client_host,
                "partitions": [
                    {"topic": partition.topic, "partition": partition.number}
                    for partition in assigned_partitions(each.member_assignment)
                ],
            }
            for each in report.group.members
        ],
        "offsets": [
            {
                "topic": line.partition.topic,
                "partition": line.partition.number,
                "committed": line.progress.committed,
                "end": line.progress.end,
                "lag": line.progress.lag,
                "lag_seconds": line.progress.waiting_s,
                "member": None if line.member is None else line.member.member_id,
            }
            for line in _lines(report)
        ],
    }


# -- pieces ------------------------------------------------------------------------------------------------


def in_order(partitions: Iterable[Partition]) -> list[Partition]:
    return in_map(list(partitions), hash_of_partition)


def _lines(report: GroupReport) -> Iterator[_Line]:
    owned = {each.member_id: assigned_partitions(each.member_assignment) for each in report.group.members}
    for member in sorted(report.group.members, key=lambda each: -len(owned[each.member_id])):
        for partition in in_order(owned[member.member_id]):
            yield _Line(partition, report.progress.get(partition, Progress(None, None)), member)
    taken = {partition for theirs in owned.values() for partition in theirs}
    for partition in in_order(each for each in report.progress if each not in taken):
        yield _Line(partition, report.progress[partition], None)


def _assignment(partitions: Sequence[Partition]) -> str:
    topics: dict[str, list[int]] = {}
    for each in partitions:
        topics.setdefault(each.topic, []).append(each.number)
    numbers = (",".join(map(str, sorted(topics[topic]))) for topic in in_map(topics, hash_of_text))
    return ", ".join(f"({each})" for each in numbers) or "-"


def _row(widths: Iterable[int], cells: Iterable[str]) -> str:
    return " ".join(cell.ljust(width) for width, cell in zip(widths, cells, strict=True))


def _width(cells: Iterable[str]) -> int:
    return max(_WIDTH, *map(len, cells), 0)


def _or_none(value: int | None) -> str:
    return "-" if value is None else str(value)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
