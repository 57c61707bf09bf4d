"""Partitions are asked about where they are led, each leader once, and again where leaders moved."""

from __future__ import annotations

from odradek.client.cluster import Cluster
from odradek.client.failures import Refused
from odradek.client.offsets import LATEST, delete_records, list_offsets
from odradek.client.settings import ClientSettings
from odradek.model.errors import ErrorCode
from odradek.model.ids import Partition
from odradek.testing.scripted_cluster import Broker, ScriptedCluster
from odradek.testing.sim_entropy import SeededEntropy
from odradek.wire.messages.metadata import MetadataPartition, MetadataTopic
from odradek.wire.messages.offsets import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)


def topic(name: str, *leaders: int, error: ErrorCode = ErrorCode.NONE) -> MetadataTopic:
    partitions = (
        MetadataPartition(
            error_code=0, partition_index=number, leader_id=leader, replica_nodes=(), isr_nodes=()
        )
        for number, leader in enumerate(leaders)
    )
    return MetadataTopic(error_code=error.code, name=name, partitions=tuple(partitions))


def cluster_of(scripted: ScriptedCluster, timeout_ms: int = 500) -> Cluster:
    properties = {"retry.backoff.ms": "1", "default.api.timeout.ms": str(timeout_ms)}
    return Cluster(ClientSettings.of(scripted.bootstrap, properties), scripted, SeededEntropy(1))


def offsets(request: object, error: ErrorCode = ErrorCode.NONE) -> ListOffsetsResponse:
    """Partition 0 ends at 100, partition 1 at 101 ..."""
    assert isinstance(request, ListOffsetsRequest)
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=each.name,
                partitions=tuple(
                    ListOffsetsPartitionResponse(
                        partition_index=one.partition_index,
                        error_code=error.code,
                        offset=100 + one.partition_index,
                    )
                    for one in each.partitions
                ),
            )
            for each in request.topics
        )
    )


async def test_each_leader_is_asked_once_about_all_it_leads() -> None:
    scripted = ScriptedCluster(Broker(0), Broker(1))
    scripted.topics = (topic("a", 0, 1, 0), topic("b", 1))
    for broker in (0, 1):
        scripted.says(broker, "ListOffsets", offsets)
    asked = [Partition("a", 0), Partition("a", 1), Partition("a", 2), Partition("b", 0)]
    async with cluster_of(scripted) as cluster:
        found = await list_offsets(cluster, dict.fromkeys(asked, LATEST))
    assert {
        partition: answer.offset for partition, answer in found.items() if not isinstance(answer, Refused)
    } == {each: 100 + each.number for each in asked}
    assert sorted(each for each in scripted.asked if each[1] == "ListOffsets") == [
        (0, "ListOffsets"),
        (1, "ListOffsets"),
    ]


async def test_a_partition_whose_leader_moved_is_asked_about_again_and_the_others_are_not() -> None:
    scripted = ScriptedCluster(Broker(0), Broker(1))
    scripted.topics = (topic("a", 0, 1),)
    asked_of_1: list[object] = []

    def moved(request: object) -> object:
        scripted.topics = (topic("a", 1, 1),)
        return offsets(request, ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def answer(request: object) -> object:
        asked_of_1.append(request)
        return offsets(request)

    scripted.says(0, "ListOffsets", moved)
    scripted.says(1, "ListOffsets", answer)
    async with cluster_of(scripted) as cluster:
        found = await list_offsets(cluster, {Partition("a", 0): LATEST, Partition("a", 1): LATEST})
    assert not any(isinstance(each, Refused) for each in found.values())
    numbers = [
        [one.partition_index for each in request.topics for one in each.partitions]
        for request in asked_of_1
        if isinstance(request, ListOffsetsRequest)
    ]
    assert numbers == [[1], [0]]


async def test_unknown_partitions_are_not_waited_for() -> None:
    scripted = ScriptedCluster(Broker(0))
    scripted.topics = (topic("a", 0), topic("gone", error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    async with cluster_of(scripted, timeout_ms=10_000) as cluster:
        found = await list_offsets(cluster, {Partition("a", 7): LATEST, Partition("gone", 0): LATEST})
    assert [each.error for each in found.values() if isinstance(each, Refused)] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


async def test_a_partition_without_leader_is_told_of_when_time_is_up() -> None:
    scripted = ScriptedCluster(Broker(0))
    scripted.topics = (topic("a", 0, -1),)
    scripted.says(0, "ListOffsets", offsets)
    async with cluster_of(scripted, timeout_ms=20) as cluster:
        found = await list_offsets(cluster, {Partition("a", 0): LATEST, Partition("a", 1): LATEST})
    lone = found[Partition("a", 1)]
    assert isinstance(lone, Refused)
    assert lone.error is ErrorCode.LEADER_NOT_AVAILABLE
    assert not isinstance(found[Partition("a", 0)], Refused)


async def test_each_partition_has_its_own_answer() -> None:
    def answer(request: object) -> DeleteRecordsResponse:
        assert isinstance(request, DeleteRecordsRequest)
        results = (
            DeleteRecordsPartitionResult(partition_index=0, low_watermark=5, error_code=0),
            DeleteRecordsPartitionResult(
                partition_index=1, low_watermark=-1, error_code=ErrorCode.OFFSET_OUT_OF_RANGE.code
            ),
        )
        return DeleteRecordsResponse(topics=(DeleteRecordsTopicResult(name="a", partitions=results),))

    scripted = ScriptedCluster(Broker(0))
    scripted.topics = (topic("a", 0, 0),)
    scripted.says(0, "DeleteRecords", answer)
    async with cluster_of(scripted) as cluster:
        found = await delete_records(cluster, {Partition("a", 0): 5, Partition("a", 1): 500})
    assert found[Partition("a", 0)] == 5
    refused = found[Partition("a", 1)]
    assert isinstance(refused, Refused)
    assert str(refused) == "deletion of records of a-1 at broker 0: OFFSET_OUT_OF_RANGE"
