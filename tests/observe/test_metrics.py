from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.observe.metrics import QUANTILES, Histogram, RequestMetrics, TopicMetrics, quantiles


def histogram(*durations_ms: float) -> Histogram:
    made = Histogram()
    for ms in durations_ms:
        made.add(ms)
    return made


@given(st.lists(st.integers(0, 10_000_000), min_size=1, max_size=200))
def test_a_quantile_is_told_within_a_sixteenth(durations_us: list[int]) -> None:
    told = quantiles([histogram(*(us / 1000 for us in durations_us))])
    ordered = sorted(durations_us)
    for fraction, ms in zip(QUANTILES, told, strict=True):
        exact = ordered[max(0, -(-int(fraction * 1000) * len(ordered) // 1000) - 1)]
        assert exact - 1 <= ms * 1000 <= exact * 17 / 16 + 1


def test_nothing_measured_is_zero() -> None:
    assert quantiles([Histogram()]) == [0.0] * len(QUANTILES)


def test_quantiles_forget_after_two_windows_and_the_count_does_not() -> None:
    times = histogram(1000.0)
    times.turn()
    times.add(1.0)
    assert quantiles([times])[-1] > 999
    times.turn()
    assert quantiles([times])[-1] < 2
    assert times.count == 2


def test_histograms_are_told_together_with_those_that_took_no_time() -> None:
    slow, fast = histogram(*[100.0] * 5), histogram(*[1.0] * 5)
    assert quantiles([slow, fast])[0] < 2
    assert quantiles([slow])[0] > 99
    assert quantiles([slow], zeros=6)[0] == 0
    assert quantiles([slow], zeros=4)[0] > 99


def test_a_request_that_waited_is_told_apart_from_its_work() -> None:
    metrics = RequestMetrics()
    metrics.answered("Fetch", 17, 0.001)
    metrics.answered("Fetch", 17, 0.5, waited_s=0.498)
    counts = metrics.apis["Fetch"]
    assert counts.by_version == {17: 2}
    assert (counts.at_once.count, counts.waited.count) == (1, 1)
    assert quantiles([counts.waited_local])[0] == pytest.approx(2, rel=0.07)
    assert quantiles([counts.waited_remote])[0] == pytest.approx(498, rel=0.07)


def test_a_topic_is_counted_from_its_first_success_on() -> None:
    metrics = TopicMetrics()
    metrics.produce_failed("made-up", 10)
    metrics.fetch_failed("made-up")
    assert not metrics.topics
    metrics.produced("orders", 3, 300)
    metrics.produce_failed("orders", 20)
    metrics.fetched("orders", 100)
    assert list(metrics.topics) == ["orders"]
    total = metrics.total()
    assert (total.messages_in, total.bytes_in, total.bytes_out, total.bytes_rejected) == (3, 300, 100, 30)
    assert (total.produces, total.failed_produces, total.fetches, total.failed_fetches) == (3, 2, 2, 1)


def test_the_sum_of_all_never_falls() -> None:
    metrics = TopicMetrics()
    metrics.produced("orders", 3, 300)
    before = metrics.total().bytes_in
    metrics.forget("orders")
    metrics.forget("never seen")
    assert metrics.total().bytes_in == before
    assert not metrics.topics
