"""Producers that a partition's leader remembers: idempotent ones, and those with an open transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from odradek.client.failures import Refused, Unreachable, refusal
from odradek.client.leaders import ask_leaders, by_topic
from odradek.model.ids import BrokerId, Partition
from odradek.net.peer import PeerLost
from odradek.wire.messages.transactions import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeProducersTopic,
    ProducerState,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

ActiveProducers: TypeAlias = tuple[ProducerState, ...]


async def active_producers(
    cluster: Cluster, partitions: Iterable[Partition], *, at: BrokerId | None = None
) -> dict[Partition, ActiveProducers | Refused]:
    """As their leaders remember them, or the broker `at` which there are replicas."""

    async def ask(
        leader: BrokerId, theirs: Sequence[Partition]
    ) -> dict[Partition, ActiveProducers | Refused]:
        request = DescribeProducersRequest(
            topics=tuple(
                DescribeProducersTopic(name=topic, partition_indexes=tuple(each.number for each in some))
                for topic, some in by_topic(theirs).items()
            )
        )
        answer = await cluster.ask(leader, request, DescribeProducersResponse)
        found: dict[Partition, ActiveProducers | Refused] = {}
        for topic in answer.topics:
            for each in topic.partitions:
                partition = Partition(topic.name, each.partition_index)
                asked = f"producers of {partition} at broker {leader}"
                refused = refusal(each.error_code, each.error_message, asked=asked)
                found[partition] = refused or each.active_producers
        return found

    if at is None:
        return await ask_leaders(cluster, "active producers", partitions, ask)
    try:
        return dict(await ask(at, tuple(partitions)))  # what this broker does not lead it will not lead soon
    except PeerLost as lost:
        raise Unreachable(str(lost)) from lost
