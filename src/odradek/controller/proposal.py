"""What a leader may say about who is in sync."""

from __future__ import annotations

from collections.abc import Set

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import BrokerId, Partition
from odradek.model.image import PartitionImage


def check_proposal(
    broker: BrokerId,
    partition: Partition,
    known: PartitionImage,
    proposed: PartitionImage,
    eligible: Set[BrokerId],
) -> None:
    """`ApiError` unless `broker` leads in the epoch we know and names only replicas that may be in sync."""
    if proposed.leader_epoch > known.leader_epoch or proposed.epoch > known.epoch:
        raise ApiError(ErrorCode.NOT_CONTROLLER, f"{partition} is in epoch {known.leader_epoch} here")
    if proposed.leader_epoch < known.leader_epoch:
        raise ApiError(ErrorCode.FENCED_LEADER_EPOCH, f"{partition} is in epoch {known.leader_epoch}")
    if known.leader != broker or broker not in proposed.isr:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"broker {broker} does not lead {partition}")
    if (known.isr, known.recovering) == (proposed.isr, proposed.recovering):
        return  # said before, and heard: the answer got lost
    if proposed.epoch < known.epoch:
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION, f"{partition} is at {known.epoch}")
    if proposed.recovering and (len(proposed.isr) > 1 or not known.recovering):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{partition} cannot recover with {list(proposed.isr)}")
    # The leader itself stays in sync even while it is about to leave.
    ineligible = set(proposed.isr) - (eligible & set(known.replicas)) - {broker}
    if ineligible:
        raise ApiError(ErrorCode.INELIGIBLE_REPLICA, f"{sorted(ineligible)} of {partition}")
