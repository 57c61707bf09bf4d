"""All the controller can ask for: write znodes, tell brokers.

Effects are carried out in their order, and a write that the fence refuses ends the controllership: what comes
after it does not happen. So brokers are only ever told what is written. What is told stands in the effect, as
it was decided: later decisions of the same moment come with effects of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from odradek.model.ids import BrokerId, Partition
from odradek.model.image import PartitionImage, TopicImage

States: TypeAlias = Mapping[Partition, PartitionImage]

LEADER_WHILE_DELETED = BrokerId(-2)  # in metadata: the topic is going, forget it
EPOCH_WHILE_DELETED = -2  # of a replica to stop: in whatever epoch it is


@dataclass(frozen=True, slots=True)
class WriteStates:
    """Partition states, each of the epoch before; a state of epoch 0 is new."""

    states: States


@dataclass(frozen=True, slots=True)
class WriteAssignments:
    """Topics whose replicas changed."""

    topics: tuple[TopicImage, ...]


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
    """LeaderAndIsr to one broker: lead or follow these."""

    broker: BrokerId
    states: States
    new: frozenset[Partition] = frozenset()  # of these, those it does not hold yet
    full: bool = False  # these are all that the broker hosts; whatever else it has is stray


@dataclass(frozen=True, slots=True)
class TellEverybody:
    """UpdateMetadata: what clients of these brokers are told of these partitions, and of all brokers."""

    brokers: frozenset[BrokerId]
    states: States


@dataclass(frozen=True, slots=True)
class StopReplicas:
    """StopReplica to one broker: hold these no longer, unless you are beyond this leader epoch."""

    broker: BrokerId
    epochs: Mapping[Partition, int]
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
