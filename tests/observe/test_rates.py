from __future__ import annotations

import math

import pytest

from odradek.observe.metrics import TopicMetrics
from odradek.observe.rates import WINDOW_S, TrafficRates


def test_a_steady_stream_has_its_rate_from_the_first_tick_on() -> None:
    traffic = TopicMetrics()
    rates = TrafficRates(traffic)
    for _ in range(20):
        traffic.produced("orders", 10, 5000)
        rates.tick(5)
        assert rates.topics["orders"].per_second == pytest.approx(
            {"BytesInPerSec": 1000, "BytesOutPerSec": 0, "MessagesInPerSec": 2}
        )
    assert rates.total.per_second == pytest.approx(rates.topics["orders"].per_second)


@pytest.mark.parametrize("tick_s", [1.0, 5.0, 450.0])
def test_a_quarter_of_an_hour_of_silence_leaves_a_third(tick_s: float) -> None:
    traffic = TopicMetrics()
    rates = TrafficRates(traffic)
    traffic.fetched("orders", 1000)
    rates.tick(1)
    for _ in range(int(WINDOW_S / tick_s)):
        rates.tick(tick_s)
    assert rates.total.per_second["BytesOutPerSec"] == pytest.approx(1000 / math.e)


def test_time_that_was_pushed_on_by_days_leaves_a_true_rate() -> None:
    traffic = TopicMetrics()
    rates = TrafficRates(traffic)
    traffic.produced("orders", 1, 1000)
    rates.tick(5)
    traffic.produced("orders", 1, 8 * 24 * 3600)
    rates.tick(8 * 24 * 3600)
    assert rates.total.per_second["BytesInPerSec"] == pytest.approx(1)


def test_a_topic_that_is_gone_has_no_rate_and_the_total_goes_on() -> None:
    traffic = TopicMetrics()
    rates = TrafficRates(traffic)
    traffic.produced("orders", 1, 1000)
    rates.tick(1)
    traffic.forget("orders")
    rates.tick(1)
    assert not rates.topics
    assert 990 < rates.total.per_second["BytesInPerSec"] < 1000
