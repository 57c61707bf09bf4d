"""Makes this directory anew with a real Kafka 3.9: `python capture.py CLASSPATH`. README.md says more."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from tests.compatibility.kafka import SMALL_JVM, Kafka, partition_znode, start_kafka  # noqa: E402

COMPACTED = ("compacted", "compacted-gzip")
INTERNAL = ("__consumer_offsets", "__transaction_state")
TOPICS = ("plain", "codecs", "append-time", "transactions", *COMPACTED)
DUMPS = (  # which files, with which flags
    "plain-0/*.log",
    "plain-0/*.log --print-data-log",
    "plain-0/*.log --print-data-log --skip-record-metadata",
    "plain-0/*00.log --deep-iteration --max-bytes 600",
    "codecs-0/*.log --deep-iteration",
    "append-time-0/*.log --deep-iteration",
    "transactions-0/*.log --print-data-log --max-message-size 1000",
    "transactions-0/*.log --deep-iteration --skip-record-metadata",
    "compacted*-0/*.log --print-data-log",
    "*-0/*.index",
    "*-0/*.timeindex",
    "*-0/*.index --index-sanity-check",
    "*-0/*.timeindex --index-sanity-check",
    "*-0/*.*index --verify-index-only",
    "*-0/*.txnindex",
    "*-0/*.snapshot",
    "__consumer_offsets-0/*.log --offsets-decoder",
    "__transaction_state-0/*.log --transaction-log-decoder --skip-record-metadata",
)
CHECKPOINT = "cleaner-offset-checkpoint"
OFF = {"log.cleaner.enable": "false"}
ON = {"log.cleaner.enable": "true", "log.cleaner.backoff.ms": "50"}


def capture(jars: str, home: Path) -> None:
    def fill(kafka: Kafka, *arguments: str) -> str:
        command = ["java", *SMALL_JVM, "-cp", jars, str(HERE / "Fill.java"), kafka.bootstrap, *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    kept = home / "compaction"
    for round_ in (0, 1, 2):
        with start_kafka(jars, home, settings=OFF, znodes=led_in(round_)) as kafka:
            if round_ == 0:
                fill(kafka, "create")
            fill(kafka, "produce", str(round_))
        keep(home / "broker-0", kept / f"{round_}-before", COMPACTED)
        with start_kafka(jars, home, settings=ON) as kafka:
            await_cleaning(kafka.directory(0))
        keep(home / "broker-0", kept / f"{round_}-after", COMPACTED)
    with tarfile.open(HERE / "compaction.tar.gz", "w:gz") as archive:
        archive.add(kept, "compaction")
    with start_kafka(jars, home, settings=OFF, znodes=led_in(5)) as kafka:
        fill(kafka, "produce", "3")
        with gzip.open(HERE / "consumed.jsonl.gz", "wt") as consumed:
            consumed.write(fill(kafka, "consume", *TOPICS))
        fill(kafka, "commit")
    keep(home / "broker-0", HERE / "data", (*TOPICS, *INTERNAL))


def dump(jars: str) -> None:
    """What DumpLogSegments prints of what is there."""
    with gzip.open(HERE / "dumped.jsonl.gz", "wt") as dumped:
        for arguments in DUMPS:
            pattern, *flags = arguments.split()
            files = sorted(str(path.relative_to(HERE / "data")) for path in (HERE / "data").glob(pattern))
            command = ["java", *SMALL_JVM, "-Dstdout.encoding=UTF-8", "-Dfile.encoding=UTF-8", "-cp", jars]
            command += ["kafka.tools.DumpLogSegments", *flags, "--files", ",".join(files)]
            ran = subprocess.run(command, cwd=HERE / "data", check=True, capture_output=True, text=True)
            err = [line for line in ran.stderr.splitlines() if "log4j" not in line]
            said = {"flags": flags, "files": files, "out": ran.stdout.splitlines(), "err": err}
            print(json.dumps(said).replace(str(HERE / "data"), "{data}"), file=dumped)


def led_in(epoch: int) -> dict[str, str]:
    """The leader epoch of every topic's only partition; a new topic begins at 0 by itself."""
    return {
        path: text for topic in TOPICS for path, text in partition_znode(topic, 0, epoch).items() if epoch
    }


def await_cleaning(directory: Path) -> None:
    """Until the checkpoint says of every compacted topic that it is clean up to its active segment."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        cleaned = [line.split() for line in (directory / CHECKPOINT).read_text().splitlines()[2:]]
        until = {topic: int(offset) for topic, _, offset in cleaned}
        active = {topic: max(segments(directory / f"{topic}-0")) for topic in COMPACTED}
        if all(until.get(topic) == offset for topic, offset in active.items()):
            return
        time.sleep(0.1)
    raise TimeoutError(f"not cleaned up to {active}: {until}")


def segments(partition: Path) -> list[int]:
    return [int(log.stem) for log in partition.glob("*.log")]


def keep(source: Path, target: Path, topics: tuple[str, ...]) -> None:
    """The partitions of these topics, and the files of the data directory itself."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for each in source.iterdir():
        if each.is_file() and each.name != ".lock":
            shutil.copy(each, target)
    for topic in topics:
        shutil.copytree(
            source / f"{topic}-0", target / f"{topic}-0", ignore=shutil.ignore_patterns("*.deleted")
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        capture(sys.argv[1], Path(home))
    dump(sys.argv[1])
