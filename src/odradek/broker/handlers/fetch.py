"""Fetch: read for consumers and followers, and wait where there is too little to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.log.log import ReadUpTo
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.wire.messages.fetch import (
    AbortedTransaction,
    CurrentLeader,
    EpochEndOffset,
    FetchedPartition,
    FetchResponse,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.fetch_sessions import FetchContext, Found, Wanted
    from odradek.broker.parked import Parked
    from odradek.broker.partition import HostedPartition
    from odradek.wire.messages.fetch import FetchRequest

BY_ID_SINCE = 13
READ_COMMITTED = 1
CONSUMER = -1  # the replica id of those who are none
UNKNOWN = -1


class Reading:
    """One request's way through its partitions; taken anew each time it asks."""

    __slots__ = ("_context", "_ctx", "_max_bytes", "_min_bytes", "_up_to", "has_urgent", "size")

    def __init__(self, ctx: RequestContext, request: FetchRequest, context: FetchContext) -> None:
        self._ctx = ctx
        self._context = context
        self._max_bytes = min(request.max_bytes, ctx.services.fetch_bytes_max)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._up_to = _up_to(request)
        self.size = 0
        self.has_urgent = False  # something that is not to wait: an error, a divergence

    def read(self) -> list[Found]:
        self.size, self.has_urgent = 0, False
        return [self._read(wanted) for wanted in self._context.wanted]

    @property
    def is_enough(self) -> bool:
        return self.has_urgent or self.size >= self._min_bytes

    def _read(self, wanted: Wanted) -> Found:
        replicas = self._ctx.services.replicas
        partition = None
        try:
            partition = (
                replicas.hosted_by_id(wanted.topic_id, wanted.index)
                if self._ctx.version >= BY_ID_SINCE
                else replicas.hosted(wanted.topic, wanted.index)
            )
            found = self._read_partition(wanted, partition)
        except ApiError as refusal:
            self.has_urgent = True
            found = _refused(wanted.index, refusal, partition)
        except StorageError as failure:
            assert partition is not None
            self.has_urgent = True
            found = _refused(wanted.index, replicas.failed(partition, failure), partition)
        records = found.records
        size = 0 if records is None or isinstance(records, bytes) else records.size  # type: ignore[union-attr]
        self.size += size
        return wanted, found, size

    def _read_partition(self, wanted: Wanted, partition: HostedPartition) -> FetchedPartition:
        partition.replica.lead(wanted.leader_epoch)
        log = partition.log
        if wanted.last_fetched_epoch >= 0:
            diverging = _diverging(wanted, partition)
            if diverging is not None:
                self.has_urgent = True
                return _told(wanted.index, partition, diverging=diverging)
        up_to = self._up_to
        room = min(wanted.max_bytes, self._max_bytes - self.size)
        read = log.read(wanted.offset, max(room, 0), up_to, min_one_message=self.size == 0)
        aborted = None
        if up_to is ReadUpTo.LAST_STABLE:
            aborted = tuple(
                AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
                for each in read.aborted
            )
        return FetchedPartition(
            partition_index=wanted.index,
            error_code=0,
            high_watermark=log.high_watermark,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.log_start,
            aborted_transactions=aborted,
            records=read.slice if read.slice is not None else b"",
        )


def fetch(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Parked[FetchResponse]:
    is_replica = _replica_id(request) >= 0
    context = ctx.services.fetch_sessions.begin(
        request, by_id=ctx.version >= BY_ID_SINCE, is_replica=is_replica, now_ms=ctx.services.clock.wall_ms()
    )
    reading = Reading(ctx, request, context)
    found = reading.read()
    if reading.is_enough or request.max_wait_ms <= 0 or not context.wanted:
        return context.answer(found)
    return _park(ctx, request, context, reading)


def refuse_fetch(request: FetchRequest, refusal: ApiError) -> FetchResponse:
    """A session that is not as the client thinks: an answer without partitions."""
    del request
    return FetchResponse(error_code=refusal.error.code, responses=())


def _park(
    ctx: RequestContext, request: FetchRequest, context: FetchContext, reading: Reading
) -> Parked[FetchResponse]:
    def ready() -> FetchResponse | None:
        found = reading.read()
        return context.answer(found) if reading.is_enough else None

    parked = ctx.park(request.max_wait_ms, ready=ready, at_deadline=lambda: context.answer(reading.read()))
    places = ctx.services.replicas.those_of(context.wanted)
    for partition in places:
        partition.await_read(parked)

    def leave() -> None:
        for partition in places:
            partition.forget_read(parked)

    parked.leave = leave
    return parked


def _replica_id(request: FetchRequest) -> int:
    return request.replica_id if request.replica_id != CONSUMER else request.replica_state.replica_id


def _up_to(request: FetchRequest) -> ReadUpTo:
    if _replica_id(request) >= 0:
        return ReadUpTo.LOG_END
    return ReadUpTo.LAST_STABLE if request.isolation_level == READ_COMMITTED else ReadUpTo.HIGH_WATERMARK


def _diverging(wanted: Wanted, partition: HostedPartition) -> EpochEndOffset | None:
    """Where the reader's log and ours part, if they do: its last epoch ended earlier here than there."""
    epoch, end = partition.log.end_of_epoch(wanted.last_fetched_epoch)
    if epoch == UNKNOWN or end == UNKNOWN:
        raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE, f"epoch {wanted.last_fetched_epoch} is not known here")
    if epoch < wanted.last_fetched_epoch or end < wanted.offset:
        return EpochEndOffset(epoch=epoch, end_offset=end)
    return None


def _told(index: int, partition: HostedPartition, *, diverging: EpochEndOffset) -> FetchedPartition:
    log = partition.log
    return FetchedPartition(
        partition_index=index,
        error_code=0,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start,
        diverging_epoch=diverging,
        aborted_transactions=None,
        records=b"",
    )


def _refused(index: int, refusal: ApiError, partition: HostedPartition | None) -> FetchedPartition:
    leader = CurrentLeader()
    if partition is not None and refusal.error in (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
    ):
        replica = partition.replica
        leader = CurrentLeader(leader_id=replica.leader_id, leader_epoch=replica.leader_epoch)
    return FetchedPartition(
        partition_index=index,
        error_code=refusal.error.code,
        high_watermark=UNKNOWN,
        last_stable_offset=UNKNOWN,
        log_start_offset=UNKNOWN,
        current_leader=leader,
        aborted_transactions=() if partition is None else None,
        records=b"",
    )
