"""What Kafka 3.9 wrote, recovered and opened here: we come to know what Kafka knew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from odradek.log.disk import OsDisk
from odradek.log.log import PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.producers import ProducerDescription, ProducerStates
from odradek.log.recovery import Known, recover
from odradek.log.settings import LogSettings

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-directory" / "data"
SETTINGS = LogSettings(segment_bytes=4000, index_interval_bytes=400)  # as those topics had them
TOPICS = ["plain-0", "codecs-0", "append-time-0", "transactions-0"]


@pytest.fixture(params=TOPICS)
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy, as Kafka left it after a clean stop."""
    return Path(shutil.copytree(GOLDEN / str(request.param), tmp_path / str(request.param)))


def opened(directory: Path, known: Known) -> PartitionLog:
    return PartitionLog.open(OpenFiles(OsDisk()), str(directory), SETTINGS, now_ms=0, known=known)


def described(snapshot: Path) -> set[ProducerDescription]:
    return set(ProducerStates.load(snapshot.read_bytes()).describe())


def files(directory: Path, pattern: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob(pattern)}


def test_it_opens_without_being_recovered(directory: Path) -> None:
    before = files(directory, "*")
    log = opened(directory, Known())
    assert files(directory, "*") == before
    newest = max(directory.glob("*.snapshot"))
    assert log.log_end == int(newest.stem)
    assert set(log.producers.describe()) == described(newest)


def test_from_the_batches_alone_come_kafkas_producers_and_aborted_transactions(directory: Path) -> None:
    kafka = {path.name: described(path) for path in directory.glob("*.snapshot")}
    aborted, epochs = files(directory, "*.txnindex"), files(directory, "leader-epoch-checkpoint")
    for path in directory.glob("*.snapshot"):
        path.unlink()
    found = recover(OsDisk(), str(directory), SETTINGS)
    assert (found.bytes_cut, found.lines) == (0, ())
    ours = {path.name: described(path) for path in directory.glob("*.snapshot")}
    assert ours
    assert all(kafka[name] == producers for name, producers in ours.items())
    assert files(directory, "*.txnindex") == aborted
    assert files(directory, "leader-epoch-checkpoint") == epochs


def test_index_entries_made_anew_are_as_dense_as_kafkas(directory: Path) -> None:
    """Not the same, because Kafka counts anew from each start of the broker."""
    kafka = {name: len(data) // 8 for name, data in files(directory, "*.index").items()}
    recover(OsDisk(), str(directory), SETTINGS)
    ours = {name: len(data) // 8 for name, data in files(directory, "*.index").items()}
    assert ours.keys() == kafka.keys()
    assert all(0 <= ours[name] - kafka[name] <= 2 for name in ours)
