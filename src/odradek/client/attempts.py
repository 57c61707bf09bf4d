"""Asking again: which refusals may pass by themselves, how long to pause, when to give up."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.model.errors import ErrorCode
from odradek.runtime.entropy import Entropy

# Topics that are unknown, and whatever else the asker got wrong, are not waited for.
WORTH_ASKING_AGAIN = frozenset(
    {
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    }
)
_SPREAD = 0.2


def pauses_s(first_ms: int, most_ms: int, entropy: Entropy) -> Iterator[float]:
    """Each twice as long as the one before, up to a bound; unequal, so that clients do not come in waves."""
    pause_ms = first_ms
    while True:
        yield entropy.jitter(min(pause_ms, most_ms), _SPREAD) / 1000
        pause_ms = min(2 * pause_ms, most_ms)
