"""`odradek consumer-groups` is kafka-consumer-groups, and says what it says.

But for the ends of lines: Kafka 3.9 has forgotten most of them in what it tells of resets and forgotten
offsets, and the last one of a description. Its other versions and we have them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import recorded, replay, run
from tests.cli.reading import Reading
from tests.golden.cli.recordings import Case

from odradek.testing.batches import T0
from odradek.testing.broker import Broker

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


# -- what Kafka's tool cannot do ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def reading(broker: Broker) -> Iterator[Reading]:
    with closing(Reading(broker)) as reading:
        yield reading


def told(reading: Reading, *flags: str) -> str:
    ran = run(VERB, "--bootstrap-server", reading.broker.bootstrap, "--group", reading.group, *flags)
    assert ran.exit == 0
    return ran.out


def test_lag_is_told_in_seconds(reading: Reading) -> None:
    """The age of the oldest record that is not consumed, found inside its batch."""
    reading.produce(T0, T0 + 10_000, T0 + 30_000)
    reading.commit(1)
    _, heading, line = told(reading, "--describe", "--seconds").splitlines()
    assert heading.split()[-1] == "LAG-SECONDS"
    first = float(line.split()[-1])
    reading.commit(2)
    assert first - float(told(reading, "--describe", "--seconds").split()[-1]) == pytest.approx(20, abs=5)
    reading.commit(3)
    assert told(reading, "--describe", "--seconds").split()[-1] == "0.0"


def test_programs_are_told_all_of_a_group_in_json(reading: Reading) -> None:
    reading.produce(T0, T0)
    reading.commit(2)
    member_id = reading.join()
    (line,) = told(reading, "--describe", "--json").splitlines()
    group = json.loads(line)
    assert (group["group"], group["state"], group["strategy"]) == (reading.group, "Stable", "range")
    owned = {"topic": reading.topic, "partition": 0}
    assert [(each["member"], each["partitions"]) for each in group["members"]] == [(member_id, [owned])]
    place = {"committed": 2, "end": 2, "lag": 0, "lag_seconds": 0.0, "member": member_id}
    assert group["offsets"] == [owned | place]


def test_a_plan_that_is_exported_is_one_that_can_be_read(reading: Reading, tmp_path: Path) -> None:
    reading.produce(T0, T0, T0)
    reading.commit(2)
    file = tmp_path / "plan.csv"
    file.write_text(told(reading, "--reset-offsets", "--to-current", "--all-topics", "--export", "--dry-run"))
    told(reading, "--reset-offsets", "--to-earliest", "--all-topics", "--execute")
    assert _committed(reading) == 0
    told(reading, "--reset-offsets", "--from-file", str(file), "--execute")
    assert _committed(reading) == 2


def test_a_file_that_is_no_plan_is_refused(reading: Reading, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(f"{reading.topic},0,1\nwhat,is,this\n")
    reading.commit(0)
    out = told(reading, "--reset-offsets", "--from-file", str(file), "--execute")
    assert f"{file}: line 2 is not [GROUP,]TOPIC,PARTITION,OFFSET" in out
    assert _committed(reading) == 0


def _committed(reading: Reading) -> int:
    (line,) = told(reading, "--describe", "--json").splitlines()
    (place,) = json.loads(line)["offsets"]
    committed: int = place["committed"]
    return committed
