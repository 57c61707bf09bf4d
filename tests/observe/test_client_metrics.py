from __future__ import annotations

from collections.abc import Mapping

import pytest
from prometheus_client.parser import text_string_to_metric_families

from odradek.observe.client_metrics import CLIENTS_MAX, SERIES_A_CLIENT_MAX, ClientMetrics, Told
from odradek.observe.exposition import text

FACTS = {"client_id": "a client"}


def told(
    name: str, value: float, attributes: Mapping[str, str] | None = None, *, is_delta: bool = False
) -> Told:
    return Told(name, tuple((attributes or {}).items()), value, is_delta)


def seen(metrics: ClientMetrics, now: float = 0.0) -> list[tuple[str, dict[str, str], float]]:
    return [
        (sample.name, sample.labels, sample.value)
        for family in text_string_to_metric_families("".join(text(metrics.families(now))))
        for sample in family.samples
    ]


def test_what_a_client_told_last_is_told() -> None:
    metrics = ClientMetrics()
    metrics.take(
        "abc", FACTS, [told("latency.avg", 3.0, {"node_id": "0"}), told("bytes", 5, is_delta=True)], 10
    )
    metrics.take(
        "abc", FACTS, [told("latency.avg", 2.0, {"node_id": "0"}), told("bytes", 6, is_delta=True)], 10
    )
    ours = {"client_instance_id": "abc", "client_id": "a client"}
    assert seen(metrics) == [
        ("kafka_client_bytes", ours, 11),
        ("kafka_client_latency_avg", {"node_id": "0", **ours}, 2.0),
    ]


def test_a_silent_client_is_forgotten() -> None:
    metrics = ClientMetrics()
    metrics.take("abc", FACTS, [told("x", 1)], 10)
    assert seen(metrics, now=9)
    assert not seen(metrics, now=10)
    assert len(metrics) == 0


@pytest.mark.parametrize(
    "attributes",
    [{"client_id": "somebody else"}, {"client-id": "somebody else"}, {"client_instance_id": "other"}],
)
def test_a_client_cannot_pass_for_another(attributes: dict[str, str]) -> None:
    metrics = ClientMetrics()
    metrics.take("abc", FACTS, [told("x", 1, attributes)], 10)
    ((_, labels, _),) = seen(metrics)
    assert labels == {"client_instance_id": "abc", "client_id": "a client"}


def test_names_that_come_to_the_same_are_told_once() -> None:
    metrics = ClientMetrics()
    metrics.take("abc", FACTS, [told("a.b", 1), told("a-b", 2), told("a.b", 3, {"x.y": "1"})], 10)
    metrics.take("abc", FACTS, [told("a.b", 4, {"x-y": "1"})], 10)
    assert [value for _, _, value in seen(metrics)] == [2, 4]


@pytest.mark.parametrize("name", ["9lives", "", "__name__", "naïve", 'a"b', "a\nb", "a b"])
def test_any_name_a_client_thinks_of_can_be_read(name: str) -> None:
    metrics = ClientMetrics()
    metrics.take("abc", FACTS, [told(name, 1), told("x", 1, {name: name})], 10)
    assert len(seen(metrics)) == 2


def test_a_client_has_only_so_many_series() -> None:
    metrics = ClientMetrics()
    metrics.take("abc", FACTS, [told("x", 1, {"number": str(n)}) for n in range(SERIES_A_CLIENT_MAX + 5)], 10)
    assert len(seen(metrics)) == SERIES_A_CLIENT_MAX


def test_the_client_that_was_silent_longest_goes_first() -> None:
    metrics = ClientMetrics()
    for number in range(CLIENTS_MAX + 1):
        metrics.take(str(number), FACTS, [told("x", 1)], 10)
        metrics.take("0", FACTS, [told("x", 1)], 10)
    assert len(metrics) == CLIENTS_MAX
    assert {"0", "2"} <= {labels["client_instance_id"] for _, labels, _ in seen(metrics)}
    assert "1" not in {labels["client_instance_id"] for _, labels, _ in seen(metrics)}


def test_all_clients_together_have_only_so_many_series() -> None:
    metrics = ClientMetrics(series_max=100)
    for number in range(20):
        series = [told("x", 1, {"n": str(n)}) for n in range(10)]
        metrics.take(str(number), FACTS, series, 10)
        metrics.take(str(number), FACTS, series, 10)
    assert len(metrics) == 10
    assert len(seen(metrics)) == 100
