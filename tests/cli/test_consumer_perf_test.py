"""`odradek consumer-perf-test` consumes what it is asked to consume, and says how fast."""

from __future__ import annotations

import json
import re

import pytest
from tests.cli.conftest import Ran, run

from odradek.testing.broker import Broker

pytestmark = pytest.mark.slow

VERB = "consumer-perf-test"
NUMBERS = r"\d+\.\d{4}, \d+\.\d{4}, (\d+), \d+\.\d{4}, \d+, -?\d+, \d+\.\d{4}, \d+\.\d{4}"
MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}"


@pytest.fixture
def filled(odradek: Broker, odradek_topic: str) -> str:
    """A topic of a thousand records."""
    lines = "".join(f"{number}\n" for number in range(1000))
    at = ("--bootstrap-server", odradek.bootstrap, "--topic", odradek_topic)
    assert run("console-producer", *at, stdin=lines).exit == 0
    return odradek_topic


def consumed(broker: Broker, topic: str, *arguments: str) -> Ran:
    return run(VERB, "--bootstrap-server", broker.bootstrap, "--topic", topic, *arguments)


@pytest.mark.parametrize("group", [[], ["--group", "measured"]])
def test_a_line_says_how_fast_it_was(odradek: Broker, filled: str, group: list[str]) -> None:
    ran = consumed(odradek, filled, "--messages", "1000", *group)
    heading, line = ran.out.splitlines()
    assert heading.startswith("start.time, end.time, data.consumed.in.MB, MB.sec,")
    found = re.fullmatch(f"{MOMENT}, {MOMENT}, {NUMBERS}", line)
    assert found is not None, line
    assert found[1] == "1000"


def test_a_line_every_so_often(odradek: Broker, filled: str) -> None:
    ran = consumed(
        *(odradek, filled, "--messages", "1000", "--show-detailed-stats", "--reporting-interval", "0")
    )
    heading, *lines = ran.out.splitlines()
    assert heading.startswith("time, threadId,")
    counts = [found[1] for line in lines if (found := re.fullmatch(f"{MOMENT}, 0, {NUMBERS}", line))]
    assert len(counts) == len(lines)
    assert counts[-1] == "1000"


def test_when_no_more_comes_it_ends_and_says_so(odradek: Broker, filled: str) -> None:
    ran = consumed(odradek, filled, "--messages", "2000", "--timeout", "300", "--hide-header")
    warning, line = ran.out.splitlines()
    assert warning == (
        "WARNING: Exiting before consuming the expected number of messages: timeout (300 ms) exceeded. "
        "You can use the --timeout option to increase the timeout."
    )
    assert ", 1000, " in line


def test_results_in_json(odradek: Broker, filled: str) -> None:
    told = json.loads(consumed(odradek, filled, "--messages", "1000", "--json").out)
    assert told["records"] == 1000
    assert told["bytes"] == sum(len(str(number)) for number in range(1000))


def test_what_is_missing_is_named() -> None:
    assert run(VERB, "--topic", "t").err.startswith('Missing required argument "[bootstrap-server]"\n')
    ran = run(VERB, "--bootstrap-server", "h:1", "--topic", "t")
    assert ran.err.startswith('Missing required argument "[messages]"\n')
    assert ran.exit == 1
