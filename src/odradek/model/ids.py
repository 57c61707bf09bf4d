"""Distinct types for look-alike values, and the name of a partition."""

from __future__ import annotations

import base64
from typing import NamedTuple, NewType

BrokerId = NewType("BrokerId", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
ProducerId = NewType("ProducerId", int)
TopicId = NewType("TopicId", bytes)  # sixteen bytes, as on the wire

NO_BROKER = BrokerId(-1)
NO_TOPIC_ID = TopicId(bytes(16))  # in a request: "the topic is told by its name"
_ID_SIZE = 16


class Partition(NamedTuple):
    """One partition of one topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


def id_text(id: bytes) -> str:
    """Sixteen bytes as people and znodes write them: 22 characters of base64url."""
    return base64.urlsafe_b64encode(id).rstrip(b"=").decode()


def id_bytes(text: str) -> bytes:
    """The sixteen bytes of a text that `id_text` wrote; `ValueError` for any other text."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise ValueError(f"{text!r} is not an id in base64url") from None
    if len(raw) != _ID_SIZE:
        raise ValueError(f"{text!r} stands for {len(raw)} bytes, an id has {_ID_SIZE}")
    return raw
