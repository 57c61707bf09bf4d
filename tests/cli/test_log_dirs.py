"""`odradek log-dirs` is kafka-log-dirs, and says what it says."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import assert_as_recorded, recorded, replay
from tests.golden.cli.recordings import Case

VERB = "log-dirs"
RECORDING = recorded(VERB)


def test_it_prints_and_ends_as_kafka_does(case: Case, tmp_path: Path) -> None:
    assert_as_recorded(replay(VERB, case, RECORDING, tmp_path), case)
