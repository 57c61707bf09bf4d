"""Producer ids for idempotent producers, and who has been producing to a partition."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING

from odradek.model import topic_names
from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.messages.transactions import (
    DescribeProducersPartitionResponse,
    DescribeProducersResponse,
    DescribeProducersTopicResponse,
    InitProducerIdResponse,
    ProducerState,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.wire.messages.transactions import DescribeProducersRequest, InitProducerIdRequest

NONE = -1
FIRST_EPOCH = 0


# -- InitProducerId ----------------------------------------------------------------------------------------


def init_producer_id(
    ctx: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | Coroutine[object, object, InitProducerIdResponse]:
    if (request.producer_id == NONE) != (request.producer_epoch == NONE) or request.transactional_id == "":
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "transactions are not coordinated here")
    id = ctx.services.producer_ids.at_hand()
    return _begin(id) if id is not None else _take_and_begin(ctx)


def refuse_init_producer_id(request: InitProducerIdRequest, refusal: ApiError) -> InitProducerIdResponse:
    del request
    return InitProducerIdResponse(error_code=refusal.error.code, producer_epoch=NONE)


async def _take_and_begin(ctx: RequestContext) -> InitProducerIdResponse:
    return _begin(await ctx.services.producer_ids.take())


def _begin(id: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=0, producer_id=id, producer_epoch=FIRST_EPOCH)


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
