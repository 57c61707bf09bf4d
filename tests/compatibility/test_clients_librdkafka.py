"""librdkafka, by way of confluent-kafka: it produces, consumes and administers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)
from tests.compatibility import promises
from tests.compatibility.clients import WITHIN_S, Found, Position, Record, Refused, Settings
from tests.compatibility.served import Served

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

SILENT = 0  # else it writes to standard error, without an end while a broker is away


class Librdkafka:
    def __init__(self, bootstrap: str) -> None:
        self._common: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap,
            "log_level": SILENT,
        }
        self._admin = AdminClient(self._common)
        self._consumer: Consumer | None = None

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
        self._consumer = None

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
        producer = Producer(
            {
                **self._common,
                "compression.type": codec,
                "acks": acks,
                "enable.idempotence": idempotent,
                "message.max.bytes": 20 * promises.MIB,
                "linger.ms": 5,
            }
        )
        failures: list[KafkaError] = []

        def delivered(failure: KafkaError | None, _: Message) -> None:
            if failure is not None:
                failures.append(failure)

        for record in records:
            producer.produce(
                topic,
                key=record.key,
                value=record.value,
                partition=0,
                timestamp=record.timestamp or 0,
                headers=[(name, None if value is None else value.encode()) for name, value in record.headers],
                on_delivery=delivered,
            )
        assert producer.flush(WITHIN_S) == 0
        if failures:
            raise Refused(failures[0].code(), failures[0].str())

    def assign(self, topics: Sequence[str], position: Position) -> None:
        consumer = self._new_consumer(
            "unused"
        )  # one assigned anew thirty times fetches nothing, from Kafka too
        consumer.list_topics(timeout=WITHIN_S)  # it asks a leader not known yet half a second later
        match position:
            case ("earliest", _):
                places = [TopicPartition(topic, 0, OFFSET_BEGINNING) for topic in topics]
            case ("latest", _):
                places = [TopicPartition(topic, 0, OFFSET_END) for topic in topics]
            case ("offset", offset):
                places = [TopicPartition(topic, 0, offset) for topic in topics]
            case ("time", timestamp):
                wanted = [TopicPartition(topic, 0, timestamp) for topic in topics]
                places = consumer.offsets_for_times(wanted, WITHIN_S)
        consumer.assign(places)
        if position.kind == "latest":
            for _ in topics:
                message = consumer.poll(WITHIN_S)
                assert message is not None
                assert _is_end(message), message.error()

    def read(self, count: int) -> list[Found]:
        assert self._consumer is not None
        found: list[Found] = []
        deadline = time.monotonic() + WITHIN_S
        while len(found) < count:
            message = self._consumer.poll(deadline - time.monotonic())
            assert message is not None, f"{len(found)} of {count} records came: {found}"
            if not _is_end(message):
                assert message.error() is None, message.error()
                found.append(_found(message))
        return found

    def _new_consumer(self, group: str) -> Consumer:
        self.close()
        self._consumer = Consumer(
            {
                **self._common,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "fetch.message.max.bytes": 20 * promises.MIB,
                "heartbeat.interval.ms": 100,
            }
        )
        return self._consumer

    # -- groups --------------------------------------------------------------------------------------------

    def join(self, group: str, topic: str) -> None:
        self._new_consumer(group).subscribe([topic])

    def await_partitions(self, count: int) -> None:
        assert self._consumer is not None
        deadline = time.monotonic() + WITHIN_S
        while len(self._consumer.assignment()) != count:
            assert time.monotonic() < deadline, self._consumer.assignment()
            self._consumer.poll(0.02)

    def commit(self) -> None:
        assert self._consumer is not None
        self._consumer.commit(asynchronous=False)

    def leave(self) -> None:
        self.close()

    # -- administration ------------------------------------------------------------------------------------

    def create_topics(self, names: Sequence[str], partitions: int, settings: Settings) -> None:
        topics = [NewTopic(name, partitions, 1, config=dict(settings)) for name in names]
        _await(self._admin.create_topics(topics).values())

    def topics(self) -> Mapping[str, int]:
        return {name: len(each.partitions) for name, each in self._admin.list_topics().topics.items()}

    def delete_topics(self, names: Sequence[str]) -> None:
        _await(self._admin.delete_topics(list(names)).values())

    def add_partitions(self, topic: str, total: int) -> None:
        _await(self._admin.create_partitions([NewPartitions(topic, total)]).values())

    def settings(self, topic: str) -> Settings:
        (told,) = self._admin.describe_configs([_config_resource(topic)]).values()
        return {name: entry.value for name, entry in told.result(WITHIN_S).items()}

    def change_settings(self, topic: str, settings: Settings) -> None:
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in settings.items()
        ]
        _await(self._admin.incremental_alter_configs([_config_resource(topic, entries)]).values())

    def offset(self, topic: str, position: Position) -> int:
        match position.kind:
            case "earliest":
                asked = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
            case "latest":
                asked = OffsetSpec.latest()  # type: ignore[no-untyped-call]
            case _:
                asked = OffsetSpec.for_timestamp(position.number)
        (told,) = self._admin.list_offsets(
            {TopicPartition(topic, 0): asked}, isolation_level=IsolationLevel.READ_UNCOMMITTED
        ).values()
        return int(told.result(WITHIN_S).offset)

    def delete_records(self, topic: str, before: int) -> None:
        _await(self._admin.delete_records([TopicPartition(topic, 0, before)]).values())


def _config_resource(topic: str, entries: list[ConfigEntry] | None = None) -> ConfigResource:
    return ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)


def _is_end(message: Message) -> bool:
    failure = message.error()
    return failure is not None and failure.code() == KafkaError._PARTITION_EOF


def _found(message: Message) -> Found:
    headers = message.headers() or []
    assert isinstance(headers, list)
    told = tuple((name, _text(value)) for name, value in headers)
    record = Record(_text(message.key()), _text(message.value()), message.timestamp()[1], told)
    return Found(message.topic() or "", message.offset() or 0, record)


def _text(data: bytes | str | None) -> str | None:
    return data.decode() if isinstance(data, bytes) else data


def _await(answers: Iterable[Future[None]]) -> None:
    """All succeed, or the first refusal is raised."""
    for answer in answers:
        try:
            answer.result(WITHIN_S)
        except KafkaException as refusal:
            raise Refused(refusal.args[0].code(), refusal.args[0].str()) from None


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[Librdkafka]:
    client = Librdkafka(served.bootstrap)
    yield client
    client.close()


@pytest.fixture
def other(served: Served) -> Iterator[Librdkafka]:
    other = Librdkafka(served.bootstrap)
    yield other
    other.close()


class TestLibrdkafka(
    promises.Produces,
    promises.ProducesIdempotently,
    promises.Consumes,
    promises.JoinsGroups,
    promises.Administers,
    promises.ManyTopics,
):
    pass
