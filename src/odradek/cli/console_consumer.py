"""`odradek console-consumer`: kafka-console-consumer.

Without --group no group is joined: partitions are assigned by hand, and nothing of it stays in the cluster.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import click

from odradek.cli.failures import Impossible, Misused, Told, message, said_as
from odradek.cli.flags import number, switch, text, texts, verb
from odradek.cli.output import json_line
from odradek.cli.reach import properties_in

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

    from odradek.cli.formats.records import Record

Printer: TypeAlias = "Callable[[Record], bytes]"

_CLASS = "org.apache.kafka.tools.consumer.ConsoleConsumer"
_FORMATTERS = ("DefaultMessageFormatter", "LoggingMessageFormatter", "NoOpMessageFormatter")
_SIGNALLED = 128  # a process that a signal ended exits with this and the signal's number


@dataclass(frozen=True, kw_only=True)
class ConsoleConsumerFlags:
    bootstrap_server: str | None = text("Brokers to connect to first.", shown="HOST:PORT,...")
    topic: str | None = text("The topic.", shown="NAME")
    include: str | None = text("Topics: a regular expression, or several.", shown="NAME,...")
    whitelist: str | None = text("The old name of --include.", shown="NAME,...")
    partition: int | None = number("Only this partition.")
    offset: str | None = text("With --partition: from here on; a number, earliest or latest.", shown="OFFSET")
    from_beginning: bool = switch("Begin with what is there already.")
    group: str | None = text("Consume in this group, and commit its offsets.", shown="ID")
    max_messages: int | None = number("End after so many records.")
    timeout_ms: int | None = number("End when no record came for so long.", shown="MS")
    isolation_level: str | None = text("read_uncommitted, read_committed.", shown="LEVEL")
    property: tuple[str, ...] = texts(
        "What is printed: print.timestamp, print.partition, print.offset, print.headers, print.key, "
        "print.value, key.separator, line.separator, headers.separator, null.literal, key.deserializer, "
        "value.deserializer, headers.deserializer.",
        shown="KEY=VALUE",
    )
    formatter_config: str | None = text("A file of such properties.", shown="FILE")
    formatter: str | None = text(f"The class that prints: {', '.join(_FORMATTERS)}.", shown="CLASS")
    key_deserializer: str | None = text("What the bytes of keys mean.", shown="CLASS")
    value_deserializer: str | None = text("What the bytes of values mean.", shown="CLASS")
    json: bool = switch("Print records as JSON, one a line.")
    consumer_property: tuple[str, ...] = texts("A property of the consumer.", shown="KEY=VALUE")
    consumer_config: str | None = text("A file of such properties.", "--consumer.config", shown="FILE")
    skip_message_on_error: bool = switch("Go on behind a record that cannot be printed.")
    enable_systest_events: bool = switch("Say when it is shut down.")


def run(flags: ConsoleConsumerFlags) -> None:
    from odradek.cli import librdkafka
    from odradek.cli.consuming import Idle
    from odradek.runtime.signals import noticing_signals

    properties = _checked(flags)
    printer = _printer(flags)
    consumer = librdkafka.consumer(properties)
    printed = Printed()
    try:
        with noticing_signals() as stopped:
            _consume(consumer, flags, printer, printed, stopped)
    except Idle:
        _log("terminating consumer process", "org.apache.kafka.common.errors.TimeoutException")
    except BrokenPipeError:
        click.echo("Unable to write to standard out, closing consumer.", err=True)
        sys.stdout = None  # or it would be flushed at the end, and fail again
    finally:
        consumer.close()
        click.echo(f"Processed a total of {printed.count} messages", err=True)
    if flags.enable_systest_events:
        click.echo("shutdown_complete")
    if (signalled := stopped()) is not None:
        sys.exit(_SIGNALLED + signalled)


class Printed:
    """How many records were."""

    count = 0


def _consume(
    consumer: Consumer,
    flags: ConsoleConsumerFlags,
    printer: Printer,
    printed: Printed,
    stopped: Callable[[], int | None],
) -> None:
    from odradek.cli.consuming import arriving
    from odradek.runtime.clock import SystemClock

    look = _begin(consumer, flags)
    most = sys.maxsize if flags.max_messages is None else flags.max_messages
    batches = arriving(consumer, clock=SystemClock(), stopped=stopped, idle_ms=flags.timeout_ms, look=look)
    out = sys.stdout.buffer
    while printed.count < most:
        batch = next(batches, None)
        if batch is None:
            return
        for each in batch[: most - printed.count]:
            printed.count += 1
            out.write(_shown(each, printer, flags))
            if flags.group:
                consumer.store_offsets(each)
        out.flush()


def _begin(consumer: Consumer, flags: ConsoleConsumerFlags) -> Callable[[float], None] | None:
    from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, TopicPartition

    from odradek.cli.consuming import ByHand
    from odradek.cli.topic_patterns import name_pattern

    names = flags.topic or flags.include or flags.whitelist or ""
    if flags.partition is not None:
        offset = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END}.get(flags.offset or "latest")
        if flags.from_beginning:
            offset = OFFSET_BEGINNING
        start = int(flags.offset or 0) if offset is None else offset
        consumer.assign([TopicPartition(names, flags.partition, start)])
        return None
    pattern = name_pattern(re.escape(names) if flags.topic else names)
    if flags.group:
        consumer.subscribe([names if flags.topic else f"^({pattern.pattern})$"])
        return None
    return ByHand(consumer, pattern, offset=OFFSET_BEGINNING if flags.from_beginning else OFFSET_END).look


def _shown(each: Message, printer: Printer, flags: ConsoleConsumerFlags) -> bytes:
    from odradek.cli.formats.deserializers import Undeserializable
    from odradek.cli.librdkafka import record_of

    try:
        return printer(record_of(each))
    except Undeserializable as bad:
        if not flags.skip_message_on_error:
            raise Impossible(str(bad), "org.apache.kafka.common.errors.SerializationException") from None
        _log("skipping this message", f"org.apache.kafka.common.errors.SerializationException: {bad}")
        return b""


def _log(doing: str, why: str) -> None:
    click.echo(f"ERROR Error processing message, {doing}:  ({_CLASS})\n{why}", err=True)


# -- what was asked for ------------------------------------------------------------------------------------


def _checked(flags: ConsoleConsumerFlags) -> Mapping[str, str]:
    """The consumer's properties, if all that was asked for goes together."""
    from odradek.cli.librdkafka import pairs

    if not flags.bootstrap_server:
        raise Misused('Missing required argument "[bootstrap-server]"')
    if bool(flags.topic) == bool(flags.include or flags.whitelist):
        raise Misused("Exactly one of --include/--topic is required. ")
    _check_offset(flags)
    given = {
        **(properties_in(flags.consumer_config) if flags.consumer_config else {}),
        **pairs(flags.consumer_property),
    }
    reset = given.get("auto.offset.reset")
    if flags.from_beginning and reset not in (None, "earliest"):
        raise Misused(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={reset}', "
            "please remove one option"
        )
    groups = {each: None for each in (flags.group, given.get("group.id")) if each}
    if len(groups) > 1:
        listed = ", ".join(f"'{each}'" for each in groups)
        raise Misused(
            "The group ids provided in different places (directly using '--group', "
            "via '--consumer-property', or via '--consumer.config') do not match. "
            f"Detected group ids: {listed}"
        )
    if groups and flags.partition is not None:
        raise Misused("Options group and partition cannot be specified together.")
    return {
        "client.id": "console-consumer",
        "enable.auto.commit": "true" if groups else "false",
        "enable.auto.offset.store": "false",
        "auto.offset.reset": "earliest" if flags.from_beginning else "latest",
        "isolation.level": flags.isolation_level or "read_uncommitted",
        **given,
        "group.id": next(iter(groups), "console-consumer"),
        "bootstrap.servers": flags.bootstrap_server,
    }


