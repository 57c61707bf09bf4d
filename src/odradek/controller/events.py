"""All that can happen to the controller. What asks for an answer is a call of its own on the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from odradek.model.ids import BrokerId, Partition
from odradek.model.image import BrokerImage, TopicImage


@dataclass(frozen=True, slots=True)
class BrokersSeen:
    """All brokers that are registered now, under their present epochs."""

    brokers: tuple[BrokerImage, ...]


@dataclass(frozen=True, slots=True)
class TopicsSeen:
    """Topics that came, or whose assignment changed, as their znodes say. Partitions that nobody has led yet
    have no leader."""

    topics: tuple[TopicImage, ...]


@dataclass(frozen=True, slots=True)
class DeletionWanted:
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReplicasStopped:
    """A broker did what `StopReplicas` with `delete` asked for, as far as it says so."""

    broker: BrokerId
    partitions: frozenset[Partition]


@dataclass(frozen=True, slots=True)
class LogDirFailed:
    """A broker lost a log directory. It is asked about all it holds; for what was there it will say so."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class ReplicasFailed:
    """A broker's disk failed under these; they cannot be led or followed there until it comes back."""

    broker: BrokerId
    partitions: frozenset[Partition]


@dataclass(frozen=True, slots=True)
class BalanceDue:
    """It is time to give leadership back to the first replicas where too many partitions of a broker are led
    by others: more than this share of them."""

    imbalance_percentage_max: int


Event: TypeAlias = (
    BrokersSeen | TopicsSeen | DeletionWanted | ReplicasStopped | LogDirFailed | ReplicasFailed | BalanceDue
)
