"""Producing and consuming on the command line: confluent-kafka, told in the words of Kafka's Java clients.

Properties are given to verbs under their Java names and mean what they mean there. Many are librdkafka's too;
some have other names or units; those that only make sense inside a JVM are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

import click

from odradek.cli.failures import Impossible
from odradek.cli.formats.lines import Headers
from odradek.cli.formats.records import Record

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message, Producer

Properties: TypeAlias = Mapping[str, str]
Config: TypeAlias = dict[str, object]

MISSING = "producing and consuming needs confluent-kafka: pip install 'odradek[cli]'"
_EXCEPTION = "org.apache.kafka.common.config.ConfigException"

# What Java's producer does where nothing is said, and librdkafka's would do otherwise.
JAVA_PRODUCER: Properties = {
    "acks": "all",
    "batch.size": "16384",
    "linger.ms": "0",
    "buffer.memory": "33554432",
    "delivery.timeout.ms": "120000",
}
EVERY_SO_OFTEN: Properties = {"statistics.interval.ms": "500"}
_RENAMED: Properties = {
    "max.request.size": "message.max.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "sasl.mechanism": "sasl.mechanisms",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.truststore.location": "ssl.ca.location",
}
_OF_A_JVM = re.compile(
    r".*\.(serializer|deserializer)|interceptor\.classes|metric\.reporters|metrics\..*|partitioner\..*"
    r"|max\.block\.ms|max\.poll\.records|default\.api\.timeout\.ms|client\.dns\.lookup|security\.providers"
    r"|ssl\.(protocol|provider|enabled\.protocols|.*manager\.algorithm|.*store\.type|truststore\.password)"
    r"|socket\.connection\.setup\.timeout\.max\.ms|auto\.include\.jmx\.reporter"
)
_LOGIN = re.compile(r'\b(username|password)\s*=\s*"([^"]*)"')
_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "cooperative-sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def producer(
    properties: Properties,
    on_delivery: Callable[[KafkaError | None, Message], None] | None = None,
    stats_cb: Callable[[str], None] | None = None,
) -> Producer:
    """`on_delivery` hears of every record."""
    _require_confluent_kafka()
    from confluent_kafka import KafkaException, Producer

    given = {**JAVA_PRODUCER, **properties}
    if "transactional.id" in given and "delivery.timeout.ms" not in properties:
        del given["delivery.timeout.ms"]  # librdkafka wants it below transaction.timeout.ms, and sees to that
    config = _config(given)
    config.setdefault("partitioner", "murmur2_random")  # equal keys go where Java's producer puts them
    if given["acks"] in ("all", "-1"):
        config.setdefault("enable.idempotence", "true")
    config |= {"on_delivery": on_delivery} if on_delivery is not None else {}
    config |= {"stats_cb": stats_cb, **EVERY_SO_OFTEN} if stats_cb is not None else {}
    try:
        return Producer(config)
    except KafkaException as refused:
        raise Impossible(_told(refused), _EXCEPTION) from None


def consumer(properties: Properties, stats_cb: Callable[[str], None] | None = None) -> Consumer:
    _require_confluent_kafka()
    from confluent_kafka import Consumer, KafkaException

    config = _config({"allow.auto.create.topics": "true", **properties})
    config |= {"stats_cb": stats_cb, **EVERY_SO_OFTEN} if stats_cb is not None else {}
    try:
        return Consumer(config)
    except KafkaException as refused:
        raise Impossible(_told(refused), _EXCEPTION) from None


def _require_confluent_kafka() -> None:
    try:
        import_module("confluent_kafka")
    except ImportError:
        raise Impossible(MISSING, "ModuleNotFoundError") from None


class Counters:
    """librdkafka's own counters, which it tells every now and then: what `stats_cb` is to be."""

    def __init__(self) -> None:
        self._told: dict[str, object] = {}

    def __call__(self, told: str) -> None:
        self._told = json.loads(told)

    def wait(self, client: Producer | Consumer) -> None:
        """For what is told after all is done."""
        self._told = {}
        while not self._told:
            client.poll(0.1)

    def lines(self) -> Iterator[str]:
        from odradek.cli.formats.performance import counter_lines

        return counter_lines(self._told)


def send(
    to: Producer,
    topic: str,
    value: bytes | None,
    key: bytes | None = None,
    headers: Headers = (),
    timestamp_ms: int = 0,
) -> None:
    """Produce; when the queue is full, wait until it is not."""
    while True:
        try:
            to.produce(topic, value, key, headers=list(headers), timestamp=timestamp_ms)
        except BufferError:
            to.poll(0.1)
        else:
            to.poll(0)
            return


def record_of(message: Message) -> Record:
    kind, time_ms = message.timestamp()
    return Record(
        topic=message.topic() or "",
        partition=message.partition() or 0,
        offset=message.offset() or 0,
        time_kind=kind,
        time_ms=time_ms,
        headers=tuple(_headers(message)),
        key=message.key(),
        value=message.value(),
    )


def _headers(message: Message) -> Iterator[tuple[str, bytes | None]]:
    found = message.headers() or []
    for name, value in found.items() if isinstance(found, dict) else found:
        yield name, value.encode() if isinstance(value, str) else value


def pairs(given: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE as --property and its like take them; KEY alone has the value ""."""
    return {key: value for key, _, value in (each.partition("=") for each in given)}


def translated(properties: Properties) -> dict[str, str | int]:
    """Java's properties as librdkafka's."""
    found: dict[str, str | int] = {}
    for key, value in properties.items():
        if key == "sasl.jaas.config":
            found |= {f"sasl.{name}": text for name, text in _LOGIN.findall(value)}
        elif key == "buffer.memory":
            found["queue.buffering.max.kbytes"] = max(1, int(value) // 1024)
        elif key == "partition.assignment.strategy":
            found[key] = ",".join(
                _ASSIGNORS.get(each.strip().rpartition(".")[2], each.strip()) for each in value.split(",")
            )
        elif key == "ssl.endpoint.identification.algorithm":
            found[key] = value.strip() or "none"
        elif key == "ssl.keystore.location" and properties.get("ssl.keystore.type", "").upper() == "PEM":
            found |= {"ssl.key.location": value, "ssl.certificate.location": value}
        elif not _OF_A_JVM.fullmatch(key):
            found[_RENAMED.get(key, key)] = value
    return found


def _config(properties: Properties) -> Config:
    said: set[str] = set()

    def warn(error: KafkaError) -> None:
        """Each thing once: the client repeats itself at every attempt."""
        if error.str() not in said:
            said.add(error.str())
            click.echo(f"WARN {error.str()}", err=True)

    return {**translated(properties), "log_level": 2, "error_cb": warn}


def _told(refused: Exception) -> str:
    (error,) = refused.args
    return str(error.str())
