"""Lines that Kafka 3.9.2's tools printed are what our numbers are printed as."""

from __future__ import annotations

import re

import pytest

from odradek.cli.formats.performance import (
    CONSUMED_HEADING,
    INTERVAL_HEADING,
    Consumed,
    Whole,
    Window,
    consumed_line,
    counter_lines,
    interval_line,
    latencies_as_json,
    latency_lines,
    moment,
    percentiles,
)

FORMAT = "ss:SSS"  # the part of a time that is the same in every time zone


def window(*latencies_ms: int, size: int = 100) -> Window:
    found = Window()
    for each in latencies_ms:
        found.add(size, each)
    return found


def test_a_window_of_acknowledgements() -> None:
    assert window(372, *[9] * 4999, 637).sums.text(5000) == (
        "5001 records sent, 1000.2 records/sec (0.10 MB/sec), 9.2 ms avg latency, 637.0 ms max latency."
    )


def test_all_acknowledgements() -> None:
    whole = Whole(expected=100_000)
    for begin in (0, 1, 50_000):
        end = {0: 1, 1: 50_000, 50_000: 100_000}[begin]
        whole.include(window(*(number // 250 for number in range(begin, end))))
    assert whole.text(1180) == (
        "100000 records sent, 84745.762712 records/sec (8.08 MB/sec), 199.50 ms avg latency, "
        "399.00 ms max latency, 200 ms 50th, 380 ms 95th, 396 ms 99th, 399 ms 99.9th."
    )


@pytest.mark.parametrize("sizes", [(1000,), (1, 999), (7, 13, 980), (10,) * 100])
def test_of_very_many_latencies_every_so_many_eth_is_kept(sizes: tuple[int, ...]) -> None:
    whole = Whole(expected=5_000_000)
    begin = 0
    for size in sizes:
        whole.include(window(*range(begin, begin + size)))
        begin += size
    assert whole.sums.records == 1000
    assert whole._latencies_ms == list(range(0, 1000, 10))


def test_nothing_was_acknowledged() -> None:
    nothing = "0 records sent, 0.0 records/sec (0.00 MB/sec), 0.0 ms avg latency, 0.0 ms max latency."
    assert Window().sums.text(0) == nothing
    assert "0 ms 99.9th" in Whole(expected=0).text(0)


def test_what_was_consumed() -> None:
    whole = Consumed(1_795_069_812_156, 1_795_069_814_234, size=10_021_900, records=100_219, joining_ms=1410)
    assert consumed_line(whole, FORMAT) == (
        "12:156, 14:234, 9.5576, 4.5994, 100219, 48228.5852, 1410, 668, 14.3078, 150028.4431"
    )


def test_an_interval_has_its_own_rates_and_the_sums_of_all() -> None:
    began = 1_795_069_815_525
    so_far = Consumed(began - 612, began + 133, size=7_727_600, records=77_276)
    interval = Consumed(began, began + 133, size=4_983_100, records=49_831)
    assert interval_line(interval, so_far, FORMAT) == (
        "15:658, 0, 7.3696, 35.7312, 77276, 374669.1729, 0, 133, 35.7312, 374669.1729"
    )


def test_nothing_was_consumed() -> None:
    whole = Consumed(1000, 1000, size=0, records=0)
    assert consumed_line(whole, FORMAT) == "01:000, 01:000, 0.0000, 0.0000, 0, 0.0000, 0, 0, 0.0000, 0.0000"


def test_columns_have_the_names_of_kafka_s() -> None:
    columns = (
        "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, "
        "fetch.MB.sec, fetch.nMsg.sec"
    )
    assert f"start.time, end.time, {columns}" == CONSUMED_HEADING
    assert f"time, threadId, {columns}" == INTERVAL_HEADING


def test_latencies_from_end_to_end() -> None:
    latencies = [0.75] * 1979 + [9.9] * 19 + [33.2] * 2
    assert list(latency_lines(latencies)) == [
        "Avg latency: 0.8694 ms",
        "Percentiles: 50th = 0, 99th = 9, 99.9th = 33",
    ]
    assert latencies_as_json(latencies)["latency_99.9th_ms"] == 33.2
    assert list(latency_lines([])) == [
        "Avg latency: 0.0000 ms",
        "Percentiles: 50th = 0, 99th = 0, 99.9th = 0",
    ]


@pytest.mark.parametrize("count", [1, 2, 10, 999, 1000, 1001])
def test_a_percentile_is_one_of_the_values(count: int) -> None:
    found = percentiles(list(range(count)), (0.0, 0.5, 0.999, 1.0))
    assert found == sorted(found)
    assert set(found) <= set(range(count))
    assert found[-1] == count - 1


def test_times_are_written_as_asked() -> None:
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:05:007", moment(1_700_000_045_007, "yyyy-MM-dd HH:mm:ss:SSS")
    )
    assert moment(7, "SSS/ss") == "007/00"


def test_counters_are_a_table() -> None:
    told = {"client_id": "c", "type": "producer", "msg_cnt": 2, "name": "x", "is": True, "brokers": {}}
    blank, heading, *rows = counter_lines(told)
    assert blank == ""
    assert heading.split() == ["Metric", "Name", "Value"]
    assert rows == ["producer-metrics:msg_cnt:{client-id=c} : 2.000"]
