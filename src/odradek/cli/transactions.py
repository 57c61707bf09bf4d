"""`odradek transactions`: kafka-transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from odradek.cli.failures import Ended, Impossible, Misused, Told, message
from odradek.cli.flags import count, number, text, verb
from odradek.cli.output import Row, json_line
from odradek.cli.reach import ClusterFlags, administer, now_ms
from odradek.model.errors import ErrorCode
from odradek.model.ids import BrokerId, Partition

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.wire.messages.transactions import DescribedTransaction, ProducerState

Result = TypeVar("Result")

_MINUTE_MS = 60_000


@dataclass(frozen=True, kw_only=True)
class ListFlags(ClusterFlags):
    duration_filter: int | None = number("Only those that run for longer; below 0, all.", shown="MS")


@dataclass(frozen=True, kw_only=True)
class DescribeFlags(ClusterFlags):
    transactional_id: str | None = text("The transaction.", shown="ID")


@dataclass(frozen=True, kw_only=True)
class PartitionFlags(ClusterFlags):
    topic: str | None = text("The topic.", shown="NAME")
    partition: int | None = number("The partition.")


@dataclass(frozen=True, kw_only=True)
class ProducersFlags(PartitionFlags):
    broker_id: int | None = number("Ask this broker, rather than the leader.", shown="ID")


@dataclass(frozen=True, kw_only=True)
class AbortFlags(PartitionFlags):
    start_offset: int | None = number("Where the transaction begins.", shown="OFFSET")
    producer_id: int | None = number("Whose it is, where the offset is not known.", shown="ID")
    producer_epoch: int | None = number("The producer's epoch.", shown="EPOCH")
    coordinator_epoch: int | None = number("The epoch of the coordinator.", shown="EPOCH")


@dataclass(frozen=True, kw_only=True)
class HangingFlags(PartitionFlags):
    broker_id: int | None = number("Only the partitions that are on this broker.", shown="ID")
    max_transaction_timeout: int = count(
        "How many minutes a transaction may take.", default=15, shown="MINUTES"
    )


# -- looking -----------------------------------------------------------------------------------------------


def show_list(flags: ListFlags) -> None:
    from odradek.cli.formats import transactions as formats
    from odradek.client.transactions import list_transactions

    longer_than_ms = -1 if flags.duration_filter is None else flags.duration_filter
    found = _tried(
        flags, "list transactions", lambda cluster: list_transactions(cluster, longer_than_ms=longer_than_ms)
    )
    _print(flags, formats.LISTED, formats.listed(found))


def show(flags: DescribeFlags) -> None:
    from odradek.cli.formats import transactions as formats

    id = _required(flags.transactional_id, "transactional-id")
    what = f"describe transaction state of transactional-id `{id}`"
    coordinator, found = _tried(flags, what, lambda cluster: _described(cluster, id))
    _print(flags, formats.DESCRIBED, [formats.described(coordinator, found, now_ms())])


async def _described(cluster: Cluster, id: str) -> tuple[BrokerId, DescribedTransaction]:
    from odradek.client.failures import Refused
    from odradek.client.transactions import describe_transaction

    try:
        return await describe_transaction(cluster, id)
    except Refused as refused:
        if refused.error is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            raise
        said = f"DescribeTransactions request for transactionalId `{id}` failed because the ID could not be "
        said += "found"
        raise Refused(refused.error, said) from None


def show_producers(flags: ProducersFlags) -> None:
    from odradek.cli.formats import transactions as formats

    partition = _partition(flags)
    where = "leader" if flags.broker_id is None else f"broker {flags.broker_id}"
    what = f"describe producers for partition {partition} on {where}"
    found = _tried(flags, what, lambda cluster: _producers(cluster, partition, flags.broker_id))
    _print(flags, formats.PRODUCERS, map(formats.producer, found))


def find_hanging(flags: HangingFlags) -> None:
    from odradek.cli.formats import transactions as formats
    from odradek.cli.hanging import hanging

    if not flags.topic and flags.partition is not None:
        raise Misused("The --partition argument requires --topic to be provided")
    if not flags.topic and flags.broker_id is None:
        raise Misused(
            "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the "
            "search"
        )
    now = now_ms()
    since_ms = now - flags.max_transaction_timeout * _MINUTE_MS
    found = _tried(
        flags,
        "describe 1 topics" if flags.topic else "list topics",
        lambda cluster: hanging(cluster, flags.topic, flags.partition, flags.broker_id, since_ms=since_ms),
    )
    _print(flags, formats.HANGING, (formats.hanging(partition, each, now) for partition, each in found))


# -- ending ------------------------------------------------------------------------------------------------


def abort(flags: AbortFlags) -> None:
    from odradek.client.transactions import abort_in

    partition = _partition(flags)
    if flags.start_offset is None:
        producer = _producer_named(flags)
    else:
        what = f"validate producer state for partition {partition}"
        begun = _tried(flags, what, lambda cluster: _producers(cluster, partition))
        producer = _begun_at(flags.start_offset, partition, begun)
    _tried(flags, "abort transaction", lambda cluster: abort_in(cluster, partition, producer))


def _begun_at(offset: int, partition: Partition, producers: Iterable[ProducerState]) -> ProducerState:
    for each in producers:
        if each.current_txn_start_offset == offset:
            return each
    raise Misused(
        f"Could not find any open transactions starting at offset {offset} on partition {partition}"
    )


def _producer_named(flags: AbortFlags) -> ProducerState:
    from odradek.wire.messages.transactions import ProducerState

    if flags.producer_id is None:
        raise Misused(
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or "
            "above) or with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)"
        )
    if flags.producer_epoch is None:
        raise Misused("Missing required argument --producer-epoch")
    if flags.coordinator_epoch is None:
        raise Misused("Missing required argument --coordinator-epoch")
    return ProducerState(
        producer_id=flags.producer_id,
        producer_epoch=flags.producer_epoch,
        coordinator_epoch=flags.coordinator_epoch,
    )


async def _producers(
    cluster: Cluster, partition: Partition, broker: int | None = None
) -> Sequence[ProducerState]:
    from odradek.client.failures import Refused
    from odradek.client.producers import active_producers

    at = None if broker is None else BrokerId(broker)
    found = (await active_producers(cluster, [partition], at=at))[partition]
    if not isinstance(found, Refused):
        return found
    if at is not None and found.error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        raise Impossible(  # that broker has no replica
            message(found), "org.apache.kafka.common.errors.NotLeaderOrFollowerException"
        )
    raise found


# -- asking and telling ------------------------------------------------------------------------------------


def _tried(flags: ClusterFlags, what: str, work: Callable[[Cluster], Awaitable[Result]]) -> Result:
    from odradek.client.failures import ClientError

    if not flags.bootstrap_server:
        raise _usage("argument --bootstrap-server is required")
    try:
        return administer(flags, work)
    except ClientError as failure:
        said = f"Failed to {what}: {message(failure)}. Enable debug logging for additional detail."
        raise Ended(Told(err=said)) from failure


def _partition(flags: PartitionFlags) -> Partition:
    topic = _required(flags.topic, "topic")
    if flags.partition is None:
        raise _usage("argument --partition is required")
    return Partition(topic, flags.partition)


def _required(value: str | None, name: str) -> str:
    if not value:
        raise _usage(f"argument --{name} is required")
    return value


def _usage(said: str) -> Misused:
    return Misused(f"kafka-transactions.sh: error: {said}")


def _print(flags: ClusterFlags, heading: Sequence[str], rows: Iterable[Row]) -> None:
    from odradek.cli.formats.transactions import tabbed

    for line in map(json_line, rows) if flags.json else tabbed(heading, rows):
        click.echo(line)


class _Commands(click.Group):
    """Kafka's tool wants the flags of the connection before the command; here they may stand behind, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = next((at for at, each in enumerate(args) if each in self.commands), None)
        if at:
            args = [args[at], *args[at + 1 :], *args[:at]]
        elif at is None and "--help" not in args:
            raise _usage(f"too few arguments (choose from {', '.join(self.commands)})")
        return super().parse_args(ctx, args)


transactions = _Commands(
    "transactions",
    help="Show transactions and their producers, find those that hang, and end them.",
    commands=[
        verb("list", ListFlags, show_list, help="Show the transactions."),
        verb("describe", DescribeFlags, show, help="Show one transaction."),
        verb("describe-producers", ProducersFlags, show_producers, help="Show who produces to a partition."),
        verb("abort", AbortFlags, abort, help="End a transaction that hangs."),
        verb("find-hanging", HangingFlags, find_hanging, help="Find transactions that nobody will end."),
    ],
)
