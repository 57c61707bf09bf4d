"""Brokers: who is there, what each offers, what lies in its data directories, what the cluster may use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from odradek.client.cluster import ANYONE, CONTROLLER
from odradek.client.failures import ClientError, Refused, Unreachable, check, refusal
from odradek.client.leaders import by_topic
from odradek.model.ids import BrokerId, Partition
from odradek.net.peer import PeerLost
from odradek.wire.messages.metadata import (
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataBroker,
)
from odradek.wire.messages.quorum import UnregisterBrokerRequest, UnregisterBrokerResponse
from odradek.wire.messages.reassign import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster


async def brokers(cluster: Cluster) -> tuple[MetadataBroker, ...]:
    """All that are alive, by id."""

    async def attempt() -> tuple[MetadataBroker, ...]:
        return tuple(sorted((await cluster.metadata()).brokers, key=lambda broker: broker.node_id))

    return await cluster.one("list of brokers", attempt)


async def offers(cluster: Cluster) -> dict[MetadataBroker, ApiVersionsResponse | ClientError]:
    """What each broker says that it can be asked; one that does not answer is not waited for."""

    async def offer(broker: MetadataBroker) -> ApiVersionsResponse | ClientError:
        try:
            return (await cluster.reach(BrokerId(broker.node_id))).versions
        except Refused as refused:
            return refused
        except PeerLost as lost:
            return Unreachable(str(lost))

    found = await brokers(cluster)
    return dict(zip(found, await asyncio.gather(*(offer(each) for each in found)), strict=True))


async def describe_cluster(cluster: Cluster) -> DescribeClusterResponse:
    async def attempt() -> DescribeClusterResponse:
        request = DescribeClusterRequest(include_cluster_authorized_operations=False)
        answer = await cluster.ask(ANYONE, request, DescribeClusterResponse)
        check(answer.error_code, answer.error_message, asked="description of the cluster")
        return answer

    return await cluster.one("description of the cluster", attempt)


async def log_dirs(
    cluster: Cluster, ids: Iterable[BrokerId], topics: Iterable[Partition] | None = None
) -> dict[BrokerId, tuple[DescribeLogDirsResult, ...] | Refused]:
    """The data directories of each broker, with the replicas in them (or those asked for)."""
    asked = None
    if topics is not None:
        asked = tuple(
            DescribableLogDirTopic(topic=topic, partitions=tuple(each.number for each in theirs))
            for topic, theirs in by_topic(topics).items()
        )

    async def of_broker(id: BrokerId) -> tuple[DescribeLogDirsResult, ...] | Refused:
        answer = await cluster.ask(id, DescribeLogDirsRequest(topics=asked), DescribeLogDirsResponse)
        return refusal(answer.error_code, asked=f"data directories of broker {id}") or answer.results

    async def attempt(
        waiting: Sequence[BrokerId],
    ) -> dict[BrokerId, tuple[DescribeLogDirsResult, ...] | Refused]:
        return dict(zip(waiting, await asyncio.gather(*(of_broker(id) for id in waiting)), strict=True))

    return await cluster.settle("data directories", ids, attempt)


async def unregister_broker(cluster: Cluster, id: int) -> None:
    """Where brokers register with the controller; with ZooKeeper they come and go by themselves."""
    what = f"end of broker {id}'s registration"

    async def attempt() -> None:
        request = UnregisterBrokerRequest(broker_id=id)
        answer = await cluster.ask(CONTROLLER, request, UnregisterBrokerResponse)
        check(answer.error_code, answer.error_message, asked=what)

    await cluster.one(what, attempt)
