"""Which broker coordinates whom: the one that leads the partition where what is known of them is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.shards import bucket
from odradek.model.ids import Partition

if TYPE_CHECKING:
    from odradek.broker.metadata import Metadata
    from odradek.broker.topics import Topics
    from odradek.wire.messages.metadata import MetadataBroker

CREATED_WITHIN_S = 5.0


def coordinator(metadata: Metadata, topic: str, key: str, listener: str) -> MetadataBroker | None:
    """The coordinator of `key`; None where there is none just now."""
    known = metadata.image.topics.get(topic)
    if known is None:
        return None
    partition = metadata.image.partition(Partition(topic, bucket(key, len(known.partitions))))
    leader = None if partition is None else partition.leader
    return next((each for each in metadata.brokers(listener) if each.node_id == leader), None)


async def create_topic(topics: Topics, topic: str) -> None:
    """Where coordinators keep what they know. Comes back when it can be used, or after a while."""
    refused = await topics.create_automatically([topic])
    if not refused:  # somebody else may be creating it
        await topics.until(lambda: topics.is_ready(topic), CREATED_WITHIN_S)
