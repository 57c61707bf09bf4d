"""Produce: append, then wait for the acknowledgements asked for.

Every append happens before anything waits, so one connection's requests append in the order they came.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, TypeAlias

from odradek.broker.parked import Parked
from odradek.broker.partition import ACKS_ALL, ACKS_LEADER, ACKS_NONE
from odradek.broker.verification import BY_ID_SINCE, Refused, Verification, refused, verify
from odradek.log.log import Origin
from odradek.log.validate import RecordsRefused
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.model.topic_names import is_internal
from odradek.wire.batch import ATTRIBUTES_AT, HEADER_SIZE, TRANSACTIONAL
from odradek.wire.messages.produce import (
    CurrentLeader,
    NodeEndpoint,
    PartitionData,
    PartitionResponse,
    ProduceRequest,
    ProduceResponse,
    RecordError,
    TopicData,
    TopicResponse,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.partition import HostedPartition
    from odradek.log.log import Appended

_FLAGS_AT = ATTRIBUTES_AT + 1
_NOBODY: Refused = {}
NO_OFFSET = -1

_BEFORE_THE_LOG = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.RECORD_LIST_TOO_LARGE,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.REQUEST_TIMED_OUT,
)


class Append:
    """One partition's part of a request, and how it went."""

    __slots__ = ("appended", "index", "partition", "refusal")

    def __init__(
        self,
        index: int,
        partition: HostedPartition | None = None,
        appended: Appended | None = None,
        refusal: ApiError | None = None,
    ) -> None:
        self.index = index
        self.partition = partition
        self.appended = appended
        self.refusal = refusal

    def is_settled(self, acks: int) -> bool:
        if self.appended is None or self.partition is None:
            return True
        try:
            return self.partition.is_acknowledged(self.appended.last_offset + 1, acks)
        except ApiError as refusal:
            self.refuse(refusal)
            return True

    def refuse(self, refusal: ApiError) -> None:
        self.appended, self.refusal = None, refusal


Appends = list[tuple["TopicData", list[Append]]]
Answer: TypeAlias = ProduceResponse | Parked[ProduceResponse] | None


def produce(ctx: RequestContext, request: ProduceRequest) -> Answer | Coroutine[object, object, Answer]:
    if request.acks not in (ACKS_NONE, ACKS_LEADER, ACKS_ALL):
        return refuse_produce(request, ApiError(ErrorCode.INVALID_REQUIRED_ACKS))
    if request.transactional_id is None:
        if _is_transactional(request):
            return refuse_produce(request, ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
        return _produce(ctx, request, _NOBODY)
    verification = verify(ctx, request, request.transactional_id)
    if verification.is_settled:
        return _produce(ctx, request, refused(ctx, verification))
    return _produce_later(ctx, _kept(request), verification)


async def _produce_later(ctx: RequestContext, request: ProduceRequest, verification: Verification) -> Answer:
    """Once those partitions are known to take part in the transaction that are written to."""
    await verification.settle()
    return _produce(ctx, request, refused(ctx, verification))


def _produce(ctx: RequestContext, request: ProduceRequest, refusals: Refused) -> Answer:
    acks = request.acks
    appends: Appends = [
        (topic, [_append(ctx, topic, data, acks, refusals) for data in topic.partition_data])
        for topic in request.topic_data
    ]
    if acks == ACKS_NONE:
        _unacknowledged(ctx, appends)
        return None
    waiting = [each for _, parts in appends for each in parts if not each.is_settled(acks)]
    if not waiting:
        return _response(ctx, appends)
    return _park(ctx, request, appends, waiting)


def _is_transactional(request: ProduceRequest) -> bool:
    for topic in request.topic_data:
        for data in topic.partition_data:
            records = data.records
            assert records is None or isinstance(records, memoryview)
            if records is not None and len(records) >= HEADER_SIZE and records[_FLAGS_AT] & TRANSACTIONAL:
                return True
    return False


def _kept(request: ProduceRequest) -> ProduceRequest:
    """Records are views of what was received, which is overwritten once we wait."""

    def copied(data: PartitionData) -> PartitionData:
        assert isinstance(data.records, memoryview | None)
        records = None if data.records is None else memoryview(bytearray(data.records))
        return PartitionData(index=data.index, records=records)

    return ProduceRequest(
        transactional_id=request.transactional_id,
        acks=request.acks,
        timeout_ms=request.timeout_ms,
        topic_data=tuple(
            TopicData(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_data=tuple(map(copied, topic.partition_data)),
            )
            for topic in request.topic_data
        ),
    )


def _append(
    ctx: RequestContext, topic: TopicData, data: PartitionData, acks: int, refusals: Refused
) -> Append:
    name = topic.name
    replicas = ctx.services.replicas
    records = data.records
    assert records is None or isinstance(records, memoryview)
    partition = None
    try:
        partition = (
            replicas.hosted_by_id(topic.topic_id, data.index)
            if ctx.version >= BY_ID_SINCE
            else replicas.hosted(name, data.index)
        )
        if partition.name in refusals:
            return Append(data.index, refusal=refusals[partition.name])
        if is_internal(partition.name.topic):
            raise ApiError(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {partition.name.topic}"
            )
        if not records:
            raise ApiError(ErrorCode.INVALID_RECORD, "a produced partition has no records")
        appended = partition.append(records, acks, Origin.CLIENT)
    except ApiError as refusal:
        ctx.services.topic_metrics.produce_failed(name, len(records or b""))
        return Append(data.index, partition, refusal=refusal)
    except StorageError as failure:
        assert partition is not None
        return Append(data.index, partition, refusal=replicas.failed(partition, failure))
    ctx.services.topic_metrics.produced(
        partition.name.topic, appended.last_offset - appended.base_offset + 1, len(records)
    )
    return Append(data.index, partition, appended)


def _park(
    ctx: RequestContext, request: ProduceRequest, appends: Appends, waiting: list[Append]
) -> Parked[ProduceResponse]:
    acks = request.acks

    def ready() -> ProduceResponse | None:
        return _response(ctx, appends) if all(each.is_settled(acks) for each in waiting) else None

    def at_deadline() -> ProduceResponse:
        for each in waiting:
            if not each.is_settled(acks):
                each.refuse(ApiError(ErrorCode.REQUEST_TIMED_OUT))
        return _response(ctx, appends)

    parked = ctx.park(request.timeout_ms, ready=ready, at_deadline=at_deadline)
    for each in waiting:
        assert each.partition is not None
        assert each.appended is not None
        each.partition.await_acknowledged(each.appended.last_offset + 1, acks, parked)
    return parked


def _unacknowledged(ctx: RequestContext, appends: Appends) -> None:
    """Nobody reads an answer. A refusal is told the only way there is: the client finds its connection
    closed, asks for metadata, and comes back to the right broker."""
    refused = [each for _, parts in appends for each in parts if each.refusal is not None]
    if refused:
        ctx.close_connection(f"a produce request without acknowledgements failed: {refused[0].refusal}")


def _response(ctx: RequestContext, appends: Appends) -> ProduceResponse:
    leaders: dict[int, NodeEndpoint] = {}
    return ProduceResponse(
        responses=tuple(
            TopicResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=tuple([_answer(ctx, each, leaders) for each in parts]),
            )
            for topic, parts in appends
        ),
        node_endpoints=tuple(leaders.values()),
    )


