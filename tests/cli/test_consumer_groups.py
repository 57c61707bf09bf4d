"""`odradek consumer-groups` is kafka-consumer-groups, and says what it says.

But for the ends of lines: Kafka 3.9 has forgotten most of them in what it tells of resets and forgotten
offsets, and the last one of a description. Its other versions and we have them all.
"""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import recorded, replay
from tests.golden.cli.recordings import Case

VERB = "consumer-groups"
RECORDING = recorded(VERB)
HEADINGS_THAT_DO_NOT_END = ("NEW-OFFSET     ", "STATUS         ")


def test_it_prints_and_ends_as_kafka_does(case: Case, tmp_path: Path) -> None:
    ran = replay(VERB, case, RECORDING, tmp_path)
    if any(heading in case.out for heading in HEADINGS_THAT_DO_NOT_END):
        assert ran.out.replace("\n", "") == case.out.replace("\n", "")
    else:
        assert ran.out.rstrip("\n") == case.out.rstrip("\n")
    assert ran.exit == case.exit
    if "com.fasterxml" not in (case.err or ""):  # it tries to read another kind of file first, and tells
        assert ran.err.partition("\n")[0] == (case.err or "")
