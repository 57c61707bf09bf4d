"""`odradek e2e-latency`: kafka-e2e-latency, how long a record takes from a producer to a consumer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import click

from odradek.cli.failures import Impossible, Misused, Told, message, said_as
from odradek.cli.flags import switch, verb
from odradek.cli.output import json_line
from odradek.cli.reach import properties_in

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer

_USAGE = (
    "USAGE: odradek e2e-latency broker_list topic num_messages producer_acks message_size_bytes "
    "[optional] properties_file"
)
_ARRIVES_WITHIN_S = 60.0
_TOLD_EVERY = 1000


@dataclass(frozen=True, kw_only=True)
class LatencyFlags:
    arguments: tuple[str, ...] = ()
    json: bool = switch("Print the result as JSON.")


class _Asked(NamedTuple):
    servers: str
    topic: str
    records: int
    acks: str
    size: int
    properties: Mapping[str, str]

    @staticmethod
    def of(arguments: Sequence[str]) -> _Asked:
        if not 5 <= len(arguments) <= 6:
            raise Misused(_USAGE)
        servers, topic, count, acks, size = arguments[:5]
        if not (count.isdecimal() and size.isdecimal()):
            raise Misused(_USAGE)
        if acks not in ("1", "all"):
            raise Impossible("Latency testing requires synchronous acknowledgement. Please use 1 or all")
        given = properties_in(arguments[5]) if len(arguments) == 6 else {}
        return _Asked(servers, topic, int(count), acks, int(size), given)


def run(flags: LatencyFlags) -> None:
    from odradek.cli import librdkafka
    from odradek.cli.formats.performance import latencies_as_json, latency_lines

    asked = _Asked.of(flags.arguments)
    producer = librdkafka.producer(_of_producer(asked))
    consumer = librdkafka.consumer(_of_consumer(asked))
    try:
        _go_to_the_ends(consumer, asked.topic)
        latencies_ms = _measured(asked, producer, consumer, is_told=not flags.json)
    finally:
        consumer.close()
    if flags.json:
        click.echo(json_line(latencies_as_json(latencies_ms)))
    else:
        click.echo("\n".join(latency_lines(latencies_ms)))


def _measured(asked: _Asked, producer: Producer, consumer: Consumer, *, is_told: bool) -> list[float]:
    from odradek.cli.librdkafka import send
    from odradek.cli.payloads import random_letters
    from odradek.cli.progress import progress
    from odradek.runtime.clock import SystemClock
    from odradek.runtime.entropy import SystemEntropy

    clock = SystemClock()
    payloads = random_letters(asked.size, SystemEntropy())
    latencies_ms: list[float] = []
    with progress("there and back", asked.records) as show:
        for number in range(asked.records):
            payload = next(payloads)
            began = clock.monotonic()
            send(producer, asked.topic, payload)
            producer.flush()
            _await(consumer, payload)
            latencies_ms.append((clock.monotonic() - began) * 1000)
            show(number)
            if is_told and number % _TOLD_EVERY == 0:
                click.echo(f"{number}\t{latencies_ms[-1]:.6f}")
    return latencies_ms


def _await(consumer: Consumer, payload: bytes) -> None:
    found = consumer.poll(_ARRIVES_WITHIN_S)
    if found is None:
        raise Impossible(f"poll() timed out before finding a result (timeout:[{_ARRIVES_WITHIN_S:.0f}s])")
    error = found.error()
    if error is not None:
        raise Impossible(error.str(), "org.apache.kafka.common.KafkaException")
    if found.value() != payload:
        raise Impossible("The message read did not match the message sent")


def _go_to_the_ends(consumer: Consumer, topic: str) -> None:
    """Of all partitions, so that nothing is received but what is sent from now on."""
    from confluent_kafka import TopicPartition

    partitions = consumer.list_topics(topic, timeout=_ARRIVES_WITHIN_S).topics[topic].partitions
    if not partitions:
        raise Impossible(f"Topic {topic} does not exist", "java.lang.RuntimeException")
    ends = [
        TopicPartition(topic, number, consumer.get_watermark_offsets(TopicPartition(topic, number))[1])
        for number in partitions
    ]
    consumer.assign(ends)


def _of_producer(asked: _Asked) -> dict[str, str]:
    return {
        **asked.properties,
        "bootstrap.servers": asked.servers,
        "acks": asked.acks,
        "linger.ms": "0",
    }


def _of_consumer(asked: _Asked) -> dict[str, str]:
    return {
        **asked.properties,
        "bootstrap.servers": asked.servers,
        "group.id": "test-group",
        "enable.auto.commit": "false",
        "fetch.max.wait.ms": "500",
        "fetch.min.bytes": "1",
    }


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(err=f"{said_as(failure)}: {message(failure)}")


e2e_latency = verb(
    "e2e-latency",
    LatencyFlags,
    run,
    help="Measure how long a record takes from producer to consumer.",
    failing=_told,
    arguments=[
        click.Argument(
            ["arguments"],
            nargs=-1,
            metavar="BROKER_LIST TOPIC NUM_MESSAGES PRODUCER_ACKS MESSAGE_SIZE_BYTES [PROPERTIES_FILE]",
        )
    ],
)
