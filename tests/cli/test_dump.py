from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from odradek.cli.dump import dump

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-directory"
PLAIN = GOLDEN / "data" / "plain-0" / f"{0:020d}.log"


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


# -- in our own words --------------------------------------------------------------------------------------


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(dump, [str(each) for each in arguments])


def rows(*arguments: str | Path) -> list[dict[str, Any]]:
    ran = run("--json", *arguments)
    assert ran.exit_code == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The first segment of a log of Kafka's, to be damaged."""
    target = tmp_path / "plain-0"
    target.mkdir()
    for path in (GOLDEN / "data" / "plain-0").glob(f"{0:020d}.*"):
        shutil.copy(path, target)
    return target / f"{0:020d}.log"


def damage(path: Path, at: int, change: bytes) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:at] + change + data[at + len(change) :])


def test_a_log_is_a_table_of_batches() -> None:
    ran = run(PLAIN)
    file, heading, first, *_ = ran.stdout.splitlines()
    assert file == str(PLAIN)
    assert heading.split()[:5] == ["offset", "last_offset", "records", "position", "size"]
    assert first.split()[:6] == ["0", "3", "4", "0", "195", "1700000051000"]
    assert ran.exit_code == 0


def test_programs_get_all_that_is_known_of_a_batch() -> None:
    path = GOLDEN / "data" / "transactions-0" / f"{0:020d}.log"
    batch = rows(path)[0]
    assert batch.pop("timestamp") > 1_700_000_000_000
    assert batch == {
        "file": str(path),
        "what": "batch",
        "offset": 0,
        "last_offset": 0,
        "records": 1,
        "position": 0,
        "size": 82,
        "leader_epoch": 0,
        "producer_id": 6,
        "producer_epoch": 0,
        "sequence": 0,
        "codec": "none",
        "delete_horizon": None,
        "flags": "transactional",
        "sound": True,
    }


def test_records_are_printed_on_request() -> None:
    first, second, third, *_ = rows("--records", PLAIN)
    assert (first["offset"], first["key"], first["value"], first["headers"]) == (0, None, None, None)
    assert (second["key"], second["value"]) == ("key 1", "round 0 value 1 ")
    assert third["headers"] == [["header 0", None], ["header 1", None]]
    found = rows("--records", GOLDEN / "data" / "transactions-0")
    assert {row["marker"] for row in found if row["what"] == "record"} == {None, "commit", "abort"}


def test_what_is_no_text_is_base64() -> None:
    found = rows("--records", GOLDEN / "data" / "__transaction_state-0")
    values = [row["value"] for row in found if row["what"] == "record"]
    assert all(base64.b64decode(value["base64"]) for value in values)


def test_a_directory_is_every_file_in_it() -> None:
    assert {row["what"] for row in rows(GOLDEN / "data")} == {
        "batch",
        "position",
        "time",
        "aborted transaction",
        "producer",
        "offset",
        "epoch",
        "partition",
        "directory",
        "clean shutdown",
    }


def test_small_files_say_what_they_hold() -> None:
    data = GOLDEN / "data"
    (meta,) = rows(data / "meta.properties")
    assert meta["broker_id"] == 0
    (metadata,) = rows(data / "plain-0" / "partition.metadata")
    assert len(metadata["topic_id"]) == 22
    assert [row["epoch"] for row in rows(data / "plain-0" / "leader-epoch-checkpoint")] == [0, 1, 2, 5]
    cleaned = rows(data / "cleaner-offset-checkpoint")
    assert {row["topic"] for row in cleaned} == {"compacted", "compacted-gzip"}


# -- damage ------------------------------------------------------------------------------------------------


def test_a_flipped_bit_is_found(log: Path) -> None:
    damage(log, 300, b"\xff")
    ran = run(log)
    assert ran.exit_code == 1
    assert re.fullmatch(rf"{log}: byte 195: checksum 0x\w+ at byte 0, its header says 0x\w+\n", ran.stderr)
    assert [line.split()[-1] for line in ran.stdout.splitlines()[2:4]] == ["true", "false"]
    assert run("--files", log).exit_code == 1


def test_a_torn_end_is_found(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:1000])
    ran = run(log)
    assert ran.exit_code == 1
    assert ran.stderr == f"{log}: byte 955: no batch; 45 bytes are left\n"
    like_kafka = run("--files", log)
    assert like_kafka.exit_code == 1
    assert like_kafka.stdout.endswith(f"Found 45 invalid bytes at the end of {log.name}\n")


def test_room_that_a_broker_reserved_is_no_damage(log: Path) -> None:
    for kind in (".log", ".index", ".timeindex"):
        path = log.with_suffix(kind)
        path.write_bytes(path.read_bytes() + bytes(1200))
    assert run(log.parent).exit_code == 0


def test_an_index_that_contradicts_its_log_is_found(log: Path) -> None:
    index, time_index = log.with_suffix(".index"), log.with_suffix(".timeindex")
    damage(index, 3, b"\x0c")
    damage(time_index, 7, b"\x01")
    ran = run(index, time_index)
    assert ran.exit_code == 1
    assert f"{index}: entry 0: offset 12 leads to the batch that ends at offset 11\n" in ran.stderr
    assert f"{time_index}: entry 0: timestamp " in ran.stderr
    like_kafka = run("--files", index, "--verify-index-only")
    assert like_kafka.exit_code == 1
    assert like_kafka.stderr == f"Mismatches in :{index}\n  Index offset: 12, log offset: 11\n"


def test_half_an_entry_is_found(log: Path) -> None:
    index = log.with_suffix(".index")
    size = index.stat().st_size
    index.write_bytes(index.read_bytes() + b"\0\0\1")
    ran = run(index)
    assert ran.exit_code == 1
    assert ran.stderr == f"{index}: byte {size}: 3 bytes of an entry\n"
    assert run("--files", index, "--index-sanity-check").exit_code == 1


def test_a_damaged_snapshot_is_found(tmp_path: Path) -> None:
    snapshot = tmp_path / f"{7:020d}.snapshot"
    shutil.copy(max((GOLDEN / "data" / "transactions-0").glob("*.snapshot")), snapshot)
    damage(snapshot, 30, b"\xff")
    assert run(snapshot).stderr == f"{snapshot}: a producer snapshot does not match its checksum\n"
    assert run("--files", snapshot).exit_code == 1


def test_a_damaged_checkpoint_is_found(tmp_path: Path) -> None:
    path = tmp_path / "recovery-point-offset-checkpoint"
    path.write_text("0\n1\norders zero 5\n")
    ran = run(path)
    assert ran.exit_code == 1
    assert ran.stderr == f"{path}: line 3: number expected, found 'zero'\n"


def test_the_rest_is_printed_though_one_is_damaged(log: Path) -> None:
    strange = log.parent / "strange"
    strange.touch()
    ran = run(strange, log)
    assert ran.exit_code == 1
    assert ran.stderr == f"{strange}: not a file of a data directory\n"
    assert str(log) in ran.stdout


@pytest.mark.parametrize("arguments", [[], ["--deep-iteration", str(GOLDEN)], ["nowhere"]])
def test_a_command_line_without_sense_is_refused(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2
