"""What we write, Kafka 3.9 reads: its tools find nothing wrong, and a broker serves it to the last record."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from tests.compatibility.consumed import ByTopic, read, told
from tests.compatibility.kafka import SMALL_JVM, compact_json, start_kafka, topic_znodes

from odradek.cli.dump import dump as dump_verb
from odradek.log.checkpoint import MetaProperties
from odradek.log.cleaner import clean
from odradek.log.cleaning import KeyMapSettings, finish, order
from odradek.log.compaction import cleanable
from odradek.log.directories import LogDirectories
from odradek.log.disk import OsDisk
from odradek.log.log import PartitionLog, ReadUpTo
from odradek.log.settings import LogSettings
from odradek.model.ids import Partition, TopicId, id_text
from odradek.wire.batch import read_header
from odradek.wire.compression import Codec
from odradek.wire.records import NO_PRODUCER, BatchBuilder, Producer

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

FILL = Path(__file__).parents[1] / "golden" / "kafka-directory" / "Fill.java"
CLUSTER_ID = "TWluZSBpcyBtaW5lIQ"
TOPIC_IDS = {
    topic: TopicId(bytes([number + 1]) * 16)
    for number, topic in enumerate(("plain", "codecs", "append-time", "transactions", "compacted"))
}


class Written(NamedTuple):
    """A data directory of ours, closed cleanly."""

    path: Path
    consumed: ByTopic  # what we read of it
    epochs: dict[str, int]  # the latest of each topic

    def files(self, pattern: str) -> list[Path]:
        return sorted(self.path.glob(f"*/{pattern}"))


class Writer:
    """Fills logs as a leader does."""

    def __init__(self, directories: LogDirectories) -> None:
        self.random = Random(0)
        self.now_ms = int(time.time() * 1000) - 3_600_000  # past, but nothing that retention would take
        self.epoch = 0
        self._directories = directories
        self._sequences: dict[tuple[str, int], int] = {}

    def create(self, topic: str, **settings: object) -> PartitionLog:
        chosen = LogSettings(segment_bytes=3000, index_interval_bytes=300, **settings)  # type: ignore[arg-type]
        return self._directories.create(Partition(topic, 0), chosen, self.now_ms, topic_id=TOPIC_IDS[topic])

    def append(
        self,
        log: PartitionLog,
        count: int,
        who: int = -1,
        *,
        codec: Codec = Codec.NONE,
        transactional: bool = False,
    ) -> None:
        producer = NO_PRODUCER if who < 0 else Producer(who, 0, self._sequences.get((log.name, who), 0))
        builder = BatchBuilder(producer=producer, codec=codec, transactional=transactional)
        for number in range(count):
            key = f"key {self.random.randrange(20)}".encode()
            value = (
                None if self.random.random() < 0.2 else f"value {number}".encode() * self.random.randrange(9)
            )
            headers = [("header", b"1"), ("none", None)][: self.random.randrange(3)]
            builder.append(self.now_ms + self.random.randrange(-500, 500), key, value, headers)
        self._sequences[log.name, who] = self._sequences.get((log.name, who), 0) + count
        log.append(builder.build(), self.epoch, self.now_ms)
        self.now_ms += 1000

    def decide(self, log: PartitionLog, who: int, *, aborted: bool) -> None:
        log.append_marker(
            who, 0, aborted=aborted, coordinator_epoch=3, leader_epoch=self.epoch, now_ms=self.now_ms
        )

    def transactions(self, log: PartitionLog, steps: int) -> None:
        open_ones: set[int] = set()
        for _ in range(steps):
            who = self.random.randrange(10, 14)
            if who in open_ones and self.random.random() < 0.5:
                open_ones.discard(who)
                self.decide(log, who, aborted=self.random.random() < 0.5)
            else:
                open_ones.add(who)
                self.append(log, self.random.randrange(1, 4), who, transactional=True)
            if self.random.random() < 0.3:
                self.append(log, 1, 20)
        for who in open_ones:
            self.decide(log, who, aborted=False)

    def compact(self, log: PartitionLog, cleaned_until: int | None) -> int:
        log.advance_high_watermark(log.log_end)
        found = cleanable(log.facts(), log.settings, cleaned_until, self.now_ms)
        ordered = order(log, found, self.now_ms, b"salt", KeyMapSettings(1 << 20))
        cleaned = clean(ordered, OsDisk(), lambda _: None)
        assert finish(log, OsDisk(), ordered, cleaned, self.now_ms)
        assert cleaned.tally.records_kept < cleaned.tally.records_read
        return cleaned.cleaned_until


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Every kind of segment: all codecs, idempotent, transactional and compacted ones, several epochs."""
    path = tmp_path_factory.mktemp("ours") / "broker-0"
    path.mkdir()
    directories = LogDirectories(
        OsDisk(), [str(path)], random_bytes=bytes, on_failure=lambda *_: pytest.fail("offline")
    )
    directories.claim()
    directories.sign(MetaProperties(0, CLUSTER_ID))
    directories.open_logs(lambda _: LogSettings(), [], 0)
    writer = Writer(directories)
    logs = fill(writer)
    for log in logs.values():
        log.advance_high_watermark(log.log_end)
    writer.append(logs["transactions"], 1, 15, transactional=True)  # it stays undecided
    writer.append(logs["transactions"], 2)
    logs["transactions"].advance_high_watermark(logs["transactions"].log_end)
    consumed = {
        (topic, isolation): list(read(log, up_to))
        for topic, log in logs.items()
        for isolation, up_to in (
            ("read_uncommitted", ReadUpTo.LOG_END),
            ("read_committed", ReadUpTo.LAST_STABLE),
        )
    }
    epochs = {topic: log.latest_epoch for topic, log in logs.items()}
    directories.checkpoint_high_watermarks()
    directories.close(writer.now_ms)
    return Written(path, consumed, epochs)


