"""Topics: which there are, what they are made of; they come, grow and go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from odradek.client.cluster import ANYONE, CONTROLLER
from odradek.client.failures import Refused, check, refusal
from odradek.model.ids import NO_TOPIC_ID, Partition
from odradek.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataTopic,
)
from odradek.wire.messages.reassign import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListReassignmentsTopic,
    OngoingPartitionReassignment,
)
from odradek.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatedTopic,
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
    ReplicaAssignment,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

BROKER_DEFAULT = -1
Replicas = Sequence[Sequence[int]]
"""For each partition, the brokers that shall hold it; the first one preferred as its leader."""


async def all_topics(cluster: Cluster) -> tuple[MetadataTopic, ...]:
    """Every topic that may be seen, internal ones included, by name."""

    async def attempt() -> tuple[MetadataTopic, ...]:
        answer = await cluster.ask(ANYONE, MetadataRequest(topics=None), MetadataResponse)
        check(answer.error_code, asked="all topics")
        return tuple(sorted(answer.topics, key=lambda topic: topic.name or ""))

    return await cluster.one("list of topics", attempt)


async def topics_named(cluster: Cluster, names: Iterable[str]) -> dict[str, MetadataTopic | Refused]:
    async def attempt(waiting: Sequence[str]) -> dict[str, MetadataTopic | Refused]:
        asked = tuple(MetadataRequestTopic(name=each) for each in waiting)
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        answer = await cluster.ask(ANYONE, request, MetadataResponse)
        return {topic.name or "": _described(topic) for topic in answer.topics}

    return await cluster.settle("description of topics", names, attempt)


async def topics_with_ids(cluster: Cluster, ids: Iterable[bytes]) -> dict[bytes, MetadataTopic | Refused]:
    async def attempt(waiting: Sequence[bytes]) -> dict[bytes, MetadataTopic | Refused]:
        asked = tuple(MetadataRequestTopic(topic_id=each, name=None) for each in waiting)
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        answer = await cluster.ask(ANYONE, request, MetadataResponse)
        return {topic.topic_id: _described(topic) for topic in answer.topics}

    return await cluster.settle("description of topics", ids, attempt)


async def create_topic(
    cluster: Cluster,
    name: str,
    *,
    partitions: int = BROKER_DEFAULT,
    replication_factor: int = BROKER_DEFAULT,
    replicas: Replicas = (),
    configs: Mapping[str, str] | None = None,
) -> CreatedTopic:
    """With `replicas` given, the two numbers follow from them."""
    topic = CreatableTopic(
        name=name,
        num_partitions=BROKER_DEFAULT if replicas else partitions,
        replication_factor=BROKER_DEFAULT if replicas else replication_factor,
        assignments=tuple(
            ReplicaAssignment(partition_index=number, broker_ids=tuple(brokers))
            for number, brokers in enumerate(replicas)
        ),
        configs=tuple(CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()),
    )

    async def attempt() -> CreatedTopic:
        request = CreateTopicsRequest(topics=(topic,), timeout_ms=cluster.settings.request_timeout_ms)
        (created,) = (await cluster.ask(CONTROLLER, request, CreateTopicsResponse)).topics
        check(created.error_code, created.error_message, asked=f"creation of topic {name}")
        return created

    return await cluster.one(f"creation of topic {name}", attempt)


async def delete_topic(cluster: Cluster, name: str) -> None:
    async def attempt() -> None:
        request = DeleteTopicsRequest(
            topics=(DeleteTopicState(name=name, topic_id=NO_TOPIC_ID),),
            topic_names=(name,),
            timeout_ms=cluster.settings.request_timeout_ms,
        )
        (deleted,) = (await cluster.ask(CONTROLLER, request, DeleteTopicsResponse)).responses
        check(deleted.error_code, deleted.error_message, asked=f"deletion of topic {name}")

    await cluster.one(f"deletion of topic {name}", attempt)


async def grow_topic(cluster: Cluster, name: str, count: int, replicas: Replicas = ()) -> None:
    """To `count` partitions in all; `replicas` for those that are new."""
    assignments = tuple(CreatePartitionsAssignment(broker_ids=tuple(each)) for each in replicas) or None
    topic = CreatePartitionsTopic(name=name, count=count, assignments=assignments)

    async def attempt() -> None:
        request = CreatePartitionsRequest(
            topics=(topic,), timeout_ms=cluster.settings.request_timeout_ms, validate_only=False
        )
        (grown,) = (await cluster.ask(CONTROLLER, request, CreatePartitionsResponse)).results
        check(grown.error_code, grown.error_message, asked=f"partitions of topic {name}")

    await cluster.one(f"partitions of topic {name}", attempt)


async def reassignments(
    cluster: Cluster, topics: Iterable[MetadataTopic]
) -> dict[Partition, OngoingPartitionReassignment]:
    """The partitions whose replicas are on the move."""
    asked = tuple(
        ListReassignmentsTopic(
            name=topic.name or "", partition_indexes=tuple(each.partition_index for each in topic.partitions)
        )
        for topic in topics
    )

    async def attempt() -> dict[Partition, OngoingPartitionReassignment]:
        request = ListPartitionReassignmentsRequest(
            timeout_ms=cluster.settings.request_timeout_ms, topics=asked
        )
        answer = await cluster.ask(CONTROLLER, request, ListPartitionReassignmentsResponse)
        check(answer.error_code, answer.error_message, asked="reassignments")
        return {
            Partition(topic.name, each.partition_index): each
            for topic in answer.topics
            for each in topic.partitions
        }

    return await cluster.one("list of reassignments", attempt)


def _described(topic: MetadataTopic) -> MetadataTopic | Refused:
    return refusal(topic.error_code, asked=f"topic {topic.name}") or topic
