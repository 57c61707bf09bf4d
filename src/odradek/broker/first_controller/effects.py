"""All the controller can ask for: write znodes, tell brokers.

Effects are carried out in their order, and a write that the fence refuses ends the controllership: what comes
after it does not happen. So brokers are only ever told what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from odradek.model.ids import BrokerId, Partition
from odradek.model.image import PartitionImage


@dataclass(frozen=True, slots=True)
class WriteStates:
    """Partition states, each of the epoch before; a state of epoch 0 is new."""

    states: Mapping[Partition, PartitionImage]


@dataclass(frozen=True, slots=True)
class WriteAssignments:
    """Topics whose replicas changed, as they are now in the state."""

    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class RemoveTopics:
    """All that is written of them."""

    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class DropDeletionRequests:
    """Nothing is there to delete."""

    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class TellReplicas:
    """LeaderAndIsr to one broker: lead or follow these, as they are now in the state."""

    broker: BrokerId
    partitions: frozenset[Partition]
    new: frozenset[Partition] = frozenset()
    full: bool = False  # these are all that the broker hosts; whatever else it has is stray


@dataclass(frozen=True, slots=True)
class TellEverybody:
    """UpdateMetadata: what clients of these brokers are told of these partitions, and of all brokers."""

    brokers: frozenset[BrokerId]
    partitions: frozenset[Partition]
    deleted: frozenset[Partition] = frozenset()


@dataclass(frozen=True, slots=True)
class StopReplicas:
    """StopReplica to one broker."""

    broker: BrokerId
    partitions: frozenset[Partition]
    delete: bool


Effect: TypeAlias = (
    WriteStates
    | WriteAssignments
    | RemoveTopics
    | DropDeletionRequests
    | TellReplicas
    | TellEverybody
    | StopReplicas
)
