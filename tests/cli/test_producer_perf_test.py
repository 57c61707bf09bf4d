"""`odradek producer-perf-test` sends what it is asked to send, and says how fast."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Ran, run

from odradek.testing.broker import Broker

pytestmark = pytest.mark.slow

VERB = "producer-perf-test"
FINAL = re.compile(
    r"(\d+) records sent, \d+\.\d{6} records/sec \(\d+\.\d\d MB/sec\), \d+\.\d\d ms avg latency, "
    r"\d+\.\d\d ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\.\n"
)


def sent(broker: Broker, topic: str, *arguments: str) -> Ran:
    servers = f"bootstrap.servers={broker.bootstrap}"
    return run(
        VERB, "--topic", topic, "--throughput", "-1", *arguments, "--producer-props", servers, "acks=1"
    )


def values(broker: Broker, topic: str, count: int) -> list[str]:
    at = ("--bootstrap-server", broker.bootstrap, "--topic", topic)
    return run(
        "console-consumer", *at, "--from-beginning", "--max-messages", str(count), "--timeout-ms", "2000"
    ).out.splitlines()


def test_random_letters(odradek: Broker, odradek_topic: str) -> None:
    ran = sent(odradek, odradek_topic, "--num-records", "500", "--record-size", "100")
    assert ran.exit == 0, ran.err
    final = FINAL.fullmatch(ran.out)
    assert final is not None, ran.out
    assert final[1] == "500"
    found = values(odradek, odradek_topic, 500)
    assert len(found) == 500
    assert all(re.fullmatch("[A-Z]{100}", each) for each in found)
    assert len(set(found)) > 400


def test_numbers_that_grow(odradek: Broker, odradek_topic: str) -> None:
    assert sent(odradek, odradek_topic, "--num-records", "30", "--payload-monotonic").exit == 0
    assert values(odradek, odradek_topic, 30) == [str(number) for number in range(30)]


def test_records_of_a_file(odradek: Broker, odradek_topic: str, tmp_path: Path) -> None:
    file = tmp_path / "payloads"
    file.write_text("one;two;three")
    ran = sent(
        odradek, odradek_topic, "--num-records", "50", "--payload-file", str(file), "--payload-delimiter", ";"
    )
    assert ran.exit == 0, ran.err
    assert set(values(odradek, odradek_topic, 50)) <= {"one", "two", "three"}


def test_it_is_no_faster_than_asked(odradek: Broker, odradek_topic: str) -> None:
    servers = f"bootstrap.servers={odradek.bootstrap}"
    ran = run(
        *(VERB, "--topic", odradek_topic, "--num-records", "100", "--payload-monotonic", "--json"),
        *("--throughput", "400", "--producer-props", servers),
    )
    told = json.loads(ran.out)
    assert told["records"] == 100
    assert told["records_per_s"] <= 420


def test_counters_of_the_client_follow(odradek: Broker, odradek_topic: str) -> None:
    ran = sent(odradek, odradek_topic, "--num-records", "10", "--payload-monotonic", "--print-metrics")
    assert "producer-metrics:txmsgs:{client-id=perf-producer-client}" in ran.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--num-records", "1"], "argument --topic is required"),
        (
            ["--topic", "t", "--num-records", "1", "--throughput", "1"],
            "one of the arguments --record-size --payload-file --payload-monotonic is required",
        ),
        (
            ["--topic", "t", "--num-records", "1", "--throughput", "1", "--record-size", "1"],
            "Either --producer-props or --producer.config must be specified.",
        ),
        (["--bogus"], "bogus is not a recognized option"),
    ],
)
def test_what_is_missing_is_named(arguments: list[str], complaint: str) -> None:
    ran = run(VERB, *arguments)
    assert ran.exit == 1
    assert ran.err.partition("\n")[0] == f"producer-performance: error: {complaint}"
