"""`odradek log-dirs`: kafka-log-dirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.cli.failures import Impossible, Misused, Told, message, said_as
from odradek.cli.flags import switch, text, verb
from odradek.cli.output import json_line
from odradek.cli.reach import ClusterFlags, administer
from odradek.cli.showing import show

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.wire.messages.reassign import DescribeLogDirsResult


@dataclass(frozen=True, kw_only=True)
class LogDirsFlags(ClusterFlags):
    describe: bool = switch("Show what lies in the data directories of brokers, as JSON.")
    broker_list: str | None = text("Only these brokers.", shown="ID,...")
    topic_list: str | None = text("Only these topics.", shown="NAME,...")


def run(flags: LogDirsFlags) -> None:
    from odradek.cli.formats.log_dirs import described, replica_rows

    for name in ("bootstrap_server", "describe"):
        if not getattr(flags, name):
            raise Misused(f'Missing required argument "[{name.replace("_", "-")}]"')
    topics = {each for each in (flags.topic_list or "").split(",") if each}
    found = administer(flags, lambda cluster: _directories(cluster, flags))
    whole = described(found, topics)
    told = (
        "Querying brokers for log directories information",
        f"Received log directory information from brokers {','.join(map(str, found))}",
        json_line(whole),
    )
    show(flags, kafka=told, json=[whole], people=replica_rows(found, topics))


async def _directories(cluster: Cluster, flags: LogDirsFlags) -> dict[int, tuple[DescribeLogDirsResult, ...]]:
    from odradek.client.brokers import brokers, log_dirs
    from odradek.client.failures import Refused
    from odradek.model.ids import BrokerId

    asked = {_id(each) for each in (flags.broker_list or "").split(",") if each}
    live = [each.node_id for each in await brokers(cluster)]
    absent = sorted(asked - set(live))
    if absent:
        raise Misused(
            f"ERROR: The given brokers do not exist from --broker-list: {','.join(map(str, absent))}. "
            f"Current existent brokers: {','.join(map(str, live))}"
        )
    found = await log_dirs(cluster, [BrokerId(each) for each in live if not asked or each in asked])
    for answer in found.values():
        if isinstance(answer, Refused):
            raise answer
    return {id: answer for id, answer in found.items() if not isinstance(answer, Refused)}


def _id(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Impossible(f'For input string: "{text}"', "java.lang.NumberFormatException") from None


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(err=f"{message(failure)}\n{said_as(failure)}: {message(failure)}")


log_dirs = verb("log-dirs", LogDirsFlags, run, help="Show the data directories of brokers.", failing=_told)
