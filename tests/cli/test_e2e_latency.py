"""`odradek e2e-latency` sends and receives one record at a time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import run

from odradek.testing.broker import Broker

VERB = "e2e-latency"


@pytest.mark.slow
def test_it_says_how_long_records_took(odradek: Broker, odradek_topic: str) -> None:
    ran = run(VERB, odradek.bootstrap, odradek_topic, "20", "1", "100")
    assert ran.exit == 0, ran.err
    first, mean, percentiles = ran.out.splitlines()
    assert re.fullmatch(r"0\t\d+\.\d{6}", first)
    assert re.fullmatch(r"Avg latency: \d+\.\d{4} ms", mean)
    assert re.fullmatch(r"Percentiles: 50th = \d+, 99th = \d+, 99\.9th = \d+", percentiles)


@pytest.mark.slow
def test_results_in_json_and_properties_from_a_file(
    odradek: Broker, odradek_topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "properties"
    file.write_text("client.id=me\n")
    ran = run(VERB, odradek.bootstrap, odradek_topic, "5", "all", "10", str(file), "--json")
    told = json.loads(ran.out)
    assert told["records"] == 5
    assert 0 < told["latency_50th_ms"] <= told["latency_99.9th_ms"]


@pytest.mark.parametrize(
    "arguments", [["h:1"], ["h:1", "t", "x", "1", "1"], ["h:1", "t", "1", "1", "1", "f", "g"]]
)
def test_what_makes_no_sense_is_answered_with_the_usage(arguments: list[str]) -> None:
    ran = run(VERB, *arguments)
    assert ran.exit == 1
    assert ran.err.startswith("USAGE: ")


def test_a_record_that_nobody_acknowledges_cannot_be_timed() -> None:
    ran = run(VERB, "h:1", "t", "1", "0", "1")
    assert ran.exit == 1
    assert "Latency testing requires synchronous acknowledgement. Please use 1 or all" in ran.err
