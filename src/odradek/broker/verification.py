"""May these batches take part in this transaction? Its coordinator is asked before the first is taken.

A partition in which the producer's transaction is open already need not ask again. Where clients speak
transactions v2 (KIP-890), asking is taking part: the coordinator notes the partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from odradek.broker.transactions import as_coordinator
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.transactions.transaction import Identity, Protocol
from odradek.wire.batch import HEADER_SIZE, TRANSACTIONAL, read_header

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.transactions import Hosted, Transactions
    from odradek.wire.messages.produce import ProduceRequest

BY_ID_SINCE = 13  # versions of Produce
JOINS_SINCE = 12  # being written to is taking part
ABORTABLE_SINCE = 11  # may answer TRANSACTION_ABORTABLE

_UNREACHED: tuple[ErrorCode, ...] = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
)


Refused = Mapping[Partition, ApiError]


def verify(ctx: RequestContext, request: ProduceRequest, transactional_id: str) -> Verification:
    """Ask for every partition of the request that has to be asked for."""
    joins = ctx.version >= JOINS_SINCE
    services = ctx.services
    verification = Verification(
        services.transactions,
        transactional_id,
        joins=joins,
        knows_abortable=ctx.version >= ABORTABLE_SINCE,
    )
    if joins or services.configs.broker.boolean("transaction.partition.verification.enable"):
        verification.ask(dict(_wishes(ctx, request)))
    return verification


def _wishes(ctx: RequestContext, request: ProduceRequest) -> Iterator[tuple[Partition, Identity]]:
    replicas = ctx.services.replicas
    for topic in request.topic_data:
        for data in topic.partition_data:
            records = data.records
            assert records is None or isinstance(records, memoryview)
            if records is None or len(records) < HEADER_SIZE:
                continue
            try:
                partition = (
                    replicas.hosted_by_id(topic.topic_id, data.index)
                    if ctx.version >= BY_ID_SINCE
                    else replicas.hosted(topic.name, data.index)
                )
            except ApiError:
                continue  # nothing will be appended
            header = read_header(records)
            identity = Identity(header.producer_id, header.producer_epoch)
            if (
                header.attributes & TRANSACTIONAL
                and identity.id >= 0
                and not partition.log.producers.is_open(*identity)
            ):
                yield partition.name, identity


class Verification:
    """What the coordinator says of who wants to write where."""

    def __init__(
        self, transactions: Transactions, transactional_id: str, *, joins: bool, knows_abortable: bool
    ) -> None:
        """`joins`: being written to is taking part."""
        self.refusals: dict[Partition, ApiError] = {}
        self._knows_abortable = knows_abortable
        self._transactions = transactions
        self._transactional_id = transactional_id
        self._joins = joins
        self._joined: list[tuple[Hosted, int, Partition]] = []

    def ask(self, wishes: Mapping[Partition, Identity]) -> None:
        for partition, identity in wishes.items():
            try:
                self._ask(partition, identity)
            except ApiError as refusal:
                self.refusals[partition] = self._told(refusal)

    @property
    def is_settled(self) -> bool:
        """All is committed that was noted."""
        try:
            return all(hosted.is_committed(end) for hosted, end, _ in self._joined)
        except ApiError:
            return False

    async def settle(self) -> None:
        for hosted, end, partition in self._joined:
            try:
                await hosted.committed(end)
            except ApiError as refusal:
                self.refusals[partition] = self._told(refusal)

    def _ask(self, partition: Partition, identity: Identity) -> None:
        hosted = self._transactions.hosting(self._transactional_id)
        if not self._joins:
            hosted.shard.check_takes_part(self._transactional_id, identity, partition)
            return
        outcome = hosted.shard.add(
            self._transactional_id,
            identity,
            (partition,),
            now_ms=self._transactions.now_ms(),
            protocol=Protocol.V2,
        )
        if outcome.records:
            self._joined.append((hosted, hosted.write(outcome.records), partition))

    def _told(self, refusal: ApiError) -> ApiError:
        """In the words of those who write to partitions."""
        match refusal.error:
            case ErrorCode.PRODUCER_FENCED:
                return ApiError(ErrorCode.INVALID_PRODUCER_EPOCH)
            case ErrorCode.TRANSACTION_ABORTABLE if not self._knows_abortable:
                return ApiError(ErrorCode.INVALID_TXN_STATE, "Partition was not added to the transaction")
        return as_coordinator(refusal)


def refused(ctx: RequestContext, verification: Verification) -> Refused:
    """Where a produce request is refused, in its words: what may be otherwise soon, every client retries."""
    return {
        partition: _of_produce(refusal, knows_concurrent=ctx.version >= JOINS_SINCE)
        for partition, refusal in verification.refusals.items()
    }


def _of_produce(refusal: ApiError, *, knows_concurrent: bool) -> ApiError:
    error = refusal.error
    if error not in _UNREACHED or (knows_concurrent and error is ErrorCode.CONCURRENT_TRANSACTIONS):
        return refusal
    return ApiError(
        ErrorCode.NOT_ENOUGH_REPLICAS,
        f"Unable to verify the partition has been added to the transaction. Underlying error: {error.name}",
    )
