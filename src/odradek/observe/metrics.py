"""What a broker counts: plain integers, because a counter stands on the hot path.

Nothing here knows how it is shown; `exposition.py` gives these the names dashboards know.
"""

from __future__ import annotations

QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)
_STEPS = 16  # buckets a doubling: a quantile is told within 1/16 of itself


class Histogram:
    """Durations in milliseconds, in buckets that grow with what they hold."""

    __slots__ = ("_buckets", "count", "total_ms")

    def __init__(self) -> None:
        self.count = 0
        self.total_ms = 0.0
        self._buckets: dict[int, int] = {}

    def add(self, ms: float) -> None:
        self.count += 1
        self.total_ms += ms
        us = int(ms * 1000)
        shift = max(us.bit_length() - 5, 0)  # the bucket: four bits below the leading one, and where that is
        bucket = shift * _STEPS + (us >> shift)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    def quantile(self, fraction: float) -> float:
        """The milliseconds that this fraction of all did not exceed."""
        left = fraction * self.count
        for bucket in sorted(self._buckets):
            left -= self._buckets[bucket]
            if left <= 0:
                return _upper_us(bucket) / 1000
        return 0.0


def _upper_us(bucket: int) -> int:
    shift = max(bucket // _STEPS - 1, 0)
    return (bucket - shift * _STEPS + 1) << shift


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


class TopicMetrics:
    """Traffic by topic. A topic is counted from its first success on, so that made-up names cost nothing."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicCounts] = {}
        self.all = TopicCounts()

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
            for name in TopicCounts.__slots__:
                setattr(self.all, name, getattr(self.all, name) + getattr(counts, name))


class ApiCounts:
    """One API's requests, from frame to answer."""

    __slots__ = ("by_version", "errors", "total")

    def __init__(self) -> None:
        self.by_version: dict[int, int] = {}
        self.errors: dict[str, int] = {}
        self.total = Histogram()


class RequestMetrics:
    """Requests by API."""

    def __init__(self) -> None:
        self.apis: dict[str, ApiCounts] = {}

    def answered(self, api: str, version: int, seconds: float) -> None:
        counts = self._counts(api)
        counts.by_version[version] = counts.by_version.get(version, 0) + 1
        counts.total.add(seconds * 1000)

    def refused(self, api: str, error: str) -> None:
        errors = self._counts(api).errors
        errors[error] = errors.get(error, 0) + 1

    def _counts(self, api: str) -> ApiCounts:
        counts = self.apis.get(api)
        if counts is None:
            counts = self.apis[api] = ApiCounts()
        return counts
