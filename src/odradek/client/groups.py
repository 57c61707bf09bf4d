"""Groups: which there are, who is in them, how far they have come; moving and forgetting them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from odradek.client.cluster import Coordinator
from odradek.client.failures import Refused, check, refusal
from odradek.client.leaders import by_topic
from odradek.model.errors import ErrorCode
from odradek.model.ids import BrokerId, Partition
from odradek.wire.insight import asking
from odradek.wire.messages.group_offsets import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
    OffsetDeletePartition,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
    OffsetFetchGroup,
    OffsetFetchPartitionResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    PartitionError,
)
from odradek.wire.messages.groups import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from odradek.wire.messages.metadata import MetadataBroker

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

Value = TypeVar("Value")

NO_OFFSET = -1
DEAD = "Dead"  # the state of a group that is not there
_NEWEST_BY_NAME = 9  # OffsetFetch and OffsetCommit name topics by id from 10 on


async def list_groups(
    cluster: Cluster, states: Sequence[str] = (), types: Sequence[str] = ()
) -> list[ListedGroup]:
    """Of every broker, the groups that it coordinates."""
    request = ListGroupsRequest(states_filter=tuple(states), types_filter=tuple(types))

    async def of_broker(id: BrokerId) -> tuple[ListedGroup, ...]:
        answer = await cluster.ask(id, request, ListGroupsResponse)
        check(answer.error_code, asked=f"groups of broker {id}")
        return answer.groups

    async def attempt() -> list[ListedGroup]:
        ids = [BrokerId(each.node_id) for each in await cluster.brokers()]
        return [each for found in await asyncio.gather(*map(of_broker, ids)) for each in found]

    return await cluster.one("list of groups", attempt)


async def describe_groups(
    cluster: Cluster, ids: Iterable[str], *, in_depth: bool = False
) -> dict[str, DescribedGroup | Refused]:
    """One that is not there is Dead. In depth, a broker that can adds to each member how it fares."""

    async def ask(id: str) -> DescribedGroup | Refused:
        request = DescribeGroupsRequest(groups=(id,))
        if in_depth:
            asking(request)
        (found,) = (await cluster.ask(Coordinator(id), request, DescribeGroupsResponse)).groups
        if found.error_code == ErrorCode.GROUP_ID_NOT_FOUND.code:
            return DescribedGroup(
                error_code=0, group_id=id, group_state=DEAD, protocol_type="", protocol_data="", members=()
            )
        return refusal(found.error_code, found.error_message, asked=f"description of group {id}") or found

    return await _ask_coordinators(cluster, "description of groups", ids, ask)


async def coordinators(cluster: Cluster, ids: Iterable[str]) -> dict[str, MetadataBroker | Refused]:
    """The broker that keeps each group."""

    async def ask(id: str) -> MetadataBroker | Refused:
        coordinator = await cluster.coordinator(Coordinator(id))
        found = next((each for each in await cluster.brokers() if each.node_id == coordinator), None)
        return found or Refused(ErrorCode.COORDINATOR_NOT_AVAILABLE, asked=f"coordinator of {id}")

    return await _ask_coordinators(cluster, "coordinators", ids, ask)


async def committed_offsets(
    cluster: Cluster, ids: Iterable[str], *, stable: bool = False
) -> dict[str, dict[Partition, OffsetFetchPartitionResponse | Refused] | Refused]:
    """All that each group has committed. If it is to be `stable`, a partition where a transaction is yet to
    decide is refused with UNSTABLE_OFFSET_COMMIT."""

    async def ask(id: str) -> dict[Partition, OffsetFetchPartitionResponse | Refused] | Refused:
        asked = f"offsets of group {id}"
        request = OffsetFetchRequest(
            group_id=id,
            topics=None,
            groups=(OffsetFetchGroup(group_id=id, topics=None),),
            require_stable=stable,
        )
        answer = await cluster.ask(Coordinator(id), request, OffsetFetchResponse, newest=_NEWEST_BY_NAME)
        error, topics = answer.error_code, answer.topics
        for group in answer.groups:
            error, topics = group.error_code, group.topics
        return refusal(error, asked=asked) or {
            Partition(topic.name, each.partition_index): refusal(
                each.error_code, asked=f"{asked} in {topic.name}-{each.partition_index}"
            )
            or each
            for topic in topics
            for each in topic.partitions
        }

    return await _ask_coordinators(cluster, "offsets of groups", ids, ask)


async def commit_offsets(
    cluster: Cluster, id: str, offsets: Mapping[Partition, int]
) -> dict[Partition, int | Refused]:
    """For a group without members: where it goes on. Gives back what was taken."""
    request = OffsetCommitRequest(
        group_id=id,
        topics=tuple(
            OffsetCommitTopic(
                name=topic,
                partitions=tuple(
                    OffsetCommitPartition(
                        partition_index=each.number, committed_offset=offsets[each], committed_metadata=""
                    )
                    for each in theirs
                ),
            )
            for topic, theirs in by_topic(offsets).items()
        ),
    )

    async def attempt(waiting: Sequence[Partition]) -> dict[Partition, int | Refused]:
        del waiting  # who asks again asks for all: what was taken before is the same
        answer = await cluster.ask(Coordinator(id), request, OffsetCommitResponse, newest=_NEWEST_BY_NAME)
        errors = _errors((topic.name, topic.partitions) for topic in answer.topics)
        return {each: refusal(errors[each], asked=f"offset of {each}") or offsets[each] for each in offsets}

    return await cluster.settle(f"offsets of group {id}", offsets, attempt) if offsets else {}


async def delete_groups(cluster: Cluster, ids: Iterable[str]) -> dict[str, Refused | None]:
    async def ask(id: str) -> Refused | None:
        request = DeleteGroupsRequest(groups_names=(id,))
        (done,) = (await cluster.ask(Coordinator(id), request, DeleteGroupsResponse)).results
        return refusal(done.error_code, done.error_message, asked=f"deletion of group {id}")

    return await _ask_coordinators(cluster, "deletion of groups", ids, ask)


async def delete_offsets(
    cluster: Cluster, id: str, partitions: Iterable[Partition]
) -> dict[Partition, Refused | None]:
    """Forget what a group committed; `Refused` as a whole where the group is."""
    partitions = tuple(partitions)
    request = OffsetDeleteRequest(
        group_id=id,
        topics=tuple(
            OffsetDeleteTopic(
                name=topic,
                partitions=tuple(OffsetDeletePartition(partition_index=each.number) for each in theirs),
            )
            for topic, theirs in by_topic(partitions).items()
        ),
    )

    async def attempt() -> dict[Partition, Refused | None]:
        answer = await cluster.ask(Coordinator(id), request, OffsetDeleteResponse)
        check(answer.error_code, asked=f"offsets of group {id}")
        errors = _errors((topic.name, topic.partitions) for topic in answer.topics)
        return {each: refusal(errors[each], asked=f"offset of {each}") for each in partitions}

    return await cluster.one(f"offsets of group {id}", attempt)


async def _ask_coordinators(
    cluster: Cluster, what: str, ids: Iterable[str], ask: Callable[[str], Awaitable[Value | Refused]]
) -> dict[str, Value | Refused]:
    """Each group's coordinator about it. One that is refused does not spoil the others."""

    async def one(id: str) -> Value | Refused:
        try:
            return await ask(id)
        except Refused as refused:
            return refused

    async def attempt(waiting: Sequence[str]) -> dict[str, Value | Refused]:
        return dict(zip(waiting, await asyncio.gather(*map(one, waiting)), strict=True))

    return await cluster.settle(what, dict.fromkeys(ids), attempt)


def _errors(topics: Iterable[tuple[str, Iterable[PartitionError]]]) -> dict[Partition, int]:
    return {
        Partition(topic, each.partition_index): each.error_code
        for topic, partitions in topics
        for each in partitions
    }
