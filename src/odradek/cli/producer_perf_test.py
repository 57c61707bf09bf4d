"""`odradek producer-perf-test`: kafka-producer-perf-test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import click

from odradek.cli.failures import Misused, Told, message, said_as
from odradek.cli.flags import number, switch, text, texts, verb
from odradek.cli.output import json_line
from odradek.cli.reach import properties_in

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

    from odradek.cli.formats.performance import Sums, Whole
    from odradek.runtime.clock import Clock

_WINDOW_S = 5.0
_LOOKED_AT_EVERY = 64  # records, where there is no throughput to keep
_ERROR = "producer-performance: error: "
_DEFAULT_ID = "performance-producer-default-transactional-id"
_DEFAULT_TRANSACTION_MS = 3000


@dataclass(frozen=True, kw_only=True)
class ProducerPerfFlags:
    topic: str | None = text("Where the records go.", shown="NAME")
    num_records: int | None = number("How many.")
    throughput: int | None = number("How many a second; -1 for as many as can be.")
    record_size: int | None = number("Bytes in a record, random letters.", shown="BYTES")
    payload_file: str | None = text("Records are chosen from this file.", shown="FILE")
    payload_delimiter: str | None = text("What separates them there; without it, a new line.")
    payload_monotonic: bool = switch("Records are numbers that grow.")
    producer_props: tuple[str, ...] = texts(
        "Properties of the producer, bootstrap.servers at least; any number may follow.",
        shown="KEY=VALUE...",
    )
    producer_config: str | None = text("A file of such properties.", "--producer.config", shown="FILE")
    transactional_id: str | None = text("Send in transactions of this id.", shown="ID")
    transaction_duration_ms: int | None = number("Commit every so often.", shown="MS")
    print_metrics: bool = switch("Print the client's own counters at the end.")
    json: bool = switch("Print results as JSON.")
    more_props: tuple[str, ...] = ()

    @property
    def transaction_ms(self) -> int:
        """0: no transactions."""
        if self.transaction_duration_ms is not None:
            return self.transaction_duration_ms
        return _DEFAULT_TRANSACTION_MS if self.transactional_id else 0


def run(flags: ProducerPerfFlags) -> None:
    from odradek.cli import librdkafka
    from odradek.cli.progress import progress
    from odradek.runtime.clock import SystemClock
    from odradek.runtime.signals import noticing_signals

    topic, count, throughput = _checked(flags)
    payloads = _payloads(flags)
    run = _Run(SystemClock(), count, in_json=flags.json)
    counters = librdkafka.Counters() if flags.print_metrics else None
    producer = librdkafka.producer(_properties(flags), on_delivery=run.delivered, stats_cb=counters)
    transactions = _Transactions(producer, flags.transaction_ms, run.clock)
    run.begin()
    with noticing_signals() as stopped, progress("sending", count) as show:
        for sent, payload in enumerate(islice(payloads, count)):
            try:
                producer.produce(topic, payload)
            except BufferError:
                librdkafka.send(producer, topic, payload)
            if throughput <= 0 and sent % _LOOKED_AT_EVERY:
                continue
            producer.poll(0)
            while ahead_s := run.ahead_s(sent, throughput):
                producer.poll(ahead_s)
            transactions.look()
            run.look()
            show(sent)
            if stopped() is not None:
                break
        transactions.end()
        producer.flush()
    run.end()
    if counters is not None:
        counters.wait(producer)
        click.echo("\n".join(counters.lines()))


class _Run:
    """What was acknowledged, window by window, and in all."""

    def __init__(self, clock: Clock, expected: int, *, in_json: bool) -> None:
        from odradek.cli.formats.performance import Whole, Window

        self.clock = clock
        self._whole = Whole(expected)
        self._window = Window()
        self._in_json = in_json
        self._began = self._window_began = 0.0

    def begin(self) -> None:
        self._began = self._window_began = self.clock.monotonic()

    def delivered(self, error: KafkaError | None, record: Message) -> None:
        if error is None:
            self._window.add(len(record), round((record.latency() or 0.0) * 1000))
        else:
            click.echo(f"ERROR {error.str()}", err=True)

    def ahead_s(self, sent: int, throughput: int) -> float:
        """How long to wait, not to be faster than asked for."""
        if throughput <= 0:
            return 0.0
        return max(0.0, self._began + sent / throughput - self.clock.monotonic())

    def look(self) -> None:
        """Is it time for a line?"""
        from odradek.cli.formats.performance import Window

        now = self.clock.monotonic()
        if now - self._window_began < _WINDOW_S:
            return
        self._print(self._window.sums, now - self._window_began)
        self._whole.include(self._window)
        self._window, self._window_began = Window(), now

    def end(self) -> None:
        self._whole.include(self._window)
        self._print(self._whole, self.clock.monotonic() - self._began)

    def _print(self, measured: Sums | Whole, elapsed_s: float) -> None:
        elapsed_ms = round(elapsed_s * 1000)
        click.echo(json_line(measured.as_json(elapsed_ms)) if self._in_json else measured.text(elapsed_ms))


class _Transactions:
    """One after the other, each committed when it is old enough."""

    def __init__(self, producer: Producer, age_max_ms: int, clock: Clock) -> None:
        self._producer = producer
        self._age_max_ms = age_max_ms
        self._clock = clock
        self._began = 0.0
        if age_max_ms > 0:
            producer.init_transactions()
            self._begin()

    def look(self) -> None:
        if self._age_max_ms > 0 and (self._clock.monotonic() - self._began) * 1000 >= self._age_max_ms:
            self.end()
            self._begin()

    def end(self) -> None:
        if self._age_max_ms > 0:
            self._producer.commit_transaction()

    def _begin(self) -> None:
        self._producer.begin_transaction()
        self._began = self._clock.monotonic()


# -- what was asked for ------------------------------------------------------------------------------------


def _checked(flags: ProducerPerfFlags) -> tuple[str, int, int]:
    """Topic, number of records, throughput."""
    for name in ("topic", "num_records", "throughput"):
        if getattr(flags, name) is None:
            raise Misused(f"{_ERROR}argument --{name.replace('_', '-')} is required")
    if sum((flags.record_size is not None, flags.payload_file is not None, flags.payload_monotonic)) != 1:
        raise Misused(
            f"{_ERROR}one of the arguments --record-size --payload-file --payload-monotonic is required"
        )
    if not (flags.producer_props or flags.producer_config):
        raise Misused(f"{_ERROR}Either --producer-props or --producer.config must be specified.")
    for each in (*flags.producer_props, *flags.more_props):
        if "=" not in each:
            raise Misused(f"{_ERROR}Invalid property: {each}")
    if flags.record_size is not None and flags.record_size < 0:
        raise Misused(f"{_ERROR}--record-size should be greater than zero.")
    assert flags.topic is not None
    assert flags.num_records is not None
    assert flags.throughput is not None
    return flags.topic, flags.num_records, flags.throughput


def _properties(flags: ProducerPerfFlags) -> dict[str, str]:
    from odradek.cli.librdkafka import pairs

    properties = {
        "client.id": "perf-producer-client",
        **(properties_in(flags.producer_config) if flags.producer_config else {}),
        **pairs((*flags.producer_props, *flags.more_props)),
    }
    if flags.transaction_ms:
        properties["transactional.id"] = flags.transactional_id or _DEFAULT_ID
    return properties


def _payloads(flags: ProducerPerfFlags) -> Iterator[bytes]:
    from odradek.cli import payloads
    from odradek.runtime.entropy import SystemEntropy

    if flags.payload_monotonic:
        return payloads.numbers()
    if flags.record_size is not None:
        return payloads.random_letters(flags.record_size, SystemEntropy())
    assert flags.payload_file is not None
    try:
        with open(flags.payload_file, encoding="utf-8") as file:
            found = file.read().split((flags.payload_delimiter or "\n").replace("\\n", "\n"))
    except (OSError, ValueError) as failure:
        raise Misused(f"{_ERROR}{failure}") from None
    return payloads.chosen([each.encode() for each in found if each], SystemEntropy())


def _told(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(err=f"{_ERROR}{said_as(failure)}: {message(failure)}")


producer_perf_test = verb(
    "producer-perf-test",
    ProducerPerfFlags,
    run,
    help="Measure how fast records can be sent.",
    failing=_told,
    complaint=_ERROR,
    arguments=[click.Argument(["more_props"], nargs=-1, metavar="")],
)
