"""`odradek topics` is kafka-topics, and says what it says."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import assert_as_recorded, recorded, replay, run
from tests.golden.cli.recordings import Case

VERB = "topics"
RECORDING = recorded(VERB)


def test_it_prints_and_ends_as_kafka_topics_does(case: Case, tmp_path: Path) -> None:
    assert_as_recorded(replay(VERB, case, RECORDING, tmp_path), case)


def test_programs_are_told_in_json(tmp_path: Path) -> None:
    case = RECORDING.case("describes one topic")
    ran = replay(VERB, case, RECORDING, tmp_path, "--json")
    (line,) = ran.out.splitlines()
    told = json.loads(line)
    assert told["topic"] == "orders"
    assert told["configs"] == {"cleanup.policy": "compact,delete", "retention.ms": "1000"}
    assert [each["replicas"] for each in told["partitions"]] == [[0, 1], [1, 2], [2, 0]]


def test_names_are_told_in_json(tmp_path: Path) -> None:
    ran = replay(VERB, RECORDING.case("lists topics by pattern"), RECORDING, tmp_path, "--json")
    assert [json.loads(line)["topic"] for line in ran.out.splitlines()] == ["orders", "wide"]


def test_without_arguments_it_says_what_it_can() -> None:
    ran = run(VERB)
    assert ran.exit == 1
    assert "--replica-assignment" in ran.err
