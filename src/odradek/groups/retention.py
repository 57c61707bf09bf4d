"""Which committed offsets are too old to be kept: those that nobody has had use for in a while (KIP-211)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.groups.group import State
from odradek.groups.subscription import CONSUMER

if TYPE_CHECKING:
    from odradek.groups.group import Group
    from odradek.groups.offsets import Offsets, Place
    from odradek.wire.messages.stored import OffsetCommitValue


def expired(group: Group, offsets: Offsets, retention_ms: int, now_ms: int) -> Iterator[Place]:
    """Of an empty group all, some time after it became so (or after the commit, if it never had members). Of
    consumers what they do not read any more, some time after the commit."""
    in_use: frozenset[str] | None = None
    if group.state is State.EMPTY:
        in_use = frozenset()
    elif group.state is State.STABLE and group.protocol_type == CONSUMER:
        in_use = group.subscribed_topics
    if in_use is None:
        return
    empty_since_ms = group.since_ms if group.state is State.EMPTY else None
    for place, value in offsets.of(group.id):
        if (
            place.topic not in in_use
            and not offsets.is_pending(place)
            and _is_over(value, empty_since_ms, retention_ms, now_ms)
        ):
            yield place


def _is_over(value: OffsetCommitValue, empty_since_ms: int | None, retention_ms: int, now_ms: int) -> bool:
    if value.expire_timestamp >= 0:
        return now_ms >= value.expire_timestamp
    unused_since_ms = value.commit_timestamp if empty_since_ms is None else empty_since_ms
    return now_ms - unused_since_ms >= retention_ms
