"""`odradek console-producer`: kafka-console-producer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Impossible, Misused, Told, message, said_as
from odradek.cli.flags import count, idle, number, switch, text, texts, verb, words
from odradek.cli.reach import properties_in

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

    from odradek.cli.formats.lines import Line

_LINE_READER = "LineMessageReader"


@dataclass(frozen=True, kw_only=True)
class ConsoleProducerFlags:
    bootstrap_server: str | None = text("Brokers to connect to first.", shown="HOST:PORT,...")
    broker_list: str | None = text("The old name of --bootstrap-server.", shown="HOST:PORT,...")
    topic: str | None = text("Where the records go.", shown="NAME")
    property: tuple[str, ...] = texts(
        "How lines are read: parse.key, key.separator, parse.headers, headers.delimiter, headers.separator, "
        "headers.key.separator, null.marker, ignore.error.",
        shown="KEY=VALUE",
    )
    reader_config: str | None = text("A file of such properties.", shown="FILE")
    line_reader: str | None = text("The class that reads lines; only the usual one.", shown="CLASS")
    json: bool = switch("Each line is a record in JSON, as console-consumer --json prints them.")
    sync: bool = switch("Wait for each record.")
    producer_property: tuple[str, ...] = texts("A property of the producer.", shown="KEY=VALUE")
    producer_config: str | None = text("A file of such properties.", "--producer.config", shown="FILE")
    request_required_acks: str = words("Who has to have a record: -1, 1, 0.", default="-1", shown="ACKS")
    compression_codec: str | None = text(
        "none, gzip (also without a value), snappy, lz4, zstd.", shown="[CODEC]", alone="gzip"
    )
    batch_size: int = count("Bytes in a batch.", default=16384)
    max_partition_memory_bytes: int | None = number("The same as --batch-size.")
    timeout: int = count("How long a batch waits to be filled, in ms.", default=1000, shown="MS")
    message_send_max_retries: int = count("How often a record is sent again.", default=3)
    retry_backoff_ms: int = count("How long after.", default=100, shown="MS")
    request_timeout_ms: int = count("How long an answer may take.", default=1500, shown="MS")
    max_memory_bytes: int = count("Bytes that may wait to be sent.", default=33554432)
    socket_buffer_size: int = count("Bytes of the socket's buffer.", default=102400)
    metadata_expiry_ms: int = count("How old metadata may become.", default=300000, shown="MS")
    max_block_ms: str | None = idle(shown="MS")


def run(flags: ConsoleProducerFlags) -> None:
    from odradek.cli import librdkafka

    if not (flags.bootstrap_server or flags.broker_list):
        raise Misused("Missing required option(s) [bootstrap-server]")
    if not flags.topic:
        raise Misused('Missing required argument "[topic]"')
    if flags.line_reader is not None and not flags.line_reader.endswith(_LINE_READER):
        raise Misused(f"{flags.line_reader}\nlines are read by {_LINE_READER} only")
    lines = _lines(flags)
    producer = librdkafka.producer(_properties(flags), on_delivery=_delivered)
    try:
        for line in lines:
            librdkafka.send(producer, flags.topic, line.value, line.key, line.headers)
            if flags.sync:
                producer.flush()
    finally:
        producer.flush()


def _properties(flags: ConsoleProducerFlags) -> Mapping[str, str]:
    from odradek.cli.librdkafka import pairs

    return {
        "client.id": "console-producer",
        **(properties_in(flags.producer_config) if flags.producer_config else {}),
        "bootstrap.servers": flags.bootstrap_server or flags.broker_list or "",
        "acks": flags.request_required_acks,
        "compression.type": flags.compression_codec or "none",
        "batch.size": str(flags.max_partition_memory_bytes or flags.batch_size),
        "linger.ms": str(flags.timeout),
        "retries": str(flags.message_send_max_retries),
        "retry.backoff.ms": str(flags.retry_backoff_ms),
        "request.timeout.ms": str(flags.request_timeout_ms),
        "buffer.memory": str(flags.max_memory_bytes),
        "send.buffer.bytes": str(flags.socket_buffer_size),
        "metadata.max.age.ms": str(flags.metadata_expiry_ms),
        **pairs(flags.producer_property),
    }


def _lines(flags: ConsoleProducerFlags) -> Iterator[Line]:
    from odradek.cli.formats.lines import BadLine, LineFormat, line_of_json
    from odradek.cli.librdkafka import pairs

    given = {
        **(properties_in(flags.reader_config) if flags.reader_config else {}),
        **pairs(flags.property),
    }
    format = LineFormat.of(given)
    try:
        for number, text in enumerate(_standard_input(), 1):
            yield line_of_json(text, number) if flags.json else format.parse(text, number)
    except BadLine as bad:
        raise Impossible(str(bad), "org.apache.kafka.common.KafkaException") from None


def _standard_input() -> Iterator[str]:
    """Its lines; a person is shown where to write."""
    stream = sys.stdin.buffer
    prompts = stream.isatty()
    while True:
        if prompts:
            click.echo(">", nl=False)
        line = stream.readline()
        if not line:
            return
        yield line.decode(errors="replace").removesuffix("\n").removesuffix("\r")


def _delivered(error: KafkaError | None, record: Message) -> None:
    if error is None:
        return
    key, value = ("null" if each is None else f"{len(each)} bytes" for each in (record.key(), record.value()))
    click.echo(
        f"ERROR Error when sending message to topic {record.topic()} with key: {key}, value: {value} "
        f"with error: (org.apache.kafka.clients.producer.internals.ErrorLoggingCallback)\n{error.str()}",
        err=True,
    )


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(err=f"{said_as(failure)}: {message(failure)}")


console_producer = verb(
    "console-producer", ConsoleProducerFlags, run, help="Lines in, records out.", failing=_told
)
