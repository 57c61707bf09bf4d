from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from odradek.cli.dump import dump

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-directory"


class Dumped(NamedTuple):
    """What Kafka's DumpLogSegments printed."""

    flags: list[str]
    files: list[str]
    out: list[str]
    err: list[str]


def dumped_by_kafka() -> list[Dumped]:
    with gzip.open(GOLDEN / "dumped.jsonl.gz", "rt") as lines:
        return [Dumped(**json.loads(line)) for line in lines]


def by_heading(lines: list[str]) -> dict[str, list[str]]:
    """Kafka names files in no order, but what it says of each in one."""
    found: dict[str, list[str]] = {}
    for line in lines:
        if not line.startswith("  "):
            heading = line
        found.setdefault(heading, []).append(line)
    return found


@pytest.mark.parametrize(
    "said", dumped_by_kafka(), ids=lambda said: f"{said.files[0]} {' '.join(said.flags)}"
)
def test_it_prints_what_kafkas_own_tool_prints(said: Dumped, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "data")
    ran = CliRunner().invoke(dump, [*said.flags, "--files", ",".join(said.files)])
    assert ran.stdout.splitlines() == said.out
    assert by_heading(ran.stderr.replace(str(GOLDEN / "data"), "{data}").splitlines()) == by_heading(said.err)
    assert ran.exit_code == 0, "it is all sound"
