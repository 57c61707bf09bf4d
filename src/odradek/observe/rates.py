"""How much of a kind there was a second, over the last quarter of an hour: a moving average that forgets.

Fed with counts at every tick, so the hot path knows nothing of it. A tick weighs as much as the time it ends,
so that one that comes late, or after time was pushed on, does no harm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.observe.metrics import TopicCounts, TopicMetrics

WINDOW_S = 15 * 60.0

# What is rated, under the name that Kafka gives the rate; UIs ask for it by that name.
RATED = {"BytesInPerSec": "bytes_in", "BytesOutPerSec": "bytes_out", "MessagesInPerSec": "messages_in"}


class Rates:
    """Those of one topic, or of all."""

    __slots__ = ("_counts", "per_second")

    def __init__(self) -> None:
        self.per_second: dict[str, float] = {}
        self._counts = dict.fromkeys(RATED, 0)

    def tick(self, counts: TopicCounts, elapsed_s: float) -> None:
        new_part = 1 - math.exp(-elapsed_s / WINDOW_S)
        for name, counted in RATED.items():
            count = getattr(counts, counted)
            now = (count - self._counts[name]) / elapsed_s
            self._counts[name] = count
            before = self.per_second.get(name, now)  # the first tick has nothing to be averaged with
            self.per_second[name] = before + new_part * (now - before)


class TrafficRates:
    def __init__(self, traffic: TopicMetrics) -> None:
        self._traffic = traffic
        self.topics: dict[str, Rates] = {}
        self.total = Rates()

    def tick(self, elapsed_s: float) -> None:
        assert elapsed_s > 0
        self.total.tick(self._traffic.total(), elapsed_s)
        for topic in self.topics.keys() - self._traffic.topics.keys():
            del self.topics[topic]
        for topic, counts in self._traffic.topics.items():
            rates = self.topics.get(topic)
            if rates is None:
                rates = self.topics[topic] = Rates()
            rates.tick(counts, elapsed_s)
