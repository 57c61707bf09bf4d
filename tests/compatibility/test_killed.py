"""A broker that is killed under load loses nothing that it acknowledged, and keeps nothing twice.

Many idempotent producers write as fast as they can, one request each: of a producer's batches, a killed
broker knows only the last one again, Kafka too. In the middle of it the process is killed as `kill -9` does
it and started anew on what lies on the disk; the producers send again what was not answered. What the kernel
had taken survives a killed process, flushed or not. Losing power is another matter: tests/simulation/ has a
disk that forgets.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Semaphore

import pytest
from tests.compatibility.served import Served, start_odradek

from odradek.testing.conversation import Conversation
from odradek.wire.batch import split
from odradek.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from odradek.wire.messages.produce import PartitionData, ProduceRequest, ProduceResponse, TopicData
from odradek.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from odradek.wire.records import BatchBuilder, Producer, read_records

WRITERS = 5  # of each topic
ACKNOWLEDGED_A_LIFE_MAX = 300
T0 = 1_800_000_000_000
FLUSH_MESSAGES = {"flushed": 1, "kept": 2**63 - 1}  # by topic


class Writer:
    """An idempotent producer. A record's value tells whose it is and which."""

    def __init__(self, topic: str, name: str) -> None:
        self.topic = topic
        self.name = name
        self.offsets: list[int] = []  # of what was acknowledged
        self._id = -1

    def value(self, number: int) -> bytes:
        return f"{self.name}:{number};".encode() * (number * 7919 % 1500 + 1)

    def write(self, bootstrap: str, acknowledged: Semaphore) -> None:
        """Until the broker is gone."""
        with suppress(EOFError, OSError), Conversation(bootstrap) as broker:
            while True:
                self.write_next(broker)
                acknowledged.release()

    def write_next(self, broker: Conversation) -> None:
        """Or again what was not answered."""
        if self._id < 0:
            began = broker.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0), 4)
            assert isinstance(began, InitProducerIdResponse)
            assert began.error_code == 0
            self._id = began.producer_id
        number = len(self.offsets)
        batch = BatchBuilder(producer=Producer(self._id, 0, number))
        batch.append(T0 + number, None, self.value(number))
        data = (PartitionData(index=0, records=bytes(batch.build())),)
        topic = TopicData(name=self.topic, partition_data=data)
        response = broker.ask(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=(topic,)), 9)
        assert isinstance(response, ProduceResponse)
        answer = response.responses[0].partition_responses[0]
        assert answer.error_code == 0, answer
        self.offsets.append(answer.base_offset)


def kept(broker: Served, topic: str) -> list[bytes | None]:
    """Every value of the topic's log."""
    values: list[bytes | None] = []
    with Conversation(broker.bootstrap) as conversation:
        while True:
            wanted = FetchPartition(partition=0, fetch_offset=len(values), partition_max_bytes=1 << 23)
            topics = (FetchTopic(topic=topic, partitions=(wanted,)),)
            response = conversation.ask(FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics), 11)
            assert isinstance(response, FetchResponse)
            answer = response.responses[0].partitions[0]
            assert isinstance(answer.records, memoryview)
            if not answer.records:
                assert (answer.error_code, answer.high_watermark) == (0, len(values))
                return values
            for at, header in split(answer.records):
                assert header.base_offset == len(values)
                values += [each.value for each in read_records(answer.records, at, size_max=1 << 24)]


@pytest.mark.slow
def test_a_killed_broker_loses_nothing_it_acknowledged(tmp_path: Path, kills: int) -> None:
    random = Random(kills)
    writers = [Writer(topic, f"{topic}-{which}") for topic in FLUSH_MESSAGES for which in range(WRITERS)]
    with start_odradek(tmp_path) as broker:
        for topic, interval in FLUSH_MESSAGES.items():
            broker.create_topic(
                topic, segment_bytes="300000", retention_ms="-1", flush_messages=str(interval)
            )
    with ThreadPoolExecutor(len(writers)) as threads:
        for _ in range(kills):
            with start_odradek(tmp_path) as broker:
                acknowledged = Semaphore(0)
                writing = [threads.submit(each.write, broker.bootstrap, acknowledged) for each in writers]
                for _ in range(random.randrange(ACKNOWLEDGED_A_LIFE_MAX)):
                    assert acknowledged.acquire(timeout=10)
                broker.kill()
                for each in writing:
                    each.result()
    with start_odradek(tmp_path) as broker:
        with Conversation(broker.bootstrap) as conversation:
            for writer in writers:
                writer.write_next(conversation)
        logs = {topic: kept(broker, topic) for topic in FLUSH_MESSAGES}
    assert sum(map(len, logs.values())) == sum(len(writer.offsets) for writer in writers)
    for writer in writers:
        for number, offset in enumerate(writer.offsets):
            assert logs[writer.topic][offset] == writer.value(number)
    print(f"{kills} kills, {sum(map(len, logs.values()))} records acknowledged")
