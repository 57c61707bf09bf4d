"""How replicas move between the data directories of a broker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from odradek.model.errors import ErrorCode
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.batch import split
from odradek.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from odradek.wire.messages.produce import PartitionData, ProduceRequest, ProduceResponse, TopicData
from odradek.wire.messages.reassign import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from odradek.wire.messages.topics import CreatableTopic, CreateTopicsRequest

DEADLINE_S = 5


class House:
    def __init__(self, broker: Broker, client: Conversation, paths: tuple[str, str]) -> None:
        self.broker = broker
        self.client = client
        self.paths = paths

    def make(self, name: str) -> None:
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, assignments=(), configs=())
        self.client.ask(CreateTopicsRequest(topics=(topic,)), 7)

    def produce(self, name: str, count: int, value: bytes = b"value") -> None:
        for _ in range(count):
            data = PartitionData(index=0, records=bytes(batch_of(value=value)))
            request = ProduceRequest(
                acks=1, timeout_ms=1000, topic_data=(TopicData(name=name, partition_data=(data,)),)
            )
            answer = self.client.ask(request, 9)
            assert isinstance(answer, ProduceResponse)
            assert answer.responses[0].partition_responses[0].error_code == 0

    def read(self, name: str) -> int:
        """How many batches there are."""
        part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 24)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, topics=(FetchTopic(topic=name, partitions=(part,)),)
        )
        answer = self.client.ask(request, 11)
        assert isinstance(answer, FetchResponse)
        records = answer.responses[0].partitions[0].records
        assert isinstance(records, memoryview)
        return len(split(records))

    def where(self, name: str) -> list[tuple[str, bool]]:
        """The directories of a topic's replica, and whether it is still on its way there."""
        answer = self.client.ask(DescribeLogDirsRequest(topics=None), 4)
        assert isinstance(answer, DescribeLogDirsResponse)
        return [
            (each.log_dir, part.is_future_key)
            for each in answer.results
            for topic in each.topics
            if topic.name == name
            for part in topic.partitions
        ]

    def move(self, name: str, path: str) -> ErrorCode:
        topic = AlterReplicaLogDirTopic(name=name, partitions=(0,))
        request = AlterReplicaLogDirsRequest(dirs=(AlterReplicaLogDir(path=path, topics=(topic,)),))
        answer = self.client.ask(request, 2)
        assert isinstance(answer, AlterReplicaLogDirsResponse)
        return ErrorCode.of(answer.results[0].partitions[0].error_code)

    def other(self, path: str) -> str:
        return next(each for each in self.paths if each != path)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    paths = str(tmp_path / "one"), str(tmp_path / "other")
    with Broker({"log.dirs": ",".join(paths)}) as broker, Conversation(broker.bootstrap) as client:
        yield House(broker, client, paths)


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_replica_moves_and_serves_on(house: House) -> None:
    house.make("t")
    house.produce("t", 20)
    ((home, _),) = house.where("t")
    assert house.move("t", house.other(home)) is ErrorCode.NONE
    eventually(lambda: house.where("t") == [(house.other(home), False)])
    house.produce("t", 5)
    assert house.read("t") == 25


def test_what_is_produced_meanwhile_comes_along(house: House) -> None:
    house.make("t")
    house.produce("t", 12, bytes(900_000))  # more than a slice
    ((home, _),) = house.where("t")
    house.move("t", house.other(home))
    house.produce("t", 5)
    eventually(lambda: house.where("t") == [(house.other(home), False)])
    house.produce("t", 5)
    assert house.read("t") == 22


def test_a_move_to_where_it_is_calls_off_the_one_that_was_begun(house: House) -> None:
    house.make("t")
    house.produce("t", 12, bytes(900_000))
    ((home, _),) = house.where("t")
    house.move("t", house.other(home))
    assert house.move("t", home) is ErrorCode.NONE
    assert len(house.where("t")) == 1


def test_a_replica_that_is_still_to_come_goes_where_it_was_sent(house: House) -> None:
    for number in range(4):
        name, path = f"t{number}", house.paths[number % 2]
        assert house.move(name, path) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        house.make(name)
        assert house.where(name) == [(path, False)]


def test_nothing_moves_to_where_there_is_no_directory(house: House) -> None:
    house.make("t")
    assert house.move("t", "/nowhere") is ErrorCode.LOG_DIR_NOT_FOUND
    assert house.move("t", "nowhere") is ErrorCode.LOG_DIR_NOT_FOUND


def test_a_move_that_a_stop_interrupts_is_taken_up_again(house: House) -> None:
    house.make("t")
    house.produce("t", 12, bytes(900_000))
    ((home, _),) = house.where("t")
    house.move("t", house.other(home))
    house.client.close()
    house.broker.restart()
    with Conversation(house.broker.bootstrap) as client:
        house.client = client
        eventually(lambda: house.where("t") == [(house.other(home), False)])
        assert house.read("t") == 12
