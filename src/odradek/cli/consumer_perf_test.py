"""`odradek consumer-perf-test`: kafka-consumer-perf-test.

Without --group no group is joined, so no time goes into that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Misused
from odradek.cli.flags import count, idle, number, switch, text, verb, words
from odradek.cli.formats.performance import (
    CONSUMED_HEADING,
    INTERVAL_HEADING,
    Consumed,
    consumed_line,
    interval_line,
)
from odradek.cli.output import json_line
from odradek.cli.reach import properties_in

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

    from odradek.runtime.clock import Clock


@dataclass(frozen=True, kw_only=True)
class ConsumerPerfFlags:
    bootstrap_server: str | None = text("Brokers to connect to first.", shown="HOST:PORT,...")
    broker_list: str | None = text("The old name of --bootstrap-server.", shown="HOST:PORT,...")
    topic: str | None = text("The topic.", shown="NAME")
    messages: int | None = number("How many records to consume.")
    group: str | None = text("Consume in this group.", shown="ID")
    from_latest: bool = switch("Begin with what comes, not with what is there.")
    timeout: int = count("Give up when no record came for so long.", default=10_000, shown="MS")
    fetch_size: int = count("Bytes fetched from a partition at once.", default=1 << 20)
    socket_buffer_size: int = count("Bytes of the socket's buffer.", default=2 << 20)
    show_detailed_stats: bool = switch("Print a line every so often, and none at the end.")
    reporting_interval: int = count("How often.", default=5_000, shown="MS")
    hide_header: bool = switch("Do not say what the columns are.")
    date_format: str = words("How times are printed.", default="yyyy-MM-dd HH:mm:ss:SSS", shown="FORMAT")
    consumer_config: str | None = text("Properties of the consumer.", "--consumer.config", shown="FILE")
    json: bool = switch("Print results as JSON.")
    print_metrics: bool = switch("Print the client's own counters at the end.")
    threads: str | None = idle()
    num_fetch_threads: str | None = idle()


def run(flags: ConsumerPerfFlags) -> None:
    from odradek.cli import librdkafka
    from odradek.cli.progress import progress
    from odradek.runtime.signals import noticing_signals

    servers = flags.bootstrap_server or flags.broker_list
    for name, value in (("bootstrap-server", servers), ("topic", flags.topic), ("messages", flags.messages)):
        if value is None:
            raise Misused(f'Missing required argument "[{name}]"')
    counters = librdkafka.Counters() if flags.print_metrics else None
    consumer = librdkafka.consumer(_properties(flags, servers or ""), stats_cb=counters)
    if not (flags.hide_header or flags.json):
        click.echo(INTERVAL_HEADING if flags.show_detailed_stats else CONSUMED_HEADING)
    try:
        with noticing_signals() as stopped, progress("consuming", flags.messages or 0) as show:
            whole = _consume(consumer, flags, stopped, show)
        if counters is not None:
            counters.wait(consumer)
    finally:
        consumer.close()
    if flags.json:
        click.echo(json_line(whole.as_json()))
    elif not flags.show_detailed_stats:
        click.echo(consumed_line(whole, flags.date_format))
    if counters is not None:
        click.echo("\n".join(counters.lines()))


def _consume(
    consumer: Consumer,
    flags: ConsumerPerfFlags,
    stopped: Callable[[], int | None],
    show: Callable[[int], None],
) -> Consumed:
    from odradek.cli.consuming import Idle, arriving
    from odradek.runtime.clock import SystemClock

    clock = SystemClock()
    tally = _Tally(clock, flags)
    look = _begin(consumer, flags, tally)
    try:
        for batch in arriving(consumer, clock=clock, stopped=stopped, idle_ms=flags.timeout, look=look):
            tally.add(batch)
            show(tally.count)
            if tally.count >= (flags.messages or 0):
                break
    except Idle:
        click.echo(
            "WARNING: Exiting before consuming the expected number of messages: timeout "
            f"({flags.timeout} ms) exceeded. You can use the --timeout option to increase the timeout."
        )
    return tally.whole()


class _Tally:
    """What was consumed, in all and since the last line."""

    def __init__(self, clock: Clock, flags: ConsumerPerfFlags) -> None:
        self.count = 0
        self._clock = clock
        self._flags = flags
        self._size = 0
        self._joined_ms = self._began_ms = clock.wall_ms()
        self._reported = Consumed(self._began_ms, self._began_ms, 0, 0)

    def joined(self) -> None:
        self._joined_ms = self._clock.wall_ms()

    def add(self, batch: Sequence[Message]) -> None:
        self.count += len(batch)
        self._size += sum(len(each) + len(each.key() or b"") for each in batch)
        if self._flags.show_detailed_stats:
            self._report()

    def whole(self) -> Consumed:
        return self._since(self._began_ms)

    def _since(self, start_ms: int, size: int = 0, count: int = 0) -> Consumed:
        joining_ms = max(0, self._joined_ms - start_ms)
        return Consumed(start_ms, self._clock.wall_ms(), self._size - size, self.count - count, joining_ms)

    def _report(self) -> None:
        before = self._reported
        interval = self._since(before.end_ms, before.size, before.records)
        if interval.end_ms - interval.start_ms >= self._flags.reporting_interval:
            self._reported = self.whole()
            shown = interval_line(interval, self._reported, self._flags.date_format)
            click.echo(json_line(interval.as_json()) if self._flags.json else shown)


def _begin(consumer: Consumer, flags: ConsumerPerfFlags, tally: _Tally) -> Callable[[float], None] | None:
    from confluent_kafka import OFFSET_BEGINNING, OFFSET_END

    from odradek.cli.consuming import ByHand

    assert flags.topic is not None
    if flags.group:
        consumer.subscribe([flags.topic], on_assign=lambda *_: tally.joined())
        return None
    by_hand = ByHand(
        consumer,
        re.compile(re.escape(flags.topic)),
        offset=OFFSET_END if flags.from_latest else OFFSET_BEGINNING,
    )
    by_hand.look(0.0)
    tally.joined()
    return by_hand.look


def _properties(flags: ConsumerPerfFlags, servers: str) -> dict[str, str]:
    return {
        "client.id": "perf-consumer-client",
        **(properties_in(flags.consumer_config) if flags.consumer_config else {}),
        "bootstrap.servers": servers,
        "group.id": flags.group or "perf-consumer",
        "receive.buffer.bytes": str(flags.socket_buffer_size),
        "max.partition.fetch.bytes": str(flags.fetch_size),
        "auto.offset.reset": "latest" if flags.from_latest else "earliest",
        "enable.auto.commit": "true" if flags.group else "false",
        "check.crcs": "false",
    }


consumer_perf_test = verb(
    "consumer-perf-test", ConsumerPerfFlags, run, help="Measure how fast records can be consumed."
)
