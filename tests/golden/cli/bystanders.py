"""Those who use the cluster while a case is captured: members of groups, producers in transactions.

They stay as they are until told otherwise, because Kafka's tool and ours have to see the same ids.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from confluent_kafka import Consumer, Producer, TopicPartition

from odradek.client.cluster import Cluster
from odradek.client.leaders import leaders_of
from odradek.client.settings import ClientSettings
from odradek.model.ids import BrokerId, Partition
from odradek.testing.batches import batch_of
from odradek.wire.messages.produce import PartitionData, ProduceRequest, ProduceResponse, TopicData
from odradek.wire.records import Producer as Identity

JOINS_WITHIN_S = 10
REBALANCES_WITHIN_S = 4
_MEMBER = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "session.timeout.ms": 45000,
}


class Bystanders:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._members: dict[str, Consumer] = {}  # by client id
        self._producers: dict[str, Producer] = {}  # by transactional id

    def join(self, group: str, client: str, topics: str, strategy: str = "range", instance: str = "") -> None:
        if client in self._members:
            return
        config = {"group.id": group, "client.id": client, "partition.assignment.strategy": strategy}
        if instance:
            config["group.instance.id"] = instance
        member = Consumer({"bootstrap.servers": self._bootstrap, **_MEMBER, **config})
        member.subscribe(topics.split(","))
        self._members[client] = member
        self._settle()

    def leave(self, client: str) -> None:
        member = self._members.pop(client, None)
        if member is not None:
            member.close()
            self._settle()

    def keep(self, client: str, *offsets: str) -> None:
        """Each as TOPIC:PARTITION:OFFSET, committed by a member."""
        self._members[client].commit(offsets=_offsets(offsets), asynchronous=False)

    def commit(self, group: str, *offsets: str) -> None:
        """The same by nobody in particular."""
        consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
        consumer.commit(offsets=_offsets(offsets), asynchronous=False)
        consumer.close()

    def open(self, transactional_id: str, *partitions: str) -> None:
        """A transaction with a record for each partition, given as TOPIC:PARTITION."""
        if transactional_id in self._producers:
            return
        producer = Producer({"bootstrap.servers": self._bootstrap, "transactional.id": transactional_id})
        producer.init_transactions()
        producer.begin_transaction()
        for each in partitions:
            topic, number = each.split(":")
            producer.produce(topic, b"undecided", partition=int(number))
        producer.flush()
        self._producers[transactional_id] = producer

    def close(self, transactional_id: str) -> None:
        self._producers.pop(transactional_id).abort_transaction()

    def hang(self, producer_id: str, partition: str) -> None:
        """A transaction of long ago that no coordinator knows."""
        topic, number = partition.split(":")
        identity = Identity(int(producer_id), epoch=0, sequence=0)
        asyncio.run(_send_old(self._bootstrap, Partition(topic, int(number)), identity))

    def _settle(self) -> None:
        """Rebalances end when every member has called often enough."""
        begun = time.monotonic()
        members = self._members.values()
        while (elapsed := time.monotonic() - begun) < JOINS_WITHIN_S:
            for each in members:
                each.poll(0.05)
            if elapsed > REBALANCES_WITHIN_S and any(each.assignment() for each in members):
                return


def _offsets(told: Sequence[str]) -> list[TopicPartition]:
    parts = [each.split(":") for each in told]
    return [TopicPartition(topic, int(number), int(offset)) for topic, number, offset in parts]


async def _send_old(bootstrap: str, partition: Partition, identity: Identity) -> None:
    data = PartitionData(index=partition.number, records=batch_of(producer=identity, transactional=True))
    topic = TopicData(name=partition.topic, partition_data=(data,))
    request = ProduceRequest(transactional_id="forgotten", acks=-1, timeout_ms=5000, topic_data=(topic,))
    async with Cluster(ClientSettings.of(bootstrap)) as cluster:
        leader = (await leaders_of(cluster, [partition]))[partition]
        assert isinstance(leader, int), leader
        answer = await cluster.ask(BrokerId(leader), request, ProduceResponse)
    assert not answer.responses[0].partition_responses[0].error_code, answer
