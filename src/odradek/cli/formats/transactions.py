"""Transactions and producers as kafka-transactions prints them: tables of cells with a tab behind each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from odradek.cli.formats.java_order import hash_of_partition, in_map
from odradek.cli.output import Json, Row
from odradek.model.ids import BrokerId, Partition
from odradek.wire.messages.transactions import DescribedTransaction, ListedTransaction, ProducerState

_MINUTE_MS = 60_000

LISTED = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
DESCRIBED = (
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
)
PRODUCERS = (
    "ProducerId",
    "ProducerEpoch",
    "LatestCoordinatorEpoch",
    "LastSequence",
    "LastTimestamp",
    "CurrentTransactionStartOffset",
)
HANGING = (
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
)


def listed(found: Mapping[BrokerId, Iterable[ListedTransaction]]) -> Iterator[Row]:
    for broker, theirs in found.items():
        for each in theirs:
            cells = (each.transactional_id, broker, each.producer_id, each.transaction_state)
            yield _row(LISTED, cells)


def described(coordinator: BrokerId, found: DescribedTransaction, now_ms: int) -> Row:
    started_ms = found.transaction_start_time_ms
    partitions = [Partition(each.topic, number) for each in found.topics for number in each.partitions]
    cells = (
        coordinator,
        found.transactional_id,
        found.producer_id,
        found.producer_epoch,
        found.transaction_state,
        found.transaction_timeout_ms,
        None if started_ms < 0 else started_ms,
        None if started_ms < 0 else now_ms - started_ms,
        ",".join(map(str, in_map(partitions, hash_of_partition))),
    )
    return _row(DESCRIBED, cells)


def producer(found: ProducerState) -> Row:
    start = found.current_txn_start_offset
    cells = (
        found.producer_id,
        found.producer_epoch,
        found.coordinator_epoch,
        found.last_sequence,
        found.last_timestamp,
        None if start < 0 else start,
    )
    return _row(PRODUCERS, cells)


def hanging(partition: Partition, found: ProducerState, now_ms: int) -> Row:
    cells = (
        *partition,
        found.producer_id,
        found.producer_epoch,
        found.coordinator_epoch,
        found.current_txn_start_offset,
        found.last_timestamp,
        (now_ms - found.last_timestamp) // _MINUTE_MS,
    )
    return _row(HANGING, cells)


def tabbed(heading: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Cells are as wide as their column, and so is the last one."""
    cells = [heading, *([str(cell) for cell in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "".join(f"{cell.ljust(width)}\t" for cell, width in zip(line, widths, strict=True))


def _row(heading: Sequence[str], cells: Sequence[Json]) -> Row:
    return dict(zip(heading, cells, strict=True))
