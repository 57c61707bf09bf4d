"""aiokafka: it produces, consumes, alone or in a group, and administers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError
from tests.compatibility import promises
from tests.compatibility.clients import WITHIN_S, Found, Position, Record, Refused, Settings
from tests.compatibility.served import Served

from odradek.runtime.loop_thread import LoopThread

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]


class Aiokafka:
    """Its loop runs on a thread of its own, so that members of groups live between calls."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._loop = LoopThread(asyncio.new_event_loop, "aiokafka")
        self._loop.start()
        self._consumer: AIOKafkaConsumer | None = None
        self._admin = self._loop.run(self._start_admin())

    def close(self) -> None:
        self.leave()
        self._loop.run(self._admin.close())
        self._loop.stop()

    async def _start_admin(self) -> AIOKafkaAdminClient:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        return admin

    # -- producing and consuming ---------------------------------------------------------------------------

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
    ) -> None:
        async def sent() -> None:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                compression_type=None if codec == "none" else codec,
                acks=acks if acks == "all" else int(acks),
                enable_idempotence=idempotent,
                linger_ms=5,
                max_request_size=20 * promises.MIB,
            )
            async with producer:
                sent = [await producer.send(topic, **_spoken(record), partition=0) for record in records]
                with _refusals():
                    await asyncio.wait_for(asyncio.gather(*sent), WITHIN_S)

        self._loop.run(sent())

    def assign(self, topics: Sequence[str], position: Position) -> None:
        partitions = [TopicPartition(topic, 0) for topic in topics]

        async def assign() -> None:
            consumer = await self._new_consumer()
            consumer.assign(partitions)
            match position:
                case ("earliest", _):
                    await consumer.seek_to_beginning(*partitions)
                case ("latest", _):
                    await consumer.seek_to_end(*partitions)
                case ("offset", offset):
                    for partition in partitions:
                        consumer.seek(partition, offset)
                case ("time", timestamp):
                    found = await consumer.offsets_for_times(dict.fromkeys(partitions, timestamp))
                    for partition in partitions:
                        consumer.seek(partition, found[partition].offset)

        self.leave()
        self._loop.run(assign())

    def read(self, count: int) -> list[Found]:
        async def read() -> list[Found]:
            assert self._consumer is not None
            found: list[Found] = []
            for _ in range(count):
                each = await asyncio.wait_for(self._consumer.getone(), WITHIN_S)
                headers = tuple((name, _text(value)) for name, value in each.headers)
                record = Record(_text(each.key), _text(each.value), each.timestamp, headers)
                found.append(Found(each.topic, each.offset, record))
            return found

        return self._loop.run(read())

    async def _new_consumer(self, group: str | None = None) -> AIOKafkaConsumer:
        self._consumer = consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_partition_fetch_bytes=20 * promises.MIB,
            heartbeat_interval_ms=100,
        )
        await consumer.start()
        return consumer

    # -- groups --------------------------------------------------------------------------------------------

    def join(self, group: str, topic: str) -> None:
        async def join() -> None:
            consumer = await self._new_consumer(group)
            consumer.subscribe([topic])

        self.leave()
        self._loop.run(join())

    def await_partitions(self, count: int) -> None:
        async def assigned() -> None:
            assert self._consumer is not None
            while len(self._consumer.assignment()) != count:
                await asyncio.sleep(0.02)

        self._loop.run(asyncio.wait_for(assigned(), WITHIN_S))

    def commit(self) -> None:
        assert self._consumer is not None
        self._loop.run(self._consumer.commit())

    def leave(self) -> None:
        if self._consumer is not None:
            self._loop.run(self._consumer.stop())
        self._consumer = None

    # -- administration ------------------------------------------------------------------------------------

    def create_topics(self, names: Sequence[str], partitions: int, settings: Settings) -> None:
        topics = [NewTopic(name, partitions, 1, topic_configs=dict(settings)) for name in names]
        answer = self._loop.run(self._admin.create_topics(topics))
        _raise_first(each[1] for each in answer.topic_errors)

    def topics(self) -> Mapping[str, int]:
        return {
            each["topic"]: len(each["partitions"]) for each in self._loop.run(self._admin.describe_topics())
        }

    def delete_topics(self, names: Sequence[str]) -> None:
        answer = self._loop.run(self._admin.delete_topics(list(names)))
        _raise_first(each[1] for each in answer.topic_error_codes)

    def add_partitions(self, topic: str, total: int) -> None:
        answer = self._loop.run(self._admin.create_partitions({topic: NewPartitions(total)}))
        _raise_first(each[1] for each in answer.topic_errors)

    def settings(self, topic: str) -> Settings:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (answer,) = self._loop.run(self._admin.describe_configs([resource]))
        ((_, _, _, _, entries),) = answer.resources
        return {name: value for name, value, *_ in entries}

    def change_settings(self, topic: str, settings: Settings) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=dict(settings))
        (answer,) = self._loop.run(self._admin.alter_configs([resource]))
        _raise_first(each[0] for each in answer.resources)

    def offset(self, topic: str, position: Position) -> int:
        """Its administration has no such thing; a consumer asks."""
        partition = TopicPartition(topic, 0)

        async def offset() -> int:
            consumer = await self._new_consumer()
            match position.kind:
                case "earliest":
                    return int((await consumer.beginning_offsets([partition]))[partition])
                case "latest":
                    return int((await consumer.end_offsets([partition]))[partition])
                case _:
                    found = (await consumer.offsets_for_times({partition: position.number}))[partition]
                    return -1 if found is None else int(found.offset)

        self.leave()
        return self._loop.run(offset())

    def delete_records(self, topic: str, before: int) -> None:
        asked = {TopicPartition(topic, 0): RecordsToDelete(before)}
        with _refusals():
            self._loop.run(self._admin.delete_records(asked))


def _spoken(record: Record) -> dict[str, object]:
    return {
        "key": _bytes(record.key),
        "value": _bytes(record.value),
        "timestamp_ms": record.timestamp,
        "headers": [(name, _bytes(value)) for name, value in record.headers],
    }


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _raise_first(codes: Iterator[int]) -> None:
    for code in codes:
        if code:
            raise Refused(code)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except KafkaError as refusal:
        raise Refused(refusal.errno, str(refusal)) from None


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[Aiokafka]:
    client = Aiokafka(served.bootstrap)
    yield client
    client.close()


@pytest.fixture
def other(served: Served) -> Iterator[Aiokafka]:
    other = Aiokafka(served.bootstrap)
    yield other
    other.close()


class TestAiokafka(
    promises.Produces,
    promises.ProducesIdempotently,
    promises.Consumes,
    promises.JoinsGroups,
    promises.Administers,
    promises.ManyTopics,
):
    pass
