"""Producer ids and transactions: to the shard that coordinates them."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from odradek.broker.handlers.transaction_markers import refuse_write_txn_markers, write_txn_markers
from odradek.broker.handlers.transactions_seen import (
    describe_producers,
    describe_transactions,
    list_transactions,
    refuse_describe_producers,
    refuse_describe_transactions,
)
from odradek.broker.parked import Parked
from odradek.broker.shards import bucket
from odradek.broker.transactions import as_coordinator
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.model.outcome import Outcome
from odradek.model.topic_names import CONSUMER_OFFSETS
from odradek.transactions.transaction import Identity
from odradek.wire.messages.transactions import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
    EndTxnResponse,
    InitProducerIdResponse,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.wire.messages.transactions import (
        AddOffsetsToTxnRequest,
        AddPartitionsToTxnRequest,
        AddPartitionsToTxnTopic,
        EndTxnRequest,
        InitProducerIdRequest,
    )

__all__ = [
    "add_offsets_to_txn",
    "add_partitions_to_txn",
    "describe_producers",
    "describe_transactions",
    "end_txn",
    "init_producer_id",
    "list_transactions",
    "refuse_add_partitions_to_txn",
    "refuse_describe_producers",
    "refuse_describe_transactions",
    "refuse_init_producer_id",
    "refuse_write_txn_markers",
    "write_txn_markers",
]

Reply = TypeVar("Reply")
Now: TypeAlias = Reply | Parked[Reply]
Later: TypeAlias = Coroutine[object, object, Now[Reply]]

NONE = -1
FIRST_EPOCH = 0
FENCED_INIT_SINCE = 4  # the version that may answer PRODUCER_FENCED
FENCED_SINCE = 2  # of the others
MANY_TRANSACTIONS_SINCE = 4  # of AddPartitionsToTxn
V2_SINCE = 5  # of EndTxn: transactions v2


def _in_version(ctx: RequestContext, error: ErrorCode, fenced_since: int = FENCED_SINCE) -> ErrorCode:
    """What older clients know a fenced producer by."""
    is_new = error is ErrorCode.PRODUCER_FENCED and ctx.version < fenced_since
    return ErrorCode.INVALID_PRODUCER_EPOCH if is_new else error


# -- InitProducerId ----------------------------------------------------------------------------------------


def init_producer_id(
    ctx: RequestContext, request: InitProducerIdRequest
) -> Now[InitProducerIdResponse] | Later[InitProducerIdResponse]:
    if (request.producer_id == NONE) != (request.producer_epoch == NONE):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    transactional_id = request.transactional_id
    if request.enable2_pc:
        raise ApiError(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        )  # nobody may, as long as it is not served
    if request.keep_prepared_txn:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    if transactional_id is not None:
        shard = ctx.services.transactions.hosting(transactional_id).shard
        shard.check_timeout(request.transaction_timeout_ms)  # before an id is taken for nothing
        if not shard.needs_id(transactional_id):
            return _open(ctx, request, None)
    id = ctx.services.producer_ids.at_hand()
    return _open(ctx, request, id) if id is not None else _take_and_open(ctx, request)


async def _take_and_open(ctx: RequestContext, request: InitProducerIdRequest) -> Now[InitProducerIdResponse]:
    return _open(ctx, request, await ctx.services.producer_ids.take())


def _open(
    ctx: RequestContext, request: InitProducerIdRequest, fresh_id: int | None
) -> Now[InitProducerIdResponse]:
    transactional_id = request.transactional_id
    if transactional_id is None:
        assert fresh_id is not None
        return InitProducerIdResponse(error_code=0, producer_id=fresh_id, producer_epoch=FIRST_EPOCH)
    transactions = ctx.services.transactions
    is_known = request.producer_id != NONE
    try:
        outcome = transactions.hosting(transactional_id).shard.open(
            transactional_id,
            request.transaction_timeout_ms,
            expected=Identity(request.producer_id, request.producer_epoch) if is_known else None,
            fresh_id=fresh_id,
            now_ms=ctx.services.clock.wall_ms(),
        )
    except ApiError as refusal:
        raise ApiError(_in_version(ctx, refusal.error, FENCED_INIT_SINCE)) from None
    identity = outcome.reply
    if identity is None:
        response = _not_opened(ErrorCode.CONCURRENT_TRANSACTIONS)
    else:
        response = InitProducerIdResponse(
            error_code=0, producer_id=identity.id, producer_epoch=identity.epoch
        )
    return transactions.carry_out(
        ctx,
        transactional_id,
        Outcome(outcome.records, response),
        lambda refusal: _not_opened(refusal.error),
    )


def _not_opened(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error.code, producer_epoch=NONE)


def refuse_init_producer_id(request: InitProducerIdRequest, refusal: ApiError) -> InitProducerIdResponse:
    del request
    return _not_opened(refusal.error)


# -- AddPartitionsToTxn, AddOffsetsToTxn -------------------------------------------------------------------


def add_partitions_to_txn(
    ctx: RequestContext, request: AddPartitionsToTxnRequest
) -> Now[AddPartitionsToTxnResponse] | Later[AddPartitionsToTxnResponse]:
    if ctx.version >= MANY_TRANSACTIONS_SINCE:
        return _add_to_many(ctx, request.transactions)
    adding = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )

    def respond(result: AddPartitionsToTxnResult) -> AddPartitionsToTxnResponse:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=result.topic_results)

    def refuse(refusal: ApiError) -> AddPartitionsToTxnResponse:
        return respond(_added(adding, _in_version(ctx, refusal.error)))

    try:
        missing = _missing(ctx, adding.topics)
        if missing:
            return respond(_not_attempted(adding, missing))
        outcome = _add(ctx, adding)
    except ApiError as refusal:
        return refuse(refusal)
    response = respond(_added(adding, ErrorCode.NONE))
    return ctx.services.transactions.carry_out(
        ctx, adding.transactional_id, Outcome(outcome.records, response), refuse
    )


async def _add_to_many(
    ctx: RequestContext, transactions: Iterable[AddPartitionsToTxnTransaction]
) -> Now[AddPartitionsToTxnResponse]:
    """Asked by brokers, on behalf of those who produce there."""
    results = []
    for adding in transactions:
        missing = _missing(ctx, adding.topics)
        if missing:
            results.append(_not_attempted(adding, missing))
        elif adding.verify_only:
            results.append(_verified(ctx, adding))
        else:
            try:
                hosted = ctx.services.transactions.hosting(adding.transactional_id)
                outcome = _add(ctx, adding)
                await hosted.committed(hosted.write(outcome.records) if outcome.records else hosted.end)
                results.append(_added(adding, ErrorCode.NONE))
            except ApiError as refusal:
                results.append(_added(adding, as_coordinator(refusal).error))
    return AddPartitionsToTxnResponse(results_by_transaction=tuple(results))


def _add(ctx: RequestContext, adding: AddPartitionsToTxnTransaction) -> Outcome[None]:
    return ctx.services.transactions.hosting(adding.transactional_id).shard.add(
        adding.transactional_id,
        Identity(adding.producer_id, adding.producer_epoch),
        _partitions(adding.topics),
        now_ms=ctx.services.clock.wall_ms(),
    )


def _verified(ctx: RequestContext, adding: AddPartitionsToTxnTransaction) -> AddPartitionsToTxnResult:
    identity = Identity(adding.producer_id, adding.producer_epoch)
    errors = {}
    for partition in _partitions(adding.topics):
        try:
            hosted = ctx.services.transactions.hosting(adding.transactional_id)
            hosted.shard.check_takes_part(adding.transactional_id, identity, partition)
        except ApiError as refusal:
            errors[partition] = refusal.error
    return _result(adding, errors, ErrorCode.NONE, tells_empty_topics=False)


def _missing(ctx: RequestContext, topics: Iterable[AddPartitionsToTxnTopic]) -> list[Partition]:
    image = ctx.services.metadata.image
    return [each for each in _partitions(topics) if image.partition(each) is None]


def _partitions(topics: Iterable[AddPartitionsToTxnTopic]) -> list[Partition]:
    return [Partition(topic.name, number) for topic in topics for number in topic.partitions]


def _not_attempted(
    adding: AddPartitionsToTxnTransaction, missing: list[Partition]
) -> AddPartitionsToTxnResult:
    errors = dict.fromkeys(missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return _result(adding, errors, ErrorCode.OPERATION_NOT_ATTEMPTED)


def _added(adding: AddPartitionsToTxnTransaction, error: ErrorCode) -> AddPartitionsToTxnResult:
    return _result(adding, {}, error)


def _result(
    adding: AddPartitionsToTxnTransaction,
    errors: dict[Partition, ErrorCode],
    otherwise: ErrorCode,
    *,
    tells_empty_topics: bool = True,
) -> AddPartitionsToTxnResult:
    return AddPartitionsToTxnResult(
        transactional_id=adding.transactional_id,
        topic_results=tuple(
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=tuple(
                    AddPartitionsToTxnPartitionResult(
                        partition_index=number,
                        partition_error_code=errors.get(Partition(topic.name, number), otherwise).code,
                    )
                    for number in topic.partitions
                ),
            )
            for topic in adding.topics
            if topic.partitions or tells_empty_topics
        ),
    )


def refuse_add_partitions_to_txn(
    request: AddPartitionsToTxnRequest, refusal: ApiError
) -> AddPartitionsToTxnResponse:
    del request
    return AddPartitionsToTxnResponse(error_code=refusal.error.code)


def add_offsets_to_txn(ctx: RequestContext, request: AddOffsetsToTxnRequest) -> Now[AddOffsetsToTxnResponse]:
    """The partition where the group's offsets will be takes part."""

    def refuse(refusal: ApiError) -> AddOffsetsToTxnResponse:
        return AddOffsetsToTxnResponse(error_code=_in_version(ctx, refusal.error).code)

    transactions = ctx.services.transactions
    try:
        outcome = transactions.hosting(request.transactional_id).shard.add(
            request.transactional_id,
            Identity(request.producer_id, request.producer_epoch),
            (_offsets_partition(ctx, request.group_id),),
            now_ms=ctx.services.clock.wall_ms(),
        )
    except ApiError as refusal:
        return refuse(refusal)
    response = AddOffsetsToTxnResponse(error_code=0)
    return transactions.carry_out(ctx, request.transactional_id, Outcome(outcome.records, response), refuse)


