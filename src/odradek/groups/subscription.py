"""Which topics consumers read, as they tell their leader, and which partitions it gives them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final, TypeVar

from odradek.model.ids import Partition
from odradek.wire.codec import decode
from odradek.wire.messages.payloads import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from odradek.wire.primitives import Malformed
from odradek.wire.schema import declaration

CONSUMER: Final = "consumer"  # the protocol type of those whose metadata is a subscription
T = TypeVar("T")
_VERSION = struct.Struct(">h")


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """Of all of them together; None where one is no subscription."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            topics.update(_read(ConsumerProtocolSubscription, subscription).topics)
    except (Malformed, struct.error):
        return None
    return frozenset(topics)


def assigned_partitions(assignment: bytes) -> tuple[Partition, ...]:
    """None where it is empty, or is no assignment of a consumer."""
    try:
        assigned = _read(ConsumerProtocolAssignment, assignment).assigned_partitions
    except (Malformed, struct.error):
        return ()
    return tuple(Partition(each.topic, number) for each in assigned for number in each.partitions)


def _read(message: type[T], data: bytes) -> T:
    (version,) = _VERSION.unpack_from(data)
    versions = declaration(message).versions
    assert versions is not None
    known = max(versions[0], min(version, versions[-1]))  # newer ones only say more at the end
    return decode(message, known, data, _VERSION.size)
