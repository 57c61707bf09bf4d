"""WriteTxnMarkers: a coordinator, or an operator who ends what hangs, decides for our partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from odradek.broker.markers import Decision, Written
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.transactions.transaction import Identity
from odradek.wire.messages.transactions import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.broker.parked import Parked
    from odradek.wire.messages.transactions import WritableTxnMarker, WriteTxnMarkersRequest


def write_txn_markers(
    ctx: RequestContext, request: WriteTxnMarkersRequest
) -> WriteTxnMarkersResponse | Parked[WriteTxnMarkersResponse]:
    written = {
        (at, partition): _append(ctx, marker, partition)
        for at, marker in enumerate(request.markers)
        for partition in _partitions(marker)
    }

    def answer() -> WriteTxnMarkersResponse:
        return _answer(
            request, lambda at, partition: _fate(written[at, partition]) or ErrorCode.REQUEST_TIMED_OUT
        )

    def is_ready() -> bool:
        return None not in map(_fate, written.values())

    if is_ready():
        return answer()
    parked = ctx.park(
        ctx.services.configs.broker.integer("request.timeout.ms"),
        ready=lambda: answer() if is_ready() else None,
        at_deadline=answer,
    )
    for each in written.values():
        if isinstance(each, Written):
            each.await_safe(parked)
    return parked


def refuse_write_txn_markers(request: WriteTxnMarkersRequest, refusal: ApiError) -> WriteTxnMarkersResponse:
    return _answer(request, lambda *_: refusal.error)


def _append(ctx: RequestContext, marker: WritableTxnMarker, partition: Partition) -> Written | ErrorCode:
    decision = Decision(
        Identity(marker.producer_id, marker.producer_epoch),
        marker.transaction_result,
        marker.coordinator_epoch,
    )
    try:
        return ctx.services.markers.append(partition, decision)
    except ApiError as refusal:
        return refusal.error


def _fate(written: Written | ErrorCode) -> ErrorCode | None:
    """None: not known yet."""
    if isinstance(written, ErrorCode):
        return written
    try:
        return ErrorCode.NONE if written.is_safe() else None
    except ApiError as refusal:
        return refusal.error


def _partitions(marker: WritableTxnMarker) -> list[Partition]:
    return [Partition(topic.name, number) for topic in marker.topics for number in topic.partition_indexes]


def _answer(
    request: WriteTxnMarkersRequest, error_of: Callable[[int, Partition], ErrorCode]
) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=tuple(
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=tuple(
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=tuple(
                            WritableTxnMarkerPartitionResult(
                                partition_index=number,
                                error_code=error_of(at, Partition(topic.name, number)).code,
                            )
                            for number in topic.partition_indexes
                        ),
                    )
                    for topic in marker.topics
                    if topic.partition_indexes
                ),
            )
            for at, marker in enumerate(request.markers)
            if _partitions(marker)
        )
    )
