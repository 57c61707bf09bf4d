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
    verification = Verification(services.transactions, transactional_id, joins=joins)
    if joins or services.configs.broker.boolean("transaction.partition.verification.enable"):
        verification.ask(dict(_wishes(ctx, request)))
        is_old = ctx.version < ABORTABLE_SINCE
        for partition, refusal in verification.refusals.items():
            verification.refusals[partition] = as_producer_error(refusal, is_old=is_old, joins=joins)
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

    def __init__(self, transactions: Transactions, transactional_id: str, *, joins: bool) -> None:
        """`joins`: being written to is taking part."""
        self.refusals: dict[Partition, ApiError] = {}
        self._transactions = transactions
        self._transactional_id = transactional_id
        self._joins = joins
        self._joined: list[tuple[Hosted, int, Partition]] = []

    def ask(self, wishes: Mapping[Partition, Identity]) -> None:
        for partition, identity in wishes.items():
            try:
                self._ask(partition, identity)
            except ApiError as refusal:
                self.refusals[partition] = refusal

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
                self.refusals[partition] = as_coordinator(refusal)

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


def as_producer_error(refusal: ApiError, *, is_old: bool, joins: bool) -> ApiError:
    """In the words of a produce response. `is_old`: to a client that knows no TRANSACTION_ABORTABLE."""
    error = refusal.error
    if error is ErrorCode.PRODUCER_FENCED:
        return ApiError(ErrorCode.INVALID_PRODUCER_EPOCH)
    if error is ErrorCode.TRANSACTION_ABORTABLE and is_old:
        return ApiError(ErrorCode.INVALID_TXN_STATE, "Partition was not added to the transaction")
    if error in _UNREACHED and not (joins and error is ErrorCode.CONCURRENT_TRANSACTIONS):
        return ApiError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            "Unable to verify the partition has been added to the transaction. Underlying error: "
            f"{error.name}",
        )
    return refusal