def fill(writer: Writer) -> dict[str, PartitionLog]:
    compact = frozenset({"compact"})
    logs = {
        "plain": writer.create("plain"),
        "codecs": writer.create("codecs"),
        "append-time": writer.create("append-time", message_timestamp_type="LogAppendTime"),
        "transactions": writer.create("transactions"),
        "compacted": writer.create("compacted", cleanup_policy=compact, delete_retention_ms=0),
    }
    cleaned_until = None
    for epoch in (0, 1, 4):
        writer.epoch = epoch
        for _ in range(15):
            writer.append(logs["plain"], 5)
            writer.append(logs["append-time"], 3)
        for codec in Codec:
            writer.append(logs["codecs"], 20, 1, codec=codec)
        writer.transactions(logs["transactions"], 30)
        writer.transactions(logs["compacted"], 60)
        for codec in Codec:
            writer.append(logs["compacted"], 10, 2, codec=codec)
        cleaned_until = writer.compact(logs["compacted"], cleaned_until)
    writer.append(logs["compacted"], 7)
    return logs


Dump = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def dump(kafka_jars: str) -> Dump:
    """Kafka's DumpLogSegments. What it finds wrong it says on standard error, and ends with 0 even so."""

    def run(files: list[Path], *flags: str) -> subprocess.CompletedProcess[str]:
        command = ["java", *SMALL_JVM, "-cp", kafka_jars, "kafka.tools.DumpLogSegments", *flags]
        command += ["--files", ",".join(map(str, files))]
        return subprocess.run(command, capture_output=True, text=True, check=True)

    return run


def test_kafka_finds_every_batch_and_record_sound(written: Written, dump: Dump) -> None:
    said = dump(written.files("*.log"), "--deep-iteration")
    batches = re.findall(r"^baseOffset: .*", said.stdout, re.MULTILINE)
    assert batches
    assert all(batch.endswith("isvalid: true") for batch in batches)
    assert "invalid bytes" not in said.stdout
    offsets = re.findall(
        r"^\| offset: \d+ .*headerKeys: \[[^]]*\]( endTxnMarker)?", said.stdout, re.MULTILINE
    )
    records = sum(
        len(each) for (_, isolation), each in written.consumed.items() if isolation == "read_uncommitted"
    )
    assert offsets.count("") == records
    assert set(re.findall(r"Non-consecutive offsets in .*/([a-z-]+)-0/", said.stderr)) == {"compacted"}
    compressed = {codec: said.stdout.count(f"compresscodec: {codec.name.lower()}") for codec in Codec}
    assert all(compressed.values())


