"""Transactions that hang: open in a partition for longer than any may be, and unknown to their coordinator.

Nobody will end them, so consumers that read only what is committed wait behind them for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odradek.client.failures import Refused
from odradek.client.producers import active_producers
from odradek.client.topics import all_topics, topics_named
from odradek.client.transactions import describe_transaction, list_transactions, partitions_of
from odradek.model.ids import BrokerId, Partition

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster
    from odradek.wire.messages.metadata import MetadataTopic
    from odradek.wire.messages.transactions import ProducerState

Open = tuple[Partition, "ProducerState"]


async def hanging(
    cluster: Cluster, topic: str | None, number: int | None, broker: int | None, *, since_ms: int
) -> list[Open]:
    """Those without a record since then, in a topic or one of its partitions, or on a broker."""
    partitions = [
        Partition(each.name or "", state.partition_index)
        for each in await _topics(cluster, topic)
        for state in each.partitions
        if (number is None or state.partition_index == number)
        and (broker is None or broker in state.replica_nodes)
    ]
    at = None if broker is None else BrokerId(broker)
    found = await active_producers(cluster, partitions, at=at) if partitions else {}
    candidates = [
        (partition, each)
        for partition, producers in found.items()
        if not isinstance(producers, Refused)
        for each in producers
        if each.current_txn_start_offset >= 0 and each.last_timestamp < since_ms
    ]
    return await _forgotten(cluster, candidates) if candidates else []


async def _topics(cluster: Cluster, name: str | None) -> Sequence[MetadataTopic]:
    if name is None:
        return await all_topics(cluster)
    found = (await topics_named(cluster, [name]))[name]
    if isinstance(found, Refused):
        raise found
    return [found]


async def _forgotten(cluster: Cluster, candidates: Sequence[Open]) -> list[Open]:
    """Those that no coordinator will ever end."""
    ids = {each.producer_id for _, each in candidates}
    listed = await list_transactions(cluster, producer_ids=sorted(ids))
    theirs = {each.producer_id: each.transactional_id for of in listed.values() for each in of}
    known: set[tuple[Partition, int]] = set()
    for producer_id, transactional_id in theirs.items():
        _, described = await describe_transaction(cluster, transactional_id)
        known.update((partition, producer_id) for partition in partitions_of(described))
    return [(partition, each) for partition, each in candidates if (partition, each.producer_id) not in known]