def _offsets_partition(ctx: RequestContext, group_id: str) -> Partition:
    """Also while there is none yet: a producer asks who coordinates the group only after this."""
    services = ctx.services
    count = services.configs.broker.integer("offsets.topic.num.partitions")
    known = services.groups.shards.partition_of(group_id)
    return known or Partition(CONSUMER_OFFSETS, bucket(group_id, count))


# -- EndTxn ------------------------------------------------------------------------------------------------


def end_txn(ctx: RequestContext, request: EndTxnRequest) -> Now[EndTxnResponse] | Later[EndTxnResponse]:
    hosted = ctx.services.transactions.hosting(request.transactional_id)
    if ctx.version < V2_SINCE or not hosted.shard.needs_id(request.transactional_id):
        return _end(ctx, request, None)
    id = ctx.services.producer_ids.at_hand()
    return _end(ctx, request, id) if id is not None else _take_and_end(ctx, request)


async def _take_and_end(ctx: RequestContext, request: EndTxnRequest) -> Now[EndTxnResponse]:
    return _end(ctx, request, await ctx.services.producer_ids.take())


def _end(ctx: RequestContext, request: EndTxnRequest, fresh_id: int | None) -> Now[EndTxnResponse]:
    transactions, transactional_id = ctx.services.transactions, request.transactional_id
    shard = transactions.hosting(transactional_id).shard
    identity = Identity(request.producer_id, request.producer_epoch)
    now_ms = ctx.services.clock.wall_ms()
    try:
        if ctx.version < V2_SINCE:
            outcome = shard.end(transactional_id, identity, committed=request.committed, now_ms=now_ms)
            done = Outcome(outcome.records, EndTxnResponse(error_code=0))
        else:
            ended = shard.end_in_v2(
                transactional_id, identity, committed=request.committed, fresh_id=fresh_id, now_ms=now_ms
            )
            id, epoch = ended.reply
            response = EndTxnResponse(error_code=0, producer_id=id, producer_epoch=epoch)
            done = Outcome(ended.records, response)
    except ApiError as refusal:
        raise ApiError(_in_version(ctx, refusal.error)) from None
    return transactions.carry_out(
        ctx, transactional_id, done, lambda refusal: EndTxnResponse(error_code=refusal.error.code)
    )