def test_kafka_finds_every_index_sound(written: Written, dump: Dump) -> None:
    indexes = [*written.files("*.index"), *written.files("*.timeindex")]
    assert len(indexes) > 40
    said = dump(indexes, "--index-sanity-check").stdout
    assert said.count("passed sanity check") + said.count("is empty") == len(indexes)
    for flags in (["--verify-index-only"], []):
        ran = dump(indexes, *flags)
        assert not [line for line in ran.stderr.splitlines() if "log4j" not in line]
    assert ran.stdout.count("position: ") == sum(
        path.stat().st_size // 8 for path in written.files("*.index")
    )


def test_kafka_reads_our_snapshots_and_aborted_transactions(written: Written, dump: Dump) -> None:
    aborted = [*written.files("*.txnindex")]
    said = dump([*written.files("*.snapshot"), *aborted])
    assert "corrupt" not in said.stdout + said.stderr
    assert said.stdout.count("lastStableOffset: ") == sum(path.stat().st_size // 34 for path in aborted) > 0
    snapshots = sum((path.stat().st_size - 10) // 46 for path in written.files("*.snapshot"))
    assert said.stdout.count("coordinatorEpoch: ") == snapshots > 0


@pytest.mark.parametrize("pattern", ["*.log", "*.index", "*.timeindex", "*.txnindex", "*.snapshot"])
def test_odradek_dump_prints_what_kafkas_tool_prints(written: Written, dump: Dump, pattern: str) -> None:
    files = written.files(pattern)
    ours = CliRunner().invoke(dump_verb, ["--print-data-log", "--files", ",".join(map(str, files))])
    assert ours.stdout == dump(files, "--print-data-log").stdout
    assert ours.exit_code == 0


@pytest.fixture(scope="module")
def served(written: Written, kafka_jars: str) -> tuple[Path, ByTopic]:
    """The directory after a Kafka broker served a copy of it, and what its consumer read there."""
    home = written.path.parent / "kafka"
    shutil.copytree(written.path, home / "broker-0")
    znodes = {"/cluster/id": compact_json({"version": "1", "id": CLUSTER_ID})}
    for topic, epoch in written.epochs.items():
        znodes |= topic_znodes(topic, id_text(TOPIC_IDS[topic]), [epoch])
    with start_kafka(kafka_jars, home, znodes=znodes, settings={"log.cleaner.enable": "false"}) as kafka:
        command = ["java", *SMALL_JVM, "-cp", kafka_jars, str(FILL), kafka.bootstrap, "consume", *TOPIC_IDS]
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return home / "broker-0", told(said.stdout.splitlines())


def test_a_kafka_broker_serves_it_to_the_last_record(written: Written, served: tuple[Path, ByTopic]) -> None:
    _, consumed = served
    for topic_and_isolation, records in written.consumed.items():
        assert consumed[topic_and_isolation] == records, topic_and_isolation


def test_a_kafka_broker_leaves_it_as_it_was(written: Written, served: tuple[Path, ByTopic]) -> None:
    """It had nothing to recover, to truncate, or to index anew."""
    directory, _ = served
    files = [path for topic in TOPIC_IDS for path in written.path.glob(f"{topic}-0/*")]
    assert len(files) > 100
    for path in files:
        theirs = directory / path.relative_to(written.path)
        assert theirs.read_bytes() == path.read_bytes(), path.name


def test_every_kind_of_batch_was_written(written: Written) -> None:
    """The tests above would say nothing of what is not there."""
    seen = set[str]()
    for path in written.files("*.log"):
        data, at = path.read_bytes(), 0
        while at < len(data):
            header = read_header(data, at)
            kinds = ("append time", "transactional", "control", "horizon")
            seen |= {kind for bit, kind in enumerate(kinds, 3) if header.attributes & 1 << bit}
            seen |= {f"epoch {header.leader_epoch}"} | ({"empty"} if not header.record_count else set())
            at += header.size
    assert seen == {
        "append time",
        "transactional",
        "control",
        "horizon",
        "empty",
        "epoch 0",
        "epoch 1",
        "epoch 4",
    }
