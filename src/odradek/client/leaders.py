"""Asking about partitions whoever leads them: one request a leader, asked again where leaders moved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from odradek.client.cluster import ANYONE
from odradek.client.failures import Refused, refusal
from odradek.model.errors import ErrorCode
from odradek.model.ids import NO_BROKER, BrokerId, Partition
from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

Value = TypeVar("Value")
AskLeader: TypeAlias = Callable[
    [BrokerId, Sequence[Partition]], Awaitable[Mapping[Partition, Value | Refused]]
]


async def ask_leaders(
    cluster: Cluster, what: str, partitions: Iterable[Partition], ask: AskLeader[Value]
) -> dict[Partition, Value | Refused]:
    async def attempt(waiting: Sequence[Partition]) -> dict[Partition, Value | Refused]:
        leaders = await leaders_of(cluster, waiting)
        answers: dict[Partition, Value | Refused] = {}
        led: dict[BrokerId, list[Partition]] = {}
        for partition, leader in leaders.items():
            if isinstance(leader, Refused):
                answers[partition] = leader
            else:
                led.setdefault(leader, []).append(partition)
        for each in await asyncio.gather(*(ask(leader, theirs) for leader, theirs in led.items())):
            answers.update(each)
        return answers

    return await cluster.settle(what, partitions, attempt)


async def leaders_of(
    cluster: Cluster, partitions: Iterable[Partition]
) -> dict[Partition, BrokerId | Refused]:
    partitions = tuple(partitions)
    topics = tuple(
        MetadataRequestTopic(name=each) for each in dict.fromkeys(each.topic for each in partitions)
    )
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    answer = await cluster.ask(ANYONE, request, MetadataResponse)
    by_name = {topic.name: topic for topic in answer.topics}
    found: dict[Partition, BrokerId | Refused] = {}
    for partition in partitions:
        asked = f"leader of {partition}"
        topic = by_name[partition.topic]
        state = next((each for each in topic.partitions if each.partition_index == partition.number), None)
        refused = refusal(topic.error_code, asked=asked)
        if refused is None and state is None:
            refused = Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, asked=asked)
        if refused is None and state is not None and state.leader_id == NO_BROKER:
            refused = Refused(ErrorCode.LEADER_NOT_AVAILABLE, asked=asked)
        found[partition] = refused or BrokerId(state.leader_id if state is not None else NO_BROKER)
    return found


def by_topic(partitions: Iterable[Partition]) -> dict[str, list[Partition]]:
    """Requests name each topic once."""
    found: dict[str, list[Partition]] = {}
    for each in partitions:
        found.setdefault(each.topic, []).append(each)
    return found
