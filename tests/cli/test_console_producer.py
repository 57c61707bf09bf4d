"""`odradek console-producer` is kafka-console-producer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import assert_as_recorded, recorded, run
from tests.golden.cli.recordings import Case

from odradek.testing.broker import Broker

pytestmark = pytest.mark.slow

VERB = "console-producer"
RECORDING = recorded(VERB)


def test_it_prints_and_ends_as_kafka_does(
    case: Case, odradek: Broker, odradek_topic: str, tmp_path: Path
) -> None:
    ran = run(VERB, *case.command_line(odradek.bootstrap, tmp_path, odradek_topic), stdin=case.input)
    assert_as_recorded(ran, case)


def test_who_cannot_deliver_says_so(odradek_topic: str) -> None:
    ran = run(
        *(VERB, "--bootstrap-server", "127.0.0.1:1", "--topic", odradek_topic, "--timeout", "0"),
        *("--producer-property", "delivery.timeout.ms=300"),
        stdin="lost\n",
    )
    assert "ERROR Error when sending message to topic" in ran.err
    assert ran.err.count("brokers are down") == 1, "what the client repeats is said once"


def test_a_property_that_librdkafka_does_not_know_is_refused(odradek: Broker, odradek_topic: str) -> None:
    at = ("--bootstrap-server", odradek.bootstrap, "--topic", odradek_topic)
    ran = run(VERB, *at, "--producer-property", "nonsense=1", stdin="x\n")
    assert ran.exit == 1
    assert 'No such configuration property: "nonsense"' in ran.err
