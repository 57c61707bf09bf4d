"""How fast it went, as kafka-producer-perf-test, kafka-consumer-perf-test and their kin print it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from odradek.cli.output import Row

MIB = 1024 * 1024
_PERCENTILES = ((0.5, "50th"), (0.95, "95th"), (0.99, "99th"), (0.999, "99.9th"))
SAMPLES_MAX = 500_000
_COLUMNS = (
    "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, "
    "fetch.MB.sec, fetch.nMsg.sec"
)
CONSUMED_HEADING = f"start.time, end.time, {_COLUMNS}"
INTERVAL_HEADING = f"time, threadId, {_COLUMNS}"


class Window:
    """What was acknowledged within some time. Told of every single record, so it only takes down."""

    def __init__(self) -> None:
        self.size = 0
        self.latencies_ms: list[int] = []

    def add(self, size: int, latency_ms: int) -> None:
        self.size += size
        self.latencies_ms.append(latency_ms)

    @property
    def sums(self) -> Sums:
        latencies = self.latencies_ms
        return Sums(len(latencies), self.size, sum(latencies), max(latencies, default=0))


class Sums(NamedTuple):
    records: int = 0
    size: int = 0
    latency_sum_ms: int = 0
    latency_max_ms: int = 0

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        return Sums(
            self.records + other.records,
            self.size + other.size,
            self.latency_sum_ms + other.latency_sum_ms,
            max(self.latency_max_ms, other.latency_max_ms),
        )

    @property
    def latency_mean_ms(self) -> float:
        return self.latency_sum_ms / self.records if self.records else 0.0

    def text(self, elapsed_ms: int) -> str:
        """While it runs."""
        seconds = max(elapsed_ms, 1) / 1000
        return (
            f"{self.records} records sent, {self.records / seconds:.1f} records/sec "
            f"({self.size / seconds / MIB:.2f} MB/sec), {self.latency_mean_ms:.1f} ms avg latency, "
            f"{float(self.latency_max_ms):.1f} ms max latency."
        )

    def as_json(self, elapsed_ms: int) -> Row:
        seconds = max(elapsed_ms, 1) / 1000
        return {
            "records": self.records,
            "elapsed_ms": elapsed_ms,
            "records_per_s": self.records / seconds,
            "bytes_per_s": self.size / seconds,
            "latency_mean_ms": self.latency_mean_ms,
            "latency_max_ms": self.latency_max_ms,
        }


class Whole:
    """All of a run: the sums of its windows; and of very many latencies every so many-eth."""

    def __init__(self, expected: int) -> None:
        self.sums = Sums()
        self._every = max(1, -(-expected // SAMPLES_MAX))
        self._latencies_ms: list[int] = []

    def include(self, window: Window) -> None:
        self._latencies_ms += window.latencies_ms[-self.sums.records % self._every :: self._every]
        self.sums += window.sums

    def text(self, elapsed_ms: int) -> str:
        seconds = max(elapsed_ms, 1) / 1000
        sums = self.sums
        shown = ", ".join(f"{ms} ms {name}" for name, ms in self._percentiles())
        return (
            f"{sums.records} records sent, {sums.records / seconds:f} records/sec "
            f"({sums.size / seconds / MIB:.2f} MB/sec), {sums.latency_mean_ms:.2f} ms avg latency, "
            f"{float(sums.latency_max_ms):.2f} ms max latency, {shown}."
        )

    def as_json(self, elapsed_ms: int) -> Row:
        named = {f"latency_{name}_ms": ms for name, ms in self._percentiles()}
        return {**self.sums.as_json(elapsed_ms), **named}

    def _percentiles(self) -> Iterator[tuple[str, int]]:
        found = percentiles(self._latencies_ms, [at for at, _ in _PERCENTILES])
        return ((name, ms) for ms, (_, name) in zip(found, _PERCENTILES, strict=True))


def percentiles(values: Sequence[int], wanted: Sequence[float]) -> list[int]:
    ordered = sorted(values)
    return [ordered[min(int(each * len(ordered)), len(ordered) - 1)] if ordered else 0 for each in wanted]


class Consumed(NamedTuple):
    """What was consumed between two moments, and what of that time went into joining the group."""

    start_ms: int
    end_ms: int
    size: int
    records: int
    joining_ms: int = 0

    def as_json(self) -> Row:
        seconds = max(self.end_ms - self.start_ms, 1) / 1000
        return {
            "records": self.records,
            "bytes": self.size,
            "elapsed_ms": self.end_ms - self.start_ms,
            "joining_ms": self.joining_ms,
            "records_per_s": self.records / seconds,
            "bytes_per_s": self.size / seconds,
        }


def consumed_line(whole: Consumed, date_format: str) -> str:
    start, end = moment(whole.start_ms, date_format), moment(whole.end_ms, date_format)
    return f"{start}, {end}, {_consumed(whole, whole)}"


def interval_line(interval: Consumed, so_far: Consumed, date_format: str) -> str:
    """Sums are of the whole run, rates of the interval."""
    return f"{moment(interval.end_ms, date_format)}, 0, {_consumed(so_far, interval)}"


def counter_lines(counters: Mapping[str, object]) -> Iterator[str]:
    """librdkafka's own counters, in the table that Kafka's tools print metrics in."""
    client = counters.get("client_id", "")
    numbers = {
        f"{counters.get('type', 'client')}-metrics:{name}:{{client-id={client}}}": value
        for name, value in sorted(counters.items())
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    width = max((len(name) for name in numbers), default=0)
    yield ""
    yield f"{'Metric Name':<{width}} Value"
    yield from (f"{name:<{width}} : {float(value):.3f}" for name, value in numbers.items())


def _consumed(summed: Consumed, rated: Consumed) -> str:
    elapsed_s = (rated.end_ms - rated.start_ms) / 1000
    fetching_ms = rated.end_ms - rated.start_ms - rated.joining_ms
    size, count = rated.size / MIB, rated.records
    return (
        f"{summed.size / MIB:.4f}, {_rate(size, elapsed_s):.4f}, "
        f"{summed.records}, {_rate(count, elapsed_s):.4f}, {rated.joining_ms}, {fetching_ms}, "
        f"{_rate(size, fetching_ms / 1000):.4f}, {_rate(count, fetching_ms / 1000):.4f}"
    )


def _rate(amount: float, seconds: float) -> float:
    return amount / seconds if seconds > 0 else 0.0


def moment(ms: int, date_format: str) -> str:
    """In local time, as Java's letters say: yyyy-MM-dd HH:mm:ss:SSS."""
    when = datetime.fromtimestamp(ms // 1000, UTC).astimezone()
    parts = {
        "yyyy": f"{when:%Y}",
        "MM": f"{when:%m}",
        "dd": f"{when:%d}",
        "HH": f"{when:%H}",
        "mm": f"{when:%M}",
        "ss": f"{when:%S}",
        "SSS": f"{ms % 1000:03d}",
    }
    return re.sub("yyyy|MM|dd|HH|mm|SSS|ss", lambda found: parts[found[0]], date_format)


def latency_lines(latencies_ms: Sequence[float]) -> Iterator[str]:
    """kafka-e2e-latency's last two."""
    mean = sum(latencies_ms) / len(latencies_ms) if latencies_ms else 0.0
    half, most, nearly_all = percentiles([int(each) for each in latencies_ms], (0.5, 0.99, 0.999))
    yield f"Avg latency: {mean:.4f} ms"
    yield f"Percentiles: 50th = {half}, 99th = {most}, 99.9th = {nearly_all}"


def latencies_as_json(latencies_ms: Sequence[float]) -> Row:
    ordered = sorted(latencies_ms)
    mean = sum(ordered) / len(ordered) if ordered else 0.0
    named = {
        f"latency_{name}_ms": ordered[min(int(at * len(ordered)), len(ordered) - 1)]
        for at, name in _PERCENTILES
    }
    return {"records": len(ordered), "latency_mean_ms": mean, **named}
