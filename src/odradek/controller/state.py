"""What the controller knows, and the questions it asks of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from odradek.controller.effects import States
from odradek.model.ids import BrokerId, Partition
from odradek.model.image import ClusterImage, PartitionImage, TopicImage

NEVER_LED = -1  # the epochs of a partition that has an assignment and no state yet


@dataclass(slots=True)
class ControllerState:
    image: ClusterImage
    allows_unclean: Callable[[str], bool]  # unclean.leader.election.enable of a topic
    leaving: set[BrokerId] = field(default_factory=set)  # they asked for a controlled shutdown
    failed: dict[BrokerId, frozenset[Partition]] = field(default_factory=dict)  # by broken disks
    deleting: set[str] = field(default_factory=set)
    stopped: dict[str, set[tuple[BrokerId, int]]] = field(default_factory=dict)  # replicas of those, gone

    @property
    def live(self) -> frozenset[BrokerId]:
        return frozenset(self.image.brokers)

    def can_host(self, partition: Partition) -> frozenset[BrokerId]:
        """The brokers that are up, and whose disk under this partition works."""
        if not self.failed:
            return self.live
        return frozenset(each for each in self.live if partition not in self.failed.get(each, ()))

    def can_lead(self, partition: Partition) -> frozenset[BrokerId]:
        """Those of them that are not about to leave."""
        return self.can_host(partition) - self.leaving

    def partitions(self) -> Iterator[tuple[Partition, PartitionImage]]:
        """Of all topics that are to stay."""
        for topic in self.image.topics.values():
            if topic.name not in self.deleting:
                yield from partitions_of(topic)

    def everything(self) -> States:
        return {partition: self.told(partition, state) for partition, state in self.partitions()}

    def hosted_by(self, broker: BrokerId) -> States:
        """All that have been led at least once and have a replica there."""
        return {
            partition: state
            for partition, state in self.partitions()
            if broker in state.replicas and state.epoch != NEVER_LED
        }

    def find(self, partition: Partition) -> PartitionImage | None:
        """Of a topic that is to stay."""
        return None if partition.topic in self.deleting else self.image.partition(partition)

    def told(self, partition: Partition, state: PartitionImage) -> PartitionImage:
        """As clients are told of it: with the replicas that are down."""
        up = self.can_host(partition)
        return state._replace(offline=tuple(each for each in state.replicas if each not in up))

    def change(self, states: States) -> None:
        self.image = self.image.with_partitions(states)


def partitions_of(topic: TopicImage) -> Iterator[tuple[Partition, PartitionImage]]:
    for number, state in topic.partitions.items():
        yield Partition(topic.name, number), state


def replicas_of(topic: TopicImage) -> Iterator[tuple[BrokerId, int]]:
    for number, state in topic.partitions.items():
        for replica in state.replicas:
            yield replica, number


def by_broker(
    replicas: Iterable[tuple[Partition, Iterable[BrokerId]]], live: Iterable[BrokerId]
) -> dict[BrokerId, list[Partition]]:
    """Which of these partitions each live broker is named for; brokers in order."""
    found: dict[BrokerId, list[Partition]] = {broker: [] for broker in sorted(live)}
    for partition, brokers in replicas:
        for broker in brokers:
            if broker in found:
                found[broker].append(partition)
    return {broker: theirs for broker, theirs in found.items() if theirs}
