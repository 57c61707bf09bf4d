"""Distinct types for look-alike integers, and the names of topics and partitions."""

from __future__ import annotations

from typing import NamedTuple, NewType
from uuid import UUID

BrokerId = NewType("BrokerId", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
ProducerId = NewType("ProducerId", int)
TopicId = UUID


class Partition(NamedTuple):
    """One partition of one topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"
