"""The current cluster image, swapped whole, and the pieces of answers that are made from it over and over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from odradek.model.errors import ErrorCode
from odradek.model.ids import NO_BROKER
from odradek.model.topic_names import is_internal
from odradek.wire.messages.metadata import MetadataBroker, MetadataPartition, MetadataTopic

if TYPE_CHECKING:
    from odradek.model.ids import BrokerId
    from odradek.model.image import ClusterImage, PartitionImage, TopicImage

Changed = Callable[["ClusterImage", "ClusterImage"], None]


class Metadata:
    """What this broker knows of the cluster. A topic is described once a listener, not once a request."""

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self._described: dict[str, dict[str, tuple[TopicImage, MetadataTopic]]] = {}
        self._brokers: dict[str, tuple[MetadataBroker, ...]] = {}
        self._watchers: list[Changed] = []

    def swap(self, image: ClusterImage) -> None:
        old, self.image = self.image, image
        if image.brokers is not old.brokers:
            self._described.clear()
            self._brokers.clear()
        for watcher in tuple(self._watchers):
            watcher(old, image)

    def on_change(self, watcher: Changed) -> None:
        """Be called with the old and the new image, after every swap."""
        self._watchers.append(watcher)

    @contextmanager
    def watched(self, look: Callable[[], None]) -> Iterator[None]:
        """Be called after every swap, for a while."""

        def watcher(old: ClusterImage, new: ClusterImage) -> None:
            del old, new
            look()

        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    def brokers(self, listener: str) -> tuple[MetadataBroker, ...]:
        """Those that can be reached by this listener."""
        known = self._brokers.get(listener)
        if known is None:
            known = self._brokers[listener] = tuple(
                MetadataBroker(node_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
                for broker in self.image.brokers.values()
                if (endpoint := broker.endpoint(listener)) is not None
            )
        return known

    def topic(self, topic: TopicImage, listener: str) -> MetadataTopic:
        described = self._described.setdefault(listener, {})
        known = described.get(topic.name)
        if known is None or known[0] is not topic:
            known = described[topic.name] = (topic, self._describe(topic, listener))
        return known[1]

    def leader_of(self, partition: PartitionImage, listener: str) -> tuple[BrokerId, ErrorCode]:
        """The leader, as far as it can be reached by this listener."""
        if not partition.has_leader or partition.leader not in self.image.brokers:
            return NO_BROKER, ErrorCode.LEADER_NOT_AVAILABLE
        if self.image.brokers[partition.leader].endpoint(listener) is None:
            return NO_BROKER, ErrorCode.LISTENER_NOT_FOUND
        return partition.leader, ErrorCode.NONE

    def offline_replicas(self, partition: PartitionImage) -> tuple[BrokerId, ...]:
        alive = self.image.brokers
        return tuple(each for each in partition.replicas if each not in alive or each in partition.offline)

    def _describe(self, topic: TopicImage, listener: str) -> MetadataTopic:
        partitions = []
        for number, partition in topic.partitions.items():
            leader, error = self.leader_of(partition, listener)
            partitions.append(
                MetadataPartition(
                    error_code=error.code,
                    partition_index=number,
                    leader_id=leader,
                    leader_epoch=partition.leader_epoch,
                    replica_nodes=partition.replicas,
                    isr_nodes=partition.isr,
                    offline_replicas=self.offline_replicas(partition),
                )
            )
        return MetadataTopic(
            error_code=0,
            name=topic.name,
            topic_id=topic.id,
            is_internal=is_internal(topic.name),
            partitions=tuple(partitions),
        )
