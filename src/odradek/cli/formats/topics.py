"""Topics as `kafka-topics --describe` prints them, and which of their partitions it is asked to print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import NamedTuple

from odradek.cli.output import Row
from odradek.model.ids import NO_BROKER, id_text
from odradek.wire.messages.configs import DescribedConfig
from odradek.wire.messages.metadata import MetadataPartition, MetadataTopic
from odradek.wire.messages.reassign import OngoingPartitionReassignment

DEFAULT_SOURCE = 5


class TopicReport(NamedTuple):
    """All that is known of one topic."""

    topic: MetadataTopic
    configs: tuple[DescribedConfig, ...] = ()
    moving: Mapping[int, OngoingPartitionReassignment] = {}  # by partition: those with replicas on the move

    @property
    def name(self) -> str:
        return self.topic.name or ""

    @property
    def overrides(self) -> tuple[DescribedConfig, ...]:
        return tuple(each for each in self.configs if each.config_source != DEFAULT_SOURCE)

    @property
    def partitions(self) -> list[MetadataPartition]:
        return sorted(self.topic.partitions, key=lambda each: each.partition_index)

    def replication_factor(self, partition: MetadataPartition) -> int:
        """Replicas that are only on their way here do not count yet."""
        moving = self.moving.get(partition.partition_index)
        return len(partition.replica_nodes) - (len(moving.adding_replicas) if moving is not None else 0)

    @property
    def in_sync_min(self) -> int:
        found = (each.value for each in self.configs if each.name == "min.insync.replicas")
        return int(next(found, None) or 1)


PartitionFilter = Callable[[TopicReport, MetadataPartition], bool]


def every(_: TopicReport, __: MetadataPartition) -> bool:
    return True


def under_replicated(report: TopicReport, partition: MetadataPartition) -> bool:
    return len(partition.isr_nodes) < report.replication_factor(partition)


def under_min_isr(report: TopicReport, partition: MetadataPartition) -> bool:
    return len(partition.isr_nodes) < report.in_sync_min


def at_min_isr(report: TopicReport, partition: MetadataPartition) -> bool:
    return len(partition.isr_nodes) == report.in_sync_min


def unavailable(live: Set[int]) -> PartitionFilter:
    return lambda _, partition: partition.leader_id not in live


def topic_line(report: TopicReport) -> str:
    configs = ",".join(f"{each.name}={each.value}" for each in report.overrides)
    partitions = report.partitions
    return (
        f"Topic: {report.name}\tTopicId: {id_text(report.topic.topic_id)}"
        f"\tPartitionCount: {len(partitions)}"
        f"\tReplicationFactor: {report.replication_factor(partitions[0]) if partitions else 0}"
        f"\tConfigs: {configs}"
    )


def partition_line(report: TopicReport, partition: MetadataPartition) -> str:
    leader = "none" if partition.leader_id == NO_BROKER else partition.leader_id
    moving = report.moving.get(partition.partition_index)
    on_the_move = (
        f"\tAdding Replicas: {listed(moving.adding_replicas)}"
        f"\tRemoving Replicas: {listed(moving.removing_replicas)}"
        if moving is not None
        else ""
    )
    return (
        f"\tTopic: {report.name}\tPartition: {partition.partition_index}\tLeader: {leader}"
        f"\tReplicas: {listed(partition.replica_nodes)}\tIsr: {listed(partition.isr_nodes)}{on_the_move}"
        "\tElr: N/A\tLastKnownElr: N/A"  # eligible leader replicas: clusters with ZooKeeper have none
    )


def description(report: TopicReport, wanted: PartitionFilter = every) -> Iterator[str]:
    """The topic's line, unless only some partitions are asked for; then its partitions."""
    if wanted is every:
        yield topic_line(report)
    yield from (partition_line(report, each) for each in report.partitions if wanted(report, each))


def partition_rows(report: TopicReport, wanted: PartitionFilter) -> Iterator[Row]:
    settings = ",".join(f"{each.name}={each.value}" for each in report.overrides)
    for each in report.partitions:
        if wanted(report, each):
            yield {
                "topic": report.name,
                "partition": each.partition_index,
                "leader": None if each.leader_id == NO_BROKER else each.leader_id,
                "replicas": listed(each.replica_nodes),
                "in sync": listed(each.isr_nodes),
                "settings": settings,
            }


def as_json(report: TopicReport) -> Row:
    return {
        "topic": report.name,
        "topic_id": id_text(report.topic.topic_id),
        "internal": report.topic.is_internal,
        "configs": {each.name: each.value for each in report.overrides},
        "partitions": [
            {
                "partition": each.partition_index,
                "leader": None if each.leader_id == NO_BROKER else each.leader_id,
                "leader_epoch": each.leader_epoch,
                "replicas": list(each.replica_nodes),
                "isr": list(each.isr_nodes),
            }
            for each in report.partitions
        ],
    }


def listed(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers))
