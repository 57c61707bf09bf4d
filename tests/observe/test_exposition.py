from __future__ import annotations

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from odradek.observe.exposition import Family, counter, gauge, labels, text


def parsed(*families: Family) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """As Prometheus' own parser reads it."""
    told = "".join(text(families))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(told)
        for sample in family.samples
    }


def test_a_gauge_reads_as_it_looks() -> None:
    family = gauge("log_size", "Bytes.", [(labels(topic="orders", partition=3), 42)])
    assert "".join(text([family])) == (
        "# HELP log_size Bytes.\n"
        "# TYPE log_size gauge\n"
        'log_size{topic="orders",partition="3"} 42\n'
    )  # fmt: skip


@pytest.mark.parametrize("value", ["plain", 'a "quote"', "back\\slash", "two\nlines", "\\n", "naïve"])
def test_any_label_reads_back(value: str) -> None:
    assert parsed(gauge("x", "X.", [(labels(who=value), 1)])) == {("x", (("who", value),)): 1.0}


@pytest.mark.parametrize("value", [0, 1 << 62, 0.1, -2.5e-9, 1e300, math.inf, -math.inf])
def test_any_number_reads_back(value: float) -> None:
    assert parsed(counter("x_total", "X.", value)) == {("x_total", ()): float(value)}


def test_no_number_reads_back() -> None:
    assert math.isnan(parsed(gauge("x", "X.", math.nan))["x", ()])


def test_a_family_without_samples_is_left_out() -> None:
    assert list(text([gauge("x", "X.", [])])) == []


def test_many_samples_come_in_pieces_with_one_head() -> None:
    family = gauge("x", "X.", [(labels(number=number), number) for number in range(2500)])
    pieces = list(text([family]))
    assert len(pieces) == 3
    assert "".join(pieces).count("# TYPE") == 1
    assert len(parsed(family)) == 2500
