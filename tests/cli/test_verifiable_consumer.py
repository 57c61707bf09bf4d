"""`odradek verifiable-consumer` tells in Kafka's events what it was given, took and committed."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import run

from odradek.testing.broker import Broker

VERB = "verifiable-consumer"


def events(broker: Broker, topic: str, *arguments: str) -> list[dict[str, object]]:
    at = ("--bootstrap-server", broker.bootstrap, "--topic", topic, "--group-id", topic)
    ran = run(VERB, *at, *arguments)
    assert ran.exit == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


@pytest.mark.slow
def test_a_member_tells_all(odradek: Broker, odradek_topic: str) -> None:
    at = ("--bootstrap-server", odradek.bootstrap, "--topic", odradek_topic)
    assert run("console-producer", *at, stdin="one\ntwo\nthree\n").exit == 0
    told = events(odradek, odradek_topic, "--max-messages", "2", "--verbose")
    for each in told:
        assert isinstance(each.pop("timestamp"), int)
    place = {"topic": odradek_topic, "partition": 0}
    record = {"name": "record_data", "key": None}
    assert told == [
        {"name": "startup_complete"},
        {"name": "partitions_assigned", "partitions": [place]},
        {**record, "value": "one", **place, "offset": 0},
        {**record, "value": "two", **place, "offset": 1},
        {
            "name": "records_consumed",
            "count": 3,
            "partitions": [{**place, "count": 2, "minOffset": 0, "maxOffset": 1}],
        },
        {"name": "offsets_committed", "offsets": [{**place, "offset": 2}], "success": True},
        {"name": "partitions_revoked", "partitions": [place]},
        {"name": "shutdown_complete"},
    ]
    again = events(odradek, odradek_topic, "--max-messages", "1")
    assert {**place, "count": 1, "minOffset": 2, "maxOffset": 2} in [
        each["partitions"][0]  # type: ignore[index]
        for each in again
        if each["name"] == "records_consumed"
    ]


def test_what_is_missing_is_named() -> None:
    ran = run(VERB, "--topic", "t")
    assert ran.exit == 1
    assert ran.err.startswith("verifiable-consumer: error: argument --group-id is required\n")
