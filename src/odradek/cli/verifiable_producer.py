"""`odradek verifiable-producer`: kafka-verifiable-producer.

Sends numbers that grow and says in JSON what became of each, so that a test knows what has to be there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count as counting
from itertools import islice
from typing import TYPE_CHECKING

from odradek.cli.events import Events
from odradek.cli.failures import Misused
from odradek.cli.flags import count, number, text, verb, words
from odradek.cli.reach import properties_in

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_ENDLESS = -1
_ERROR = "verifiable-producer: error: "


@dataclass(frozen=True, kw_only=True)
class VerifiableProducerFlags:
    bootstrap_server: str | None = text("Brokers to connect to first.", shown="HOST:PORT,...")
    broker_list: str | None = text("The old name of --bootstrap-server.", shown="HOST:PORT,...")
    topic: str | None = text("Where the records go.", shown="NAME")
    max_messages: int = count("How many; -1 for no end.", default=_ENDLESS)
    throughput: int = count("How many a second; -1 for as many as can be.", default=-1)
    acks: str = words("Who has to have a record: -1, 1, 0.", default="-1", shown="ACKS")
    producer_config: str | None = text("Properties of the producer.", "--producer.config", shown="FILE")
    message_create_time: int = count("The first record's time; later ones follow.", default=-1, shown="MS")
    value_prefix: int | None = number("Stands before each value, and a dot.")
    repeating_keys: int | None = number("Keys are the numbers below this, over and over.")


def run(flags: VerifiableProducerFlags) -> None:
    from odradek.cli import librdkafka
    from odradek.runtime.clock import SystemClock
    from odradek.runtime.signals import noticing_signals

    servers = flags.bootstrap_server or flags.broker_list
    for name, value in (("topic", flags.topic), ("bootstrap-server", servers)):
        if value is None:
            raise Misused(f"{_ERROR}argument --{name} is required")
    sending = _Sending(flags, Events(SystemClock()))
    producer = librdkafka.producer(_properties(flags, servers or ""), on_delivery=sending.delivered)
    with noticing_signals() as stopped:
        sending.send_all(producer, stopped)
    sending.end()


class _Sending:
    """What is sent, what was acknowledged, and what is said about it."""

    def __init__(self, flags: VerifiableProducerFlags, events: Events) -> None:
        self._flags = flags
        self._events = events
        self._began_ms = events.clock.wall_ms()
        self._sent = 0
        self._acknowledged = 0

    def send_all(self, producer: Producer, stopped: Callable[[], object]) -> None:
        from odradek.cli.librdkafka import send

        flags, topic = self._flags, self._flags.topic
        assert topic is not None
        self._events.tell("startup_complete")
        self._began_ms = self._events.clock.wall_ms()
        for at in islice(counting(), None if flags.max_messages == _ENDLESS else flags.max_messages):
            if stopped() is not None:
                break
            value = str(at) if flags.value_prefix is None else f"{flags.value_prefix}.{at}"
            key = None if flags.repeating_keys is None else str(at % flags.repeating_keys).encode()
            send(producer, topic, value.encode(), key, timestamp_ms=self._time_ms())
            self._sent += 1
            while stopped() is None and (ahead_s := self._ahead_s()) > 0:
                producer.poll(ahead_s)
        producer.flush()

    def delivered(self, error: KafkaError | None, record: Message) -> None:
        key, value = (None if each is None else each.decode() for each in (record.key(), record.value()))
        if error is not None:
            self._events.tell(
                "producer_send_error",
                topic=self._flags.topic,
                key=key,
                value=value,
                exception=error.name(),
                message=error.str(),
            )
            return
        self._acknowledged += 1
        self._events.tell(
            "producer_send_success",
            key=key,
            value=value,
            offset=record.offset(),
            topic=record.topic(),
            partition=record.partition(),
        )

    def end(self) -> None:
        elapsed_ms = self._events.clock.wall_ms() - self._began_ms
        self._events.tell("shutdown_complete")
        self._events.tell(
            "tool_data",
            sent=self._sent,
            acked=self._acknowledged,
            target_throughput=self._flags.throughput,
            avg_throughput=1000 * self._acknowledged / max(elapsed_ms, 1),
        )

    def _time_ms(self) -> int:
        """0: whenever it is sent."""
        first = self._flags.message_create_time
        return 0 if first < 0 else first + self._events.clock.wall_ms() - self._began_ms

    def _ahead_s(self) -> float:
        if self._flags.throughput <= 0:
            return 0.0
        due_ms = self._began_ms + 1000 * self._sent / self._flags.throughput
        return (due_ms - self._events.clock.wall_ms()) / 1000


def _properties(flags: VerifiableProducerFlags, servers: str) -> dict[str, str]:
    return {
        **(properties_in(flags.producer_config) if flags.producer_config else {}),
        "bootstrap.servers": servers,
        "acks": flags.acks,
        "retries": "0",
        "enable.idempotence": "false",
    }


verifiable_producer = verb(
    "verifiable-producer",
    VerifiableProducerFlags,
    run,
    help="Send numbers that grow, and say in JSON what became of each.",
    complaint=_ERROR,
)
