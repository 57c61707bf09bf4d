"""`odradek explain-group`: why a group does or does not progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Misused, Told, plainly
from odradek.cli.flags import verb
from odradek.cli.output import json_line
from odradek.cli.reach import ClusterFlags, administer, now_ms
from odradek.model.errors import ErrorCode

if TYPE_CHECKING:
    from odradek.cli.explanations import Findings, Holder, Log
    from odradek.client.cluster import Cluster
    from odradek.model.ids import Partition


@dataclass(frozen=True, kw_only=True)
class ExplainFlags(ClusterFlags):
    group: str = ""


def run(flags: ExplainFlags) -> None:
    from odradek.cli.explanations import reasons, summary

    if not flags.bootstrap_server:
        raise Misused("--bootstrap-server must be specified")
    found = administer(flags, lambda cluster: findings(cluster, flags.group))
    why = list(reasons(found))
    if flags.json:
        told = [{"kind": each.kind, "said": each.said} for each in why]
        state = found.group.group_state
        click.echo(
            json_line({"group": flags.group, "state": state, "summary": summary(found), "reasons": told})
        )
        return
    click.echo(summary(found))
    for each in why:
        click.echo(f"- {each.said}")
    if not why and found.group.group_state != "Dead":
        click.echo("- Nothing keeps it from going on.")


async def findings(cluster: Cluster, id: str) -> Findings:
    """Asks everybody concerned. What may not be asked is a finding, too."""
    from odradek.cli.explanations import Findings
    from odradek.cli.group_reports import accepted, assigned, progress_of
    from odradek.client.failures import Refused
    from odradek.client.groups import NO_OFFSET, committed_offsets, describe_groups

    group = accepted(await describe_groups(cluster, [id], in_depth=True))[id]
    committed = accepted(accepted(await committed_offsets(cluster, [id]))[id])
    places = {
        each: answer.committed_offset
        for each, answer in committed.items()
        if answer.committed_offset != NO_OFFSET
    }
    stable = accepted(await committed_offsets(cluster, [id], stable=True))[id]
    undecided = [
        each
        for each, answer in stable.items()
        if isinstance(answer, Refused) and answer.error is ErrorCode.UNSTABLE_OFFSET_COMMIT
    ]
    wanted = list(dict.fromkeys([*assigned(group), *places]))
    sorted_out = await _sorted_out(cluster, wanted)
    progress = await progress_of(cluster, sorted_out.led, places, in_seconds=True)
    logs = await _logs(cluster, sorted_out.led)
    held = [each for each, log in logs.items() if log.stable < log.end]
    return Findings(
        group=group,
        progress=progress,
        logs=logs,
        holders=await _holders(cluster, held),
        leaderless=sorted_out.leaderless,
        missing=sorted_out.missing,
        undecided=undecided,
        forbidden=sorted_out.forbidden,
    )


@dataclass(frozen=True, slots=True)
class _SortedOut:
    led: Sequence[Partition]
    leaderless: Sequence[Partition]
    missing: Sequence[Partition]
    forbidden: Sequence[str]


async def _sorted_out(cluster: Cluster, partitions: Sequence[Partition]) -> _SortedOut:
    """Those that can be asked about, and why not the others: leaders are looked for once, not waited for."""
    from odradek.client.failures import Refused
    from odradek.client.leaders import leaders_of

    led: list[Partition] = []
    refused: dict[ErrorCode, list[Partition]] = {}
    for partition, leader in (await leaders_of(cluster, partitions) if partitions else {}).items():
        if isinstance(leader, Refused):
            refused.setdefault(leader.error, []).append(partition)
        else:
            led.append(partition)
    missing = refused.pop(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
    forbidden = refused.pop(ErrorCode.TOPIC_AUTHORIZATION_FAILED, [])
    topics = ", ".join(dict.fromkeys(each.topic for each in forbidden))
    said = [f"Whoever asks here is not authorised to see {topics}."] if topics else []
    return _SortedOut(led, [each for some in refused.values() for each in some], missing, said)


async def _logs(cluster: Cluster, partitions: Sequence[Partition]) -> Mapping[Partition, Log]:
    from odradek.cli.explanations import Log
    from odradek.cli.group_reports import accepted
    from odradek.client.offsets import EARLIEST, LATEST, list_offsets

    if not partitions:
        return {}
    starts = accepted(await list_offsets(cluster, dict.fromkeys(partitions, EARLIEST)))
    ends = accepted(await list_offsets(cluster, dict.fromkeys(partitions, LATEST)))
    stable = accepted(await list_offsets(cluster, dict.fromkeys(partitions, LATEST), committed_only=True))
    return {each: Log(starts[each].offset, ends[each].offset, stable[each].offset) for each in partitions}


async def _holders(cluster: Cluster, partitions: Sequence[Partition]) -> Mapping[Partition, Holder]:
    """Whose transaction holds each of these back: the first that is open there."""
    from odradek.cli.explanations import Holder
    from odradek.cli.group_reports import accepted
    from odradek.client.producers import active_producers

    if not partitions:
        return {}
    producers = accepted(await active_producers(cluster, partitions))
    first = {
        partition: min(
            (each for each in theirs if each.current_txn_start_offset >= 0),
            key=lambda each: each.current_txn_start_offset,
            default=None,
        )
        for partition, theirs in producers.items()
    }
    ids = sorted({each.producer_id for each in first.values() if each is not None})
    coordinated = await _coordinated(cluster, ids)
    return {
        partition: Holder(
            each.producer_id,
            each.current_txn_start_offset,
            *coordinated.get((partition, each.producer_id), (None, None)),
        )
        for partition, each in first.items()
        if each is not None
    }


async def _coordinated(
    cluster: Cluster, producer_ids: Sequence[int]
) -> Mapping[tuple[Partition, int], tuple[str, float | None]]:
    """By partition and producer the transactions that coordinators know: name, and how long it is open."""
    from odradek.client.transactions import describe_transaction, list_transactions, partitions_of

    found: dict[tuple[Partition, int], tuple[str, float | None]] = {}
    for listed in (await list_transactions(cluster, producer_ids=producer_ids)).values():
        for each in listed:
            _, described = await describe_transaction(cluster, each.transactional_id)
            started_ms = described.transaction_start_time_ms
            open_s = None if started_ms < 0 else max(now_ms() - started_ms, 0) / 1000
            for partition in partitions_of(described):
                found[partition, each.producer_id] = (each.transactional_id, open_s)
    return found


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    from odradek.client.failures import Refused, Unreachable

    if isinstance(failure, Refused) and failure.error is ErrorCode.GROUP_AUTHORIZATION_FAILED:
        return Told(out="Whoever asks here is not authorised to see this group.")
    if isinstance(failure, Refused | Unreachable):
        return Told(out=f"Nobody tells of this group, and so it cannot go on either: {failure}.")
    return plainly(failure, arguments)


explain_group = verb(
    "explain-group",
    ExplainFlags,
    run,
    help="Say in plain words why a group does or does not progress.",
    failing=_told,
    arguments=[click.Argument(["group"], metavar="GROUP")],
)
