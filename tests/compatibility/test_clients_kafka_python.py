"""kafka-python: it produces, consumes and administers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType, OffsetSpec
from kafka.errors import KafkaError
from tests.compatibility import promises
from tests.compatibility.clients import WITHIN_S, Found, Position, Record, Refused, Settings
from tests.compatibility.served import Served

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]


class KafkaPython:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._consumer = self._new_consumer()

    def close(self) -> None:
        self._consumer.close()
        self._admin.close()

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
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if codec == "none" else codec,
            acks=acks if acks == "all" else int(acks),
            enable_idempotence=idempotent,
            linger_ms=5,
            max_request_size=20 * promises.MIB,
        )
        sent = [
            producer.send(
                topic,
                key=_bytes(record.key),
                value=_bytes(record.value),
                headers=[(name, _bytes(value)) for name, value in record.headers],
                partition=0,
                timestamp_ms=record.timestamp,
            )
            for record in records
        ]
        with _refusals():
            for each in sent:
                each.get(WITHIN_S)
        producer.close()

    def assign(self, topics: Sequence[str], position: Position) -> None:
        self.leave()
        partitions = [TopicPartition(topic, 0) for topic in topics]
        self._consumer.assign(partitions)
        match position:
            case ("earliest", _):
                self._consumer.seek_to_beginning(*partitions)
            case ("latest", _):
                self._consumer.seek_to_end(*partitions)
            case ("offset", offset):
                for partition in partitions:
                    self._consumer.seek(partition, offset)
            case ("time", timestamp):
                found = self._consumer.offsets_for_times(dict.fromkeys(partitions, timestamp))
                for partition in partitions:
                    self._consumer.seek(partition, found[partition].offset)
        for partition in partitions:
            self._consumer.position(partition)

    def read(self, count: int) -> list[Found]:
        found: list[Found] = []
        deadline = time.monotonic() + WITHIN_S
        while len(found) < count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} records came: {found}"
            for records in self._consumer.poll(timeout_ms=500, max_records=count - len(found)).values():
                for each in records:
                    headers = tuple((name, _text(value)) for name, value in each.headers)
                    record = Record(_text(each.key), _text(each.value), each.timestamp, headers)
                    found.append(Found(each.topic, each.offset, record))
        return found

    def _new_consumer(self, group: str | None = None) -> KafkaConsumer:
        return KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=20 * promises.MIB,
            heartbeat_interval_ms=100,
        )

    # -- groups --------------------------------------------------------------------------------------------

    def join(self, group: str, topic: str) -> None:
        self._consumer.close()
        self._consumer = self._new_consumer(group)
        self._consumer.subscribe([topic])

    def await_partitions(self, count: int) -> None:
        deadline = time.monotonic() + WITHIN_S
        while len(self._consumer.assignment()) != count:
            assert time.monotonic() < deadline, self._consumer.assignment()
            self._consumer.poll(timeout_ms=500)

    def commit(self) -> None:
        self._consumer.commit()

    def leave(self) -> None:
        self._consumer.close()
        self._consumer = self._new_consumer()

    # -- administration ------------------------------------------------------------------------------------

    def create_topics(self, names: Sequence[str], partitions: int, settings: Settings) -> None:
        wanted = {"num_partitions": partitions, "replication_factor": 1, "configs": settings}
        with _refusals():
            self._admin.create_topics(dict.fromkeys(names, wanted))

    def topics(self) -> Mapping[str, int]:
        return {each["name"]: len(each["partitions"]) for each in self._admin.describe_topics()}

    def delete_topics(self, names: Sequence[str]) -> None:
        with _refusals():
            self._admin.delete_topics(names)

    def add_partitions(self, topic: str, total: int) -> None:
        with _refusals():
            self._admin.create_partitions({topic: total})

    def settings(self, topic: str) -> Settings:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        told = self._admin.describe_configs([resource], config_filter=ConfigFilterType.ALL)
        return {name: each["value"] for name, each in told["topic"][topic].items()}

    def change_settings(self, topic: str, settings: Settings) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=dict(settings))
        with _refusals():
            answered = self._admin.alter_configs([resource])["topic"][topic]
        if answered != "OK":
            code = re.match(r"\[Error (\d+)\]", answered)
            assert code is not None, answered
            raise Refused(int(code[1]), answered)

    def offset(self, topic: str, position: Position) -> int:
        partition = TopicPartition(topic, 0)
        match position.kind:
            case "earliest":
                asked = OffsetSpec.EARLIEST
            case "latest":
                asked = OffsetSpec.LATEST
            case _:
                asked = position.number
        return int(self._admin.list_partition_offsets({partition: asked})[partition].offset)

    def delete_records(self, topic: str, before: int) -> None:
        with _refusals():
            self._admin.delete_records({TopicPartition(topic, 0): before})

    def log_sizes(self) -> Mapping[str, int]:
        (broker,) = self._admin.describe_log_dirs()
        return {
            topic["name"]: partition["partition_size"]
            for directory in broker["log_dirs"]
            for topic in directory["topics"]
            for partition in topic["partitions"]
            if partition["partition_index"] == 0
        }


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except KafkaError as refusal:
        raise Refused(refusal.errno, str(refusal)) from None


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[KafkaPython]:
    client = KafkaPython(served.bootstrap)
    yield client
    client.close()


@pytest.fixture
def other(served: Served) -> Iterator[KafkaPython]:
    other = KafkaPython(served.bootstrap)
    yield other
    other.close()


class TestKafkaPython(
    promises.Produces,
    promises.ProducesIdempotently,
    promises.Consumes,
    promises.JoinsGroups,
    promises.Administers,
    promises.ManyTopics,
    promises.SeesLogDirs,
):
    records = promises.WITHOUT_NULL_HEADERS
