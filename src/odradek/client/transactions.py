"""Transactions: which there are, where each takes part, and ending one that its coordinator has forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from odradek.client.cluster import Coordinator
from odradek.client.failures import Refused, Unsupported, check, refusal
from odradek.client.leaders import ask_leaders
from odradek.model.ids import BrokerId, Partition
from odradek.wire.apis import API_BY_KEY, Api
from odradek.wire.messages.transactions import (
    DescribedTransaction,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListedTransaction,
    ListTransactionsRequest,
    ListTransactionsResponse,
    ProducerState,
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

_OF_TRANSACTION = 1  # what a coordinator is asked for, beside groups
_FILTERS_BY_DURATION = 1  # the version of ListTransactions that does so first


async def list_transactions(
    cluster: Cluster, *, producer_ids: Iterable[int] = (), longer_than_ms: int = -1
) -> dict[BrokerId, tuple[ListedTransaction, ...]]:
    """Of every broker, those that it coordinates."""
    request = ListTransactionsRequest(
        state_filters=(), producer_id_filters=tuple(producer_ids), duration_filter=longer_than_ms
    )

    async def of_broker(id: BrokerId) -> tuple[ListedTransaction, ...]:
        reached = await cluster.reach(id)
        if longer_than_ms >= 0 and reached.version_of(_api()) < _FILTERS_BY_DURATION:
            raise Unsupported(f"the broker at {reached.address} does not list transactions by their duration")
        answer = await cluster.ask(id, request, ListTransactionsResponse)
        check(answer.error_code, asked=f"transactions of broker {id}")
        return answer.transaction_states

    async def attempt() -> dict[BrokerId, tuple[ListedTransaction, ...]]:
        ids = [BrokerId(each.node_id) for each in await cluster.brokers()]
        return dict(zip(ids, await asyncio.gather(*map(of_broker, ids)), strict=True))

    return await cluster.one("list of transactions", attempt)


async def describe_transaction(cluster: Cluster, id: str) -> tuple[BrokerId, DescribedTransaction]:
    """With its coordinator."""
    request = DescribeTransactionsRequest(transactional_ids=(id,))
    what = f"description of transaction {id}"

    async def attempt() -> tuple[BrokerId, DescribedTransaction]:
        coordinator = await cluster.coordinator(Coordinator(id, _OF_TRANSACTION))
        (found,) = (await cluster.ask(coordinator, request, DescribeTransactionsResponse)).transaction_states
        check(found.error_code, asked=what)
        return coordinator, found

    return await cluster.one(what, attempt)


def partitions_of(transaction: DescribedTransaction) -> list[Partition]:
    return [Partition(each.topic, number) for each in transaction.topics for number in each.partitions]


async def abort_in(cluster: Cluster, partition: Partition, producer: ProducerState) -> None:
    """Write the marker that ends this producer's transaction in one partition, past its coordinator."""
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        topics=(WritableTxnMarkerTopic(name=partition.topic, partition_indexes=(partition.number,)),),
        coordinator_epoch=max(producer.coordinator_epoch, 0),  # -1: none has written there yet
    )
    asked = f"end of the transaction of producer {producer.producer_id} in {partition}"

    async def ask(leader: BrokerId, partitions: Sequence[Partition]) -> Mapping[Partition, Refused | None]:
        del partitions
        answer = await cluster.ask(leader, WriteTxnMarkersRequest(markers=(marker,)), WriteTxnMarkersResponse)
        ((topic,),) = (each.topics for each in answer.markers)
        (written,) = topic.partitions
        return {partition: refusal(written.error_code, asked=asked)}

    refused = (await ask_leaders(cluster, asked, [partition], ask))[partition]
    if refused is not None:
        raise refused


def _api() -> Api:
    return next(api for api in API_BY_KEY.values() if api.name == "ListTransactions")