def _check_offset(flags: ConsoleConsumerFlags) -> None:
    if flags.offset is None:
        return
    if flags.partition is None:
        raise Misused("The partition is required when offset is specified.")
    if flags.from_beginning:
        raise Misused("Options from-beginning and offset cannot be specified together.")
    if flags.offset not in ("earliest", "latest") and not flags.offset.isdecimal():
        raise Misused(
            f"The provided offset value '{flags.offset}' is incorrect. "
            "Valid values are 'earliest', 'latest', or a non-negative long."
        )


def _printer(flags: ConsoleConsumerFlags) -> Printer:
    from odradek.cli.formats.deserializers import is_known
    from odradek.cli.formats.records import RecordFormat, as_json
    from odradek.cli.librdkafka import pairs

    name = (flags.formatter or _FORMATTERS[0]).rpartition(".")[2]
    if name not in _FORMATTERS:
        raise Misused(f"{flags.formatter}\nrecords are printed by {', '.join(_FORMATTERS)}")
    given = {
        **(properties_in(flags.formatter_config) if flags.formatter_config else {}),
        **pairs(flags.property),
    }
    for part, named in (("key", flags.key_deserializer), ("value", flags.value_deserializer)):
        if named:
            given[f"{part}.deserializer"] = named
        if not is_known(given.get(f"{part}.deserializer", "ByteArrayDeserializer")):
            unknown = given[f"{part}.deserializer"]
            click.echo(f"ERROR Unable to instantiate a deserializer from {unknown}", err=True)
    if flags.json:
        return lambda record: f"{json_line(as_json(record))}\n".encode()
    if name == "NoOpMessageFormatter":
        return lambda _: b""
    return RecordFormat.of(given).text


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(
        err=f"ERROR Unknown error when running consumer:  ({_CLASS})\n{said_as(failure)}: {message(failure)}"
    )


console_consumer = verb(
    "console-consumer", ConsoleConsumerFlags, run, help="Records in, lines out.", failing=_told
)
