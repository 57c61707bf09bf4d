"""Why a group does or does not progress, in plain words: what is known of it goes in, sentences come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.cli.formats.groups import Progress
from odradek.groups.subscription import assigned_partitions
from odradek.model.ids import Partition
from odradek.wire.insight import Insight, told
from odradek.wire.messages.groups import DescribedGroup, DescribedMember


class Log(NamedTuple):
    """A partition's log as consumers see it."""

    start: int
    end: int
    stable: int  # where who reads only what is committed has to stop


class Holder(NamedTuple):
    """The producer whose open transaction holds a partition back."""

    producer_id: int
    offset: int  # where it begins
    transactional_id: str | None  # None: no coordinator knows it, it hangs
    open_s: float | None


class Reason(NamedTuple):
    """Something that keeps the group from going on, or would."""

    kind: str  # one word, for programs
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    group: DescribedGroup
    progress: Mapping[Partition, Progress] = field(default_factory=dict)
    logs: Mapping[Partition, Log] = field(default_factory=dict)
    holders: Mapping[Partition, Holder] = field(default_factory=dict)
    leaderless: Sequence[Partition] = ()
    missing: Sequence[Partition] = ()  # of topics that are not there any more
    undecided: Sequence[Partition] = ()  # where a transaction has committed an offset that does not count yet
    forbidden: Sequence[str] = ()  # what whoever asks may not see, in words


def summary(found: Findings) -> str:
    group = found.group
    if group.group_state == "Dead":
        return f"Group {group.group_id} is not there: nobody has joined it, and it has no offsets."
    lags = [each.lag for each in found.progress.values() if each.lag is not None]
    members = _counted(len(group.members), "member")
    behind = f"{_counted(sum(lags), 'record')} behind" if any(lags) else "not behind"
    if not lags:
        behind = "nothing committed"
    ages = [each.waiting_s for each in found.progress.values() if each.waiting_s]
    oldest = f", the oldest of them {_long(max(ages))} old" if ages and any(lags) else ""
    return f"Group {group.group_id}: {group.group_state}, {members}, {behind}{oldest}."


def reasons(found: Findings) -> Iterator[Reason]:
    """The gravest first: what stops all of the group, then members, then partitions."""
    if found.group.group_state == "Dead":
        return
    yield from (Reason("not-authorised", each) for each in found.forbidden)
    yield from _about_members(found.group)
    for partition in found.leaderless:
        yield Reason("no-leader", f"{partition} has no leader: nobody can read it, or write to it.")
    for partition in found.missing:
        yield Reason("no-topic", f"{partition} is not there any more, though the group has an offset for it.")
    for partition, log in found.logs.items():
        yield from _about_place(partition, found.progress[partition], log)
        if log.stable < log.end:
            yield _about_transaction(partition, found.progress[partition], log, found.holders.get(partition))
    for partition in found.undecided:
        yield Reason(
            "undecided-offset",
            f"{partition}: a transaction has committed an offset for it and is not decided; who starts to "
            "read it now waits for that.",
        )
    yield from _about_unread(found)


# -- members -----------------------------------------------------------------------------------------------

_UNEASY = 0.5  # of its session: so long a silence is told


def _about_members(group: DescribedGroup) -> Iterator[Reason]:
    if not group.members:
        yield Reason("no-members", "It has no members: nobody reads.")
        return
    insights = {each.member_id: told(each) for each in group.members}
    if group.group_state in ("PreparingRebalance", "CompletingRebalance"):
        yield from _about_rebalance(group, insights)
    for member in group.members:
        insight = insights[member.member_id]
        if insight is not None and insight.silent_ms > _UNEASY * insight.session_timeout_ms:
            yield Reason("silent-member", f"{_named(member)} {_silence(insight)}.")


def _about_rebalance(group: DescribedGroup, insights: Mapping[str, Insight | None]) -> Iterator[Reason]:
    awaited = [
        member
        for member in group.members
        if (insight := insights[member.member_id]) is not None and insight.is_awaited
    ]
    doing = (
        "to join again" if group.group_state == "PreparingRebalance" else "to say who gets which partitions"
    )
    if not any(insights.values()):
        yield Reason("rebalancing", "It is rebalancing; its broker does not tell for whom it waits.")
    elif not awaited:
        yield Reason("rebalancing", "It is rebalancing, and waits for nobody: it is about to end.")
    for member in awaited:
        insight = insights[member.member_id]
        silence = f", which {_silence(insight)}" if insight is not None and insight.silent_ms >= 0 else ""
        yield Reason("rebalancing", f"It is rebalancing, and waits for {_named(member)} {doing}{silence}.")


def _silence(insight: Insight) -> str:
    silent, session = _long(insight.silent_ms / 1000), _long(insight.session_timeout_ms / 1000)
    return f"was last heard of {silent} ago and is put out after {session} of silence"


def _named(member: DescribedMember) -> str:
    static = f", instance {member.group_instance_id}" if member.group_instance_id else ""
    host = member.client_host.removeprefix("/")
    return f"member {member.member_id} (client {member.client_id} on {host}{static})"


# -- partitions --------------------------------------------------------------------------------------------


def _about_place(partition: Partition, progress: Progress, log: Log) -> Iterator[Reason]:
    offset = progress.committed
    if offset is None:
        return
    if offset < log.start:
        yield Reason(
            "out-of-range",
            f"{partition}: the group is at offset {offset}, but the log begins at {log.start} now; its "
            "members go where their auto.offset.reset says.",
        )
    elif offset > log.end:
        yield Reason(
            "out-of-range",
            f"{partition}: the group is at offset {offset}, but the log ends at {log.end}; its members go "
            "where their auto.offset.reset says.",
        )


def _about_transaction(partition: Partition, progress: Progress, log: Log, holder: Holder | None) -> Reason:
    is_there = progress.committed is not None and progress.committed >= log.stable
    stop = "stands" if is_there else "will have to stop"
    return Reason(
        "open-transaction",
        f"{partition}: who reads only what is committed {stop} at offset {log.stable}, of {log.end}, "
        f"because {_transaction(holder)}.",
    )


def _transaction(holder: Holder | None) -> str:
    if holder is None:
        return "a transaction that began there is not known to be over"
    who = f"producer {holder.producer_id}"
    if holder.transactional_id is None:
        return (
            f"{who} has left a transaction open that begins at {holder.offset} and that no coordinator "
            "knows: `odradek transactions abort` ends it"
        )
    since = "" if holder.open_s is None else f" for {_long(holder.open_s)}"
    named = f"transaction {holder.transactional_id} of {who}"
    return f"{named}, which begins at {holder.offset}, has been open{since}"


def _about_unread(found: Findings) -> Iterator[Reason]:
    """Behind, and nobody to catch up: told of a group whose members read something else."""
    if not found.group.members or found.group.group_state != "Stable":
        return
    owned = {each for member in found.group.members for each in assigned_partitions(member.member_assignment)}
    for partition, progress in found.progress.items():
        if partition not in owned and progress.lag:
            records = _counted(progress.lag, "record")
            yield Reason("unread", f"{partition}: no member reads it, and {records} wait there.")


# -- words -------------------------------------------------------------------------------------------------


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def _long(seconds: float) -> str:
    """The two largest units, of which there is something."""
    units = (("d", 86_400), ("h", 3_600), ("min", 60))
    for at, (name, length) in enumerate(units):
        if seconds >= length:
            rest = int(seconds % length)
            smaller, smaller_length = (*units, ("s", 1))[at + 1]
            return f"{int(seconds // length)} {name} {rest // smaller_length} {smaller}"
    return f"{seconds:.0f} s"
