"""Where logs begin and end, which offset belongs to a time, and moving a log's start up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from odradek.client.failures import Refused, refusal
from odradek.client.leaders import ask_leaders, by_topic
from odradek.model.ids import BrokerId, Partition
from odradek.wire.messages.offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5


async def list_offsets(
    cluster: Cluster, times: Mapping[Partition, int], *, committed_only: bool = False
) -> dict[Partition, ListOffsetsPartitionResponse | Refused]:
    """The first offset at or after a time in milliseconds, or one of the places above."""

    async def ask(
        leader: BrokerId, partitions: Sequence[Partition]
    ) -> dict[Partition, ListOffsetsPartitionResponse | Refused]:
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=int(committed_only),
            topics=tuple(
                ListOffsetsTopic(
                    name=topic,
                    partitions=tuple(
                        ListOffsetsPartition(partition_index=each.number, timestamp=times[each])
                        for each in theirs
                    ),
                )
                for topic, theirs in by_topic(partitions).items()
            ),
            timeout_ms=cluster.settings.request_timeout_ms,
        )
        answer = await cluster.ask(leader, request, ListOffsetsResponse)
        return {
            (partition := Partition(topic.name, each.partition_index)): refusal(
                each.error_code, asked=f"offset of {partition} at broker {leader}"
            )
            or each
            for topic in answer.topics
            for each in topic.partitions
        }

    return await ask_leaders(cluster, "offsets", times, ask)


async def delete_records(cluster: Cluster, before: Mapping[Partition, int]) -> dict[Partition, int | Refused]:
    """Delete what lies below an offset, -1 for all; the new log start of each partition."""

    async def ask(leader: BrokerId, partitions: Sequence[Partition]) -> dict[Partition, int | Refused]:
        request = DeleteRecordsRequest(
            topics=tuple(
                DeleteRecordsTopic(
                    name=topic,
                    partitions=tuple(
                        DeleteRecordsPartition(partition_index=each.number, offset=before[each])
                        for each in theirs
                    ),
                )
                for topic, theirs in by_topic(partitions).items()
            ),
            timeout_ms=cluster.settings.timeout_ms,
        )
        answer = await cluster.ask(leader, request, DeleteRecordsResponse)
        return {
            (partition := Partition(topic.name, each.partition_index)): refusal(
                each.error_code, asked=f"deletion of records of {partition} at broker {leader}"
            )
            or each.low_watermark
            for topic in answer.topics
            for each in topic.partitions
        }

    return await ask_leaders(cluster, "deletion of records", before, ask)
