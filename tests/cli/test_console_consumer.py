"""`odradek console-consumer` is kafka-console-consumer, fed by our producer on our broker."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import assert_as_recorded, recorded, run
from tests.golden.cli.recordings import Case

from odradek.testing.broker import Broker

pytestmark = pytest.mark.slow

VERB = "console-consumer"
RECORDING = recorded(VERB)


def test_it_prints_and_ends_as_kafka_does(
    case: Case, odradek: Broker, odradek_topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "FILE"
    file.write_text(case.input)
    for line in case.before:
        verb, *arguments = shlex.split(line.replace("TOPIC", odradek_topic))
        assert run(verb, *arguments, "--bootstrap-server", odradek.bootstrap, stdin=case.input).exit == 0
    ran = run(VERB, *case.command_line(odradek.bootstrap, file, odradek_topic))
    assert_as_recorded(ran, case)


def test_records_as_json_can_be_produced_again(odradek: Broker, odradek_topic: str) -> None:
    at = ("--bootstrap-server", odradek.bootstrap)
    first = (
        '{"key":"k","value":"v","headers":[["h","x"],["h",null]]}\n'
        '{"key":null,"value":null}\n'
        '{"value":{"base64":"/w=="}}\n'
        '{"value":{"an":"object"}}\n'
    )
    assert run("console-producer", *at, "--topic", odradek_topic, "--json", stdin=first).exit == 0
    consumed = _consumed(odradek, odradek_topic, 4)
    assert [each["key"] for each in consumed] == ["k", None, None, None]
    assert [each["value"] for each in consumed] == ["v", None, {"base64": "/w=="}, '{"an":"object"}']
    assert consumed[0]["headers"] == [["h", "x"], ["h", None]]
    again = "".join(f"{json.dumps(each)}\n" for each in consumed)
    assert run("console-producer", *at, "--topic", odradek_topic, "--json", stdin=again).exit == 0
    both = _consumed(odradek, odradek_topic, 8)
    parts = ("key", "value", "headers")
    assert [[each[part] for part in parts] for each in both[4:]] == [
        [each[part] for part in parts] for each in both[:4]
    ]


def test_a_group_goes_on_where_it_was(odradek: Broker, odradek_topic: str) -> None:
    at = ("--bootstrap-server", odradek.bootstrap, "--topic", odradek_topic)
    assert run("console-producer", *at, stdin="one\ntwo\nthree\n").exit == 0
    consuming = (VERB, *at, "--group", odradek_topic, "--from-beginning", "--max-messages")
    assert run(*consuming, "2").out == "one\ntwo\n"
    assert run(*consuming, "1").out == "three\n"


def _consumed(broker: Broker, topic: str, count: int) -> list[dict[str, object]]:
    at = ("--bootstrap-server", broker.bootstrap, "--topic", topic)
    ran = run(VERB, *at, "--from-beginning", "--max-messages", str(count), "--json")
    return [json.loads(line) for line in ran.out.splitlines()]
