"""What the controller knows, and the questions it asks of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

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

    def partitions(self) -> Iterator[tuple[Partition, PartitionImage]]:
        for topic in self.image.topics.values():
            yield from partitions_of(topic)

    def hosted_by(self, broker: BrokerId) -> frozenset[Partition]:
        """All that have been led at least once and have a replica there."""
        return frozenset(
            partition
            for partition, state in self.partitions()
            if broker in state.replicas and state.epoch != NEVER_LED and partition.topic not in self.deleting
        )

    def change(self, states: Mapping[Partition, PartitionImage]) -> None:
        self.image = self.image.with_partitions(states)


def partitions_of(topic: TopicImage) -> Iterator[tuple[Partition, PartitionImage]]:
    for number, state in topic.partitions.items():
        yield Partition(topic.name, number), state


def replicas_of(topic: TopicImage) -> Iterator[tuple[BrokerId, int]]:
    for number, state in topic.partitions.items():
        for replica in state.replicas:
            yield replica, number


def by_broker(partitions: Iterable[Partition], image: ClusterImage) -> dict[BrokerId, frozenset[Partition]]:
    """Which of these each live broker has a replica of."""
    found: dict[BrokerId, set[Partition]] = {}
    for partition in partitions:
        state = image.partition(partition)
        for replica in state.replicas if state is not None else ():
            if replica in image.brokers:
                found.setdefault(replica, set()).add(partition)
    return {broker: frozenset(theirs) for broker, theirs in found.items()}
