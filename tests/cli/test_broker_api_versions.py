"""`odradek broker-api-versions` is kafka-broker-api-versions, and says what it says."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import recorded, replay
from tests.golden.cli.recordings import Case

VERB = "broker-api-versions"
RECORDING = recorded(VERB)


def test_it_prints_and_ends_as_kafka_does(case: Case, tmp_path: Path) -> None:
    ran = replay(VERB, case, RECORDING, tmp_path)
    assert _by_broker(ran.out) == _by_broker(case.out)
    assert ran.exit == case.exit
    assert ran.err.partition("\n")[0] == (case.err or "")


def _by_broker(output: str) -> list[str]:
    """Kafka's client shuffles the brokers; ours are sorted."""
    return sorted(output.split("\n)\n"))
