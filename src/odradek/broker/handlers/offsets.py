"""Find offsets by time or epoch; move a log's start."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.wire.messages.offsets import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
    EpochEndOffset,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.parked import Parked
    from odradek.broker.partition import HostedPartition
    from odradek.wire.messages.offsets import (
        DeleteRecordsPartition,
        DeleteRecordsRequest,
        ListOffsetsPartition,
        ListOffsetsRequest,
        OffsetForLeaderEpochRequest,
        OffsetForLeaderPartition,
    )

# Places in the log that have a number where others give a timestamp, and the version that brought each.
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_NOT_TIERED = -6
_SINCE = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_NOT_TIERED: 11,
}

UNKNOWN = -1
CONSUMER = -1
READ_COMMITTED = 1

Place = tuple[int, int, int]  # timestamp, offset, leader epoch
NOWHERE: Place = (UNKNOWN, UNKNOWN, UNKNOWN)


# -- ListOffsets -------------------------------------------------------------------------------------------


def list_offsets(ctx: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    asked = Counter(
        (topic.name, each.partition_index) for topic in request.topics for each in topic.partitions
    )
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=tuple(
                    _list_offsets(
                        ctx, request, topic.name, each, is_twice=asked[topic.name, each.partition_index] > 1
                    )
                    for each in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def refuse_list_offsets(request: ListOffsetsRequest, refusal: ApiError) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=tuple(
                    ListOffsetsPartitionResponse(
                        partition_index=each.partition_index, error_code=refusal.error.code
                    )
                    for each in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _list_offsets(
    ctx: RequestContext,
    request: ListOffsetsRequest,
    topic: str,
    asked: ListOffsetsPartition,
    *,
    is_twice: bool,
) -> ListOffsetsPartitionResponse:
    replicas = ctx.services.replicas
    partition = None
    try:
        if is_twice:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"partition {asked.partition_index} is asked for twice")
        if asked.timestamp < 0 and ctx.version < _SINCE.get(asked.timestamp, ctx.version + 1):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"timestamp {asked.timestamp}")
        partition = replicas.hosted(topic, asked.partition_index)
        partition.replica.lead(asked.current_leader_epoch)
        end = _end_for(request, partition)
        if ctx.version == 0:
            return ListOffsetsPartitionResponse(
                partition_index=asked.partition_index,
                error_code=0,
                old_style_offsets=_old_style(partition, asked, end),
            )
        timestamp, offset, epoch = _find(partition, asked.timestamp, end)
    except ApiError as refusal:
        return _no_offset(asked, refusal)
    except StorageError as failure:
        assert partition is not None
        return _no_offset(asked, replicas.failed(partition, failure))
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=0,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=epoch,
    )


def _no_offset(asked: ListOffsetsPartition, refusal: ApiError) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=refusal.error.code)


def _end_for(request: ListOffsetsRequest, partition: HostedPartition) -> int:
    """Where the log ends for who asks."""
    log = partition.log
    if request.replica_id != CONSUMER:
        return log.log_end
    return log.last_stable_offset if request.isolation_level == READ_COMMITTED else log.high_watermark


def _find(partition: HostedPartition, timestamp: int, end: int) -> Place:
    log = partition.log
    match timestamp:
        case _ if timestamp == LATEST:
            return UNKNOWN, end, partition.replica.leader_epoch
        case _ if timestamp in (EARLIEST, EARLIEST_LOCAL):
            return UNKNOWN, log.log_start, log.epochs.at(log.log_start)
        case _ if timestamp in (LATEST_TIERED, EARLIEST_NOT_TIERED):
            return NOWHERE  # there is no tiered storage
        case _ if timestamp == MAX_TIMESTAMP:
            found = log.find_max_timestamp()
        case _:
            found = log.find_timestamp(timestamp)
    if found is None or (timestamp != MAX_TIMESTAMP and found.offset >= end):
        return NOWHERE
    return found.timestamp, found.offset, found.leader_epoch


def _old_style(partition: HostedPartition, asked: ListOffsetsPartition, end: int) -> tuple[int, ...]:
    """Where segments begin, newest first, and the end: what version 0 knew of a log."""
    log = partition.log
    starts = [max(segment.base_offset, log.log_start) for segment in log.segments]
    match asked.timestamp:
        case _ if asked.timestamp == LATEST:
            found = [*starts, end]
        case _ if asked.timestamp == EARLIEST:
            found = starts[:1]
        case _:
            newest = [segment.max_timestamp for segment in log.segments]
            found = [start for start, last in zip(starts, newest, strict=True) if last <= asked.timestamp]
    return tuple(sorted({each for each in found if each <= end}, reverse=True)[: asked.max_num_offsets])


# -- OffsetForLeaderEpoch ----------------------------------------------------------------------------------


def offset_for_leader_epoch(
    ctx: RequestContext, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=tuple(
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=tuple(_end_of_epoch(ctx, topic.topic, each) for each in topic.partitions),
            )
            for topic in request.topics
        )
    )


def refuse_offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, refusal: ApiError
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=tuple(
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=tuple(
                    EpochEndOffset(error_code=refusal.error.code, partition=each.partition)
                    for each in topic.partitions
                ),
            )
            for topic in request.topics
        )
    )


def _end_of_epoch(ctx: RequestContext, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = ctx.services.replicas.hosted(topic, asked.partition)
        partition.replica.lead(asked.current_leader_epoch)
        epoch, end = partition.log.end_of_epoch(asked.leader_epoch)
    except ApiError as refusal:
        return EpochEndOffset(error_code=refusal.error.code, partition=asked.partition)
    return EpochEndOffset(error_code=0, partition=asked.partition, leader_epoch=epoch, end_offset=end)


# -- DeleteRecords -----------------------------------------------------------------------------------------

Deletion = tuple[str, "DeleteRecordsPartition", "int | ApiError"]


def delete_records(
    ctx: RequestContext, request: DeleteRecordsRequest
) -> DeleteRecordsResponse | Parked[DeleteRecordsResponse]:
    deletions: list[Deletion] = [
        (topic.name, each, _delete(ctx, topic.name, each))
        for topic in request.topics
        for each in topic.partitions
    ]
    return _deleted(request, deletions)


def refuse_delete_records(request: DeleteRecordsRequest, refusal: ApiError) -> DeleteRecordsResponse:
    return _deleted(
        request, [(topic.name, each, refusal) for topic in request.topics for each in topic.partitions]
    )


def _delete(ctx: RequestContext, topic: str, asked: DeleteRecordsPartition) -> int | ApiError:
    """The log's new start."""
    replicas = ctx.services.replicas
    partition = None
    try:
        partition = replicas.hosted(topic, asked.partition_index)
        partition.replica.lead()
        if not partition.log.settings.deletes:
            raise ApiError(ErrorCode.POLICY_VIOLATION, f"the cleanup policy of {topic} does not delete")
        return partition.log.delete_records(asked.offset)
    except ApiError as refusal:
        return refusal
    except StorageError as failure:
        assert partition is not None
        return replicas.failed(partition, failure)


def _deleted(request: DeleteRecordsRequest, deletions: list[Deletion]) -> DeleteRecordsResponse:
    results: dict[str, list[DeleteRecordsPartitionResult]] = {topic.name: [] for topic in request.topics}
    for topic, asked, outcome in deletions:
        results[topic].append(
            DeleteRecordsPartitionResult(
                partition_index=asked.partition_index,
                low_watermark=UNKNOWN if isinstance(outcome, ApiError) else outcome,
                error_code=outcome.error.code if isinstance(outcome, ApiError) else 0,
            )
        )
    return DeleteRecordsResponse(
        topics=tuple(
            DeleteRecordsTopicResult(name=name, partitions=tuple(partitions))
            for name, partitions in results.items()
        )
    )
