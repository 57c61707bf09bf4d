"""Which topics consumers read, as they tell their leader: all of their metadata that matters here."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

from odradek.wire.codec import decode
from odradek.wire.messages.payloads import ConsumerProtocolSubscription
from odradek.wire.primitives import Malformed
from odradek.wire.schema import declaration

CONSUMER: Final = "consumer"  # the protocol type of those whose metadata is a subscription
_VERSION = struct.Struct(">h")


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """Of all of them together; None where one is no subscription."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            topics.update(_read(subscription).topics)
    except (Malformed, struct.error):
        return None
    return frozenset(topics)


def _read(data: bytes) -> ConsumerProtocolSubscription:
    (version,) = _VERSION.unpack_from(data)
    versions = declaration(ConsumerProtocolSubscription).versions
    assert versions is not None
    known = max(versions[0], min(version, versions[-1]))  # newer ones only say more at the end
    return decode(ConsumerProtocolSubscription, known, data, _VERSION.size)
