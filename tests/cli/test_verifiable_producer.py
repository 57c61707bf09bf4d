"""`odradek verifiable-producer` tells in Kafka's events what became of each record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import run

from odradek.testing.broker import Broker

VERB = "verifiable-producer"

# In this order in what Kafka 3.9.2's tool printed.
KEYS = {
    "startup_complete": ["timestamp", "name"],
    "producer_send_success": ["timestamp", "name", "key", "value", "offset", "topic", "partition"],
    "shutdown_complete": ["timestamp", "name"],
    "tool_data": ["timestamp", "name", "sent", "acked", "target_throughput", "avg_throughput"],
}


@pytest.mark.slow
def test_every_record_is_told_of(odradek: Broker, odradek_topic: str) -> None:
    ran = run(
        *(VERB, "--bootstrap-server", odradek.bootstrap, "--topic", odradek_topic, "--max-messages", "3"),
        *("--value-prefix", "7", "--repeating-keys", "2", "--throughput", "1000"),
    )
    events = [json.loads(line) for line in ran.out.splitlines()]
    assert [each["name"] for each in events] == [
        "startup_complete",
        *["producer_send_success"] * 3,
        "shutdown_complete",
        "tool_data",
    ]
    assert all(list(each) == KEYS[each["name"]] for each in events)
    assert [(each["key"], each["value"], each["offset"]) for each in events[1:4]] == [
        ("0", "7.0", 0),
        ("1", "7.1", 1),
        ("0", "7.2", 2),
    ]
    assert (events[-1]["sent"], events[-1]["acked"], events[-1]["target_throughput"]) == (3, 3, 1000)


@pytest.mark.slow
def test_records_may_have_been_made_long_ago(odradek: Broker, odradek_topic: str) -> None:
    at = ("--bootstrap-server", odradek.bootstrap, "--topic", odradek_topic)
    assert run(VERB, *at, "--max-messages", "1", "--message-create-time", "1000", "--acks", "1").exit == 0
    ran = run("console-consumer", *at, "--from-beginning", "--max-messages", "1", "--json")
    assert 1000 <= json.loads(ran.out)["timestamp"] < 60_000


@pytest.mark.slow
def test_a_record_that_is_lost_is_told_of_too(tmp_path: Path) -> None:
    impatient = tmp_path / "producer.properties"
    impatient.write_text("delivery.timeout.ms=200\n")
    at = ("--bootstrap-server", "127.0.0.1:1", "--topic", "t", "--producer.config", str(impatient))
    ran = run(VERB, *at, "--max-messages", "1")
    events = {each["name"]: each for each in map(json.loads, ran.out.splitlines())}
    assert events["producer_send_error"]["value"] == "0"
    assert (events["tool_data"]["sent"], events["tool_data"]["acked"]) == (1, 0)


def test_what_is_missing_is_named() -> None:
    ran = run(VERB, "--max-messages", "1")
    assert ran.exit == 1
    assert ran.err.startswith("verifiable-producer: error: argument --topic is required\n")
