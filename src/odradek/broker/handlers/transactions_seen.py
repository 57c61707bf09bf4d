"""What is told of transactions: who coordinates what, and who has been producing to a partition."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from odradek.model import topic_names
from odradek.model.errors import ApiError, ErrorCode
from odradek.transactions.listing import Listing
from odradek.wire.messages.transactions import (
    DescribedTransaction,
    DescribeProducersPartitionResponse,
    DescribeProducersResponse,
    DescribeProducersTopicResponse,
    DescribeTransactionsResponse,
    ListedTransaction,
    ListTransactionsResponse,
    ProducerState,
    TransactionTopic,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.wire.messages.transactions import (
        DescribeProducersRequest,
        DescribeTransactionsRequest,
        ListTransactionsRequest,
    )

# -- DescribeTransactions ----------------------------------------------------------------------------------


def describe_transactions(
    ctx: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=tuple(_described(ctx, each) for each in request.transactional_ids)
    )


def _described(ctx: RequestContext, transactional_id: str) -> DescribedTransaction:
    try:
        transaction = ctx.services.transactions.hosting(transactional_id).shard.find(transactional_id)
        if transaction is None:
            raise ApiError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    except ApiError as refusal:
        return _undescribed(transactional_id, refusal)
    return DescribedTransaction(
        error_code=0,
        transactional_id=transactional_id,
        transaction_state=transaction.state.label,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started_ms,
        producer_id=transaction.identity.id,
        producer_epoch=transaction.identity.epoch,
        topics=tuple(
            TransactionTopic(topic=topic, partitions=tuple(each.number for each in its))
            for topic, its in groupby(sorted(transaction.partitions), key=lambda each: each.topic)
        ),
    )


def _undescribed(transactional_id: str, refusal: ApiError) -> DescribedTransaction:
    return DescribedTransaction(
        error_code=refusal.error.code,
        transactional_id=transactional_id,
        transaction_state="",
        transaction_timeout_ms=0,
        transaction_start_time_ms=0,
        producer_id=0,
        producer_epoch=0,
        topics=(),
    )


def refuse_describe_transactions(
    request: DescribeTransactionsRequest, refusal: ApiError
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=tuple(_undescribed(each, refusal) for each in request.transactional_ids)
    )


# -- ListTransactions --------------------------------------------------------------------------------------


def list_transactions(ctx: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """Those of this broker."""
    shards = ctx.services.transactions.shards
    if shards.is_loading:
        raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    listing = Listing(request, ctx.services.clock.wall_ms())
    return ListTransactionsResponse(
        error_code=0,
        unknown_state_filters=listing.unknown_states,
        transaction_states=tuple(
            ListedTransaction(
                transactional_id=transactional_id,
                producer_id=transaction.identity.id,
                transaction_state=transaction.state.label,
            )
            for hosted in shards
            for transactional_id, transaction in hosted.shard
            if listing.shows(transactional_id, transaction)
        ),
    )


def refuse_list_transactions(request: ListTransactionsRequest, refusal: ApiError) -> ListTransactionsResponse:
    del request
    return ListTransactionsResponse(
        error_code=refusal.error.code, unknown_state_filters=(), transaction_states=()
    )


# -- DescribeProducers -------------------------------------------------------------------------------------


def describe_producers(ctx: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=tuple(
            DescribeProducersTopicResponse(
                name=topic.name,
                partitions=tuple(_producers(ctx, topic.name, number) for number in topic.partition_indexes),
            )
            for topic in request.topics
        )
    )


def refuse_describe_producers(
    request: DescribeProducersRequest, refusal: ApiError
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=tuple(
            DescribeProducersTopicResponse(
                name=topic.name,
                partitions=tuple(_no_producers(number, refusal) for number in topic.partition_indexes),
            )
            for topic in request.topics
        )
    )


def _producers(ctx: RequestContext, topic: str, number: int) -> DescribeProducersPartitionResponse:
    try:
        complaint = topic_names.complaint(topic)
        if complaint is not None:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {complaint}")
        if topic not in ctx.services.metadata.image.topics:
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
            )
        partition = ctx.services.replicas.hosted(topic, number)
        partition.replica.lead()
    except ApiError as refusal:
        return _no_producers(number, refusal)
    return DescribeProducersPartitionResponse(
        partition_index=number,
        error_code=0,
        active_producers=tuple(
            ProducerState(
                producer_id=each.producer_id,
                producer_epoch=each.epoch,
                last_sequence=each.last_sequence,
                last_timestamp=each.last_timestamp,
                coordinator_epoch=each.coordinator_epoch,
                current_txn_start_offset=each.transaction_first_offset,
            )
            for each in partition.log.producers.describe()
        ),
    )


def _no_producers(number: int, refusal: ApiError) -> DescribeProducersPartitionResponse:
    return DescribeProducersPartitionResponse(
        partition_index=number,
        error_code=refusal.error.code,
        error_message=refusal.detail or None,
        active_producers=(),
    )
