"""`odradek transactions` is kafka-transactions, and says what it says."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import recorded, replay
from tests.golden.cli.recordings import Case

VERB = "transactions"
RECORDING = recorded(VERB)


def test_it_prints_and_ends_as_kafka_does(case: Case, tmp_path: Path) -> None:
    ran = replay(VERB, case, RECORDING, tmp_path)
    assert without_durations(ran.out) == without_durations(case.out)
    assert ran.exit == case.exit
    if (case.err or "").startswith("usage:"):  # it shows how it is used, and then what is wrong
        assert ran.err
    else:
        assert ran.err.partition("\n")[0] == (case.err or "")


def without_durations(table: str) -> list[list[str]]:
    """Kafka's tool and ours were not asked at the same time."""
    heading, *rows = ([cell.strip() for cell in line.split("\t")] for line in table.splitlines() or [""])
    passing = [at for at, name in enumerate(heading) if "Duration" in name]
    return [heading, *([cell for at, cell in enumerate(row) if at not in passing] for row in rows)]
