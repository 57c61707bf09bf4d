"""A data directory that Kafka 3.9 wrote is opened as our own: tests/golden/kafka-directory has it."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compatibility.consumed import ByTopic, read, told

from odradek.log.checkpoint import HIGH_WATERMARKS, LEADER_EPOCHS, RECOVERY_POINTS, read_epochs, read_offsets
from odradek.log.directories import LogDirectories
from odradek.log.disk import OsDisk
from odradek.log.log import PartitionLog, ReadUpTo
from odradek.log.producers import ProducerStates
from odradek.log.recoveries import recover_logs
from odradek.log.settings import LogSettings
from odradek.model.ids import Partition

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-directory"
TOPICS = ("plain", "codecs", "append-time", "transactions", "compacted", "compacted-gzip")
NOW_MS = 1_800_000_000_000
SETTINGS = {
    topic: LogSettings(
        segment_bytes=4000,
        index_interval_bytes=400,
        retention_ms=-1,
        cleanup_policy=frozenset({"compact" if topic.startswith("compacted") else "delete"}),
    )
    for topic in (*TOPICS, "__consumer_offsets", "__transaction_state")
}


@pytest.fixture(scope="module")
def consumed() -> ByTopic:
    with gzip.open(GOLDEN / "consumed.jsonl.gz", "rt") as lines:
        return told(lines)


@pytest.fixture(scope="module", params=["after a clean stop", "after a crash"])
def directories(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LogDirectories]:
    """The directory as it was left, or as if the broker had crashed before it synced anything."""
    copy = tmp_path_factory.mktemp("kafka") / "data"
    shutil.copytree(GOLDEN / "data", copy)
    if request.param == "after a crash":
        for name in (".kafka_cleanshutdown", RECOVERY_POINTS):
            (copy / name).unlink()
        for each in [*copy.glob("*/*.index"), *copy.glob("*/*.snapshot")]:
            each.unlink()
    disk = OsDisk()
    opened = LogDirectories(
        disk, [str(copy)], random_bytes=bytes, on_failure=lambda *_: pytest.fail("offline")
    )
    opened.sign(opened.claim())
    outcomes = recover_logs(disk, opened.recoveries(settings_of))
    opened.open_logs(settings_of, outcomes, NOW_MS)
    yield opened
    opened.close(NOW_MS)


def settings_of(topic: str) -> LogSettings:
    return SETTINGS[topic]


def log_of(directories: LogDirectories, topic: str) -> PartitionLog:
    log = directories.log(Partition(topic, 0))
    assert log is not None
    return log


@pytest.mark.parametrize("topic", TOPICS)
def test_it_reads_as_kafkas_consumer_read_it(
    directories: LogDirectories, consumed: ByTopic, topic: str
) -> None:
    log = log_of(directories, topic)
    assert list(read(log, ReadUpTo.LOG_END)) == consumed[topic, "read_uncommitted"]
    assert list(read(log, ReadUpTo.LAST_STABLE)) == consumed[topic, "read_committed"]


@pytest.mark.parametrize("topic", SETTINGS)
def test_it_ends_where_it_ended(directories: LogDirectories, topic: str) -> None:
    log = log_of(directories, topic)
    ends = read_offsets(OsDisk(), str(GOLDEN / "data" / HIGH_WATERMARKS))
    assert log.log_end == log.high_watermark == ends[Partition(topic, 0)]
    assert list(log.epochs.entries) == read_epochs(
        OsDisk(), str(GOLDEN / "data" / f"{topic}-0" / LEADER_EPOCHS)
    )


@pytest.mark.parametrize("topic", SETTINGS)
def test_producers_are_known_as_they_were(directories: LogDirectories, topic: str) -> None:
    newest = max((GOLDEN / "data" / f"{topic}-0").glob("*.snapshot"))
    theirs = ProducerStates.load(newest.read_bytes())
    ours = log_of(directories, topic).producers
    # A log from which records were compacted away tells of producers only what is left of them.
    same = {each.producer_id: each for each in theirs.describe()}
    for each in ours.describe():
        known = same.pop(each.producer_id)
        assert each._replace(coordinator_epoch=0, last_timestamp=0) == known._replace(
            coordinator_epoch=0, last_timestamp=0
        )
    assert not same
    assert ours.first_open_offset == theirs.first_open_offset


@pytest.mark.parametrize("topic", ["plain", "codecs", "transactions", "compacted"])
def test_every_timestamp_leads_to_its_first_record(directories: LogDirectories, topic: str) -> None:
    log = log_of(directories, topic)
    records = list(read(log, ReadUpTo.LOG_END, with_markers=True))
    for timestamp in {each.timestamp for each in records}:
        first = next(each for each in records if each.timestamp >= timestamp)
        assert log.find_timestamp(timestamp) == (first.timestamp, first.offset, first.epoch)


def test_the_undecided_transaction_is_still_open(directories: LogDirectories) -> None:
    log = log_of(directories, "transactions")
    assert log.last_stable_offset == log.producers.first_open_offset
    assert log.last_stable_offset < log.log_end