def _answer(ctx: RequestContext, append: Append, leaders: dict[int, NodeEndpoint]) -> PartitionResponse:
    appended = append.appended
    if appended is not None:
        return PartitionResponse(
            index=append.index,
            error_code=0,
            base_offset=appended.base_offset,
            log_append_time_ms=appended.append_time_ms,
            log_start_offset=appended.log_start,
        )
    assert append.refusal is not None
    return _refusal(ctx, append, append.refusal, leaders)


def _refusal(
    ctx: RequestContext, append: Append, refusal: ApiError, leaders: dict[int, NodeEndpoint]
) -> PartitionResponse:
    leader = CurrentLeader()
    if append.partition is not None and refusal.error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        replica = append.partition.replica
        leader = CurrentLeader(leader_id=replica.leader_id, leader_epoch=replica.leader_epoch)
        for broker in ctx.services.metadata.brokers(ctx.listener):
            if broker.node_id == replica.leader_id:
                leaders[broker.node_id] = NodeEndpoint(
                    node_id=broker.node_id, host=broker.host, port=broker.port, rack=broker.rack
                )
    return PartitionResponse(
        index=append.index,
        error_code=refusal.error.code,
        base_offset=NO_OFFSET,
        log_start_offset=_log_start(append, refusal),
        error_message=refusal.detail or None,
        record_errors=tuple(
            RecordError(batch_index=each.batch_index, batch_index_error_message=each.reason)
            for each in (refusal.records if isinstance(refusal, RecordsRefused) else ())
        ),
        current_leader=leader,
    )


def _log_start(append: Append, refusal: ApiError) -> int:
    """Told where the log looked at the records, and found them wrong by themselves."""
    if append.partition is None or refusal.error in _BEFORE_THE_LOG:
        return NO_OFFSET
    return append.partition.log.log_start


def refuse_produce(request: ProduceRequest, refusal: ApiError) -> ProduceResponse:
    """Every partition of it, for a reason that lies in the request."""
    return ProduceResponse(
        responses=tuple(
            TopicResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=tuple(
                    PartitionResponse(index=data.index, error_code=refusal.error.code, base_offset=NO_OFFSET)
                    for data in topic.partition_data
                ),
            )
            for topic in request.topic_data
        )
    )
