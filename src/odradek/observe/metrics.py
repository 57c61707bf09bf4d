"""What a broker counts: plain integers, because a counter stands on the hot path.

Nothing here knows how it is shown; `dashboards.py` gives these the names that dashboards know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)
_STEPS = 16  # buckets a doubling: a quantile is told within 1/16 of itself


class Histogram:
    """Durations in milliseconds, in buckets that grow with what they hold. The count is of all; quantiles are
    of the last two windows, so that what was slow last week is not slow today."""

    __slots__ = ("_earlier", "_lately", "count")

    def __init__(self) -> None:
        self.count = 0
        self._lately: dict[int, int] = {}
        self._earlier: dict[int, int] = {}

    def add(self, ms: float) -> None:
        self.count += 1
        us = int(ms * 1000)
        shift = max(us.bit_length() - 5, 0)  # the bucket: four bits below the leading one, and where that is
        bucket = shift * _STEPS + (us >> shift)
        lately = self._lately
        lately[bucket] = lately.get(bucket, 0) + 1

    def turn(self) -> None:
        """A window has ended."""
        self._earlier, self._lately = self._lately, {}

    def recent(self) -> Iterator[tuple[int, int]]:
        """Bucket and count, of the last two windows."""
        yield from self._lately.items()
        yield from self._earlier.items()


def quantiles(histograms: Iterable[Histogram], zeros: int = 0) -> list[float]:
    """For each of QUANTILES the milliseconds that this fraction of all did not exceed: of these histograms
    together, and of so many more that took no time."""
    merged = {0: zeros}
    for histogram in histograms:
        for bucket, count in histogram.recent():
            merged[bucket] = merged.get(bucket, 0) + count
    return list(_at(sorted(merged.items())))


def _at(buckets: list[tuple[int, int]]) -> Iterator[float]:
    total = sum(count for _, count in buckets)
    seen, at = 0, -1
    for fraction in QUANTILES:
        while seen < fraction * total:
            at += 1
            seen += buckets[at][1]
        yield _upper_ms(buckets[max(at, 0)][0])


def _upper_ms(bucket: int) -> float:
    """The largest duration that falls into it."""
    shift = max(bucket // _STEPS - 1, 0)
    return (((bucket - shift * _STEPS + 1) << shift) - 1) / 1000


class TopicCounts:
    """One topic's traffic, or all topics'."""

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "bytes_rejected",
        "failed_fetches",
        "failed_produces",
        "fetches",
        "messages_in",
        "produces",
    )

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        self.bytes_rejected = 0
        self.failed_fetches = 0
        self.failed_produces = 0
        self.fetches = 0
        self.messages_in = 0
        self.produces = 0

    def add(self, other: TopicCounts) -> None:
        for name in TopicCounts.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class TopicMetrics:
    """Traffic by topic. A topic is counted from its first success on, so that made-up names cost nothing."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicCounts] = {}
        self.all = TopicCounts()  # what belongs to no topic, or to one that is gone

    def produced(self, topic: str, messages: int, size: int) -> None:
        counts = self.topics.get(topic)
        if counts is None:
            counts = self.topics[topic] = TopicCounts()
        counts.produces += 1
        counts.messages_in += messages
        counts.bytes_in += size

    def produce_failed(self, topic: str, size: int) -> None:
        counts = self.topics.get(topic, self.all)
        counts.produces += 1
        counts.failed_produces += 1
        counts.bytes_rejected += size

    def fetched(self, topic: str, size: int) -> None:
        counts = self.topics.get(topic)
        if counts is None:
            counts = self.topics[topic] = TopicCounts()
        counts.fetches += 1
        counts.bytes_out += size

    def fetch_failed(self, topic: str) -> None:
        counts = self.topics.get(topic, self.all)
        counts.fetches += 1
        counts.failed_fetches += 1

    def forget(self, topic: str) -> None:
        """It was deleted. What it carried stays in the sum."""
        counts = self.topics.pop(topic, None)
        if counts is not None:
            self.all.add(counts)

    def total(self) -> TopicCounts:
        """Of all topics there are and were."""
        total = TopicCounts()
        for counts in (self.all, *self.topics.values()):
            total.add(counts)
        return total


class ApiCounts:
    """One API's requests, from frame to answer."""

    __slots__ = ("at_once", "by_version", "errors", "waited", "waited_local", "waited_remote")

    def __init__(self) -> None:
        self.by_version: dict[int, int] = {}
        self.errors: dict[str, int] = {}
        self.at_once = Histogram()  # those answered as they came
        self.waited = Histogram()  # the others: for an offset, a deadline, somebody else
        self.waited_local = Histogram()  # their part before they waited
        self.waited_remote = Histogram()  # and behind

    def turn(self) -> None:
        for histogram in (self.at_once, self.waited, self.waited_local, self.waited_remote):
            histogram.turn()


class RequestMetrics:
    """Requests by API. Most are answered as they come, so that is one count; what the dashboards want to see
    of them beside is put together when they ask."""

    def __init__(self) -> None:
        self.apis: dict[str, ApiCounts] = {}

    def answered(self, api: str, version: int, seconds: float, waited_s: float | None = None) -> None:
        """`seconds` in all, of which it may have waited some."""
        counts = self._counts(api)
        counts.by_version[version] = counts.by_version.get(version, 0) + 1
        if waited_s is None:
            counts.at_once.add(seconds * 1000)
        else:
            counts.waited.add(seconds * 1000)
            counts.waited_local.add((seconds - waited_s) * 1000)
            counts.waited_remote.add(waited_s * 1000)

    def refused(self, api: str, error: str) -> None:
        errors = self._counts(api).errors
        errors[error] = errors.get(error, 0) + 1

    def turn(self) -> None:
        """A window of the quantiles has ended."""
        for counts in self.apis.values():
            counts.turn()

    def _counts(self, api: str) -> ApiCounts:
        counts = self.apis.get(api)
        if counts is None:
            counts = self.apis[api] = ApiCounts()
        return counts
