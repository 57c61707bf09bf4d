"""The time of the record that stands at an offset: how long a reader who is there has let it wait."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from odradek.client.failures import Refused, refusal
from odradek.client.leaders import ask_leaders
from odradek.model.ids import BrokerId, Partition
from odradek.wire.batch import split
from odradek.wire.messages.fetch import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from odradek.wire.records import read_records

if TYPE_CHECKING:
    from odradek.client.cluster import Cluster

NO_TIMESTAMP = -1
_NEWEST_BY_NAME = 12  # Fetch names topics by id from 13 on
_ONE_BATCH = 1  # byte: a broker gives the first batch whole, however large


async def timestamps_at(cluster: Cluster, offsets: Mapping[Partition, int]) -> dict[Partition, int | Refused]:
    """Of the first record from each offset on; NO_TIMESTAMP where there is none."""

    async def one(leader: BrokerId, partition: Partition) -> int | Refused:
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            topics=(
                FetchTopic(
                    topic=partition.topic,
                    partitions=(
                        FetchPartition(
                            partition=partition.number,
                            fetch_offset=offsets[partition],
                            partition_max_bytes=_ONE_BATCH,
                        ),
                    ),
                ),
            ),
        )
        answer = await cluster.ask(leader, request, FetchResponse, newest=_NEWEST_BY_NAME)
        asked = f"record at {partition} offset {offsets[partition]}"
        if answer.error_code:
            return refusal(answer.error_code, asked=asked) or NO_TIMESTAMP
        ((found,),) = (topic.partitions for topic in answer.responses)
        return refusal(found.error_code, asked=asked) or _timestamp(found, offsets[partition])

    async def ask(leader: BrokerId, theirs: Sequence[Partition]) -> dict[Partition, int | Refused]:
        # One request each, because only the first partition of a request is sure to get a whole batch.
        found = await asyncio.gather(*(one(leader, each) for each in theirs))
        return dict(zip(theirs, found, strict=True))

    return await ask_leaders(cluster, "records", offsets, ask) if offsets else {}


def _timestamp(found: FetchedPartition, offset: int) -> int:
    records = found.records
    if not records:
        return NO_TIMESTAMP
    assert isinstance(records, bytes | bytearray | memoryview), "what comes from the network is bytes"
    return next(
        (
            record.timestamp
            for at, _ in split(records)
            for record in read_records(records, at)
            if record.offset >= offset
        ),
        NO_TIMESTAMP,
    )
