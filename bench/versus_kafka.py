"""Is it as fast as Apache Kafka 3.9? Both on this machine and disk, in one run, under Kafka's own load tools.

Both brokers are up all the time; each work is done on one and then on the other, several rounds, the first
of which warms up and does not count. What is told is the median: throughput, the broker's CPU seconds for a
GB of records' values, and their ratios.

    python bench/versus_kafka.py [--rounds N] [--only WORD]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from _jars import kafka_jars
from _peers import Peer, kafka, odradek
from _report import RESULTS, Cell, report

LOAD = Path(__file__).parent / "java" / "Load.java"
GB = 1e9


class Figure(NamedTuple):
    rate: float  # of whatever the work counts, a second; for latencies, microseconds
    cpu_per_gb: float | None


@dataclass(frozen=True, slots=True)
class Work:
    name: str
    unit: str
    goal: str
    run: Callable[[Tools, Peer], list[Figure]]
    names: tuple[str, ...] = ("",)  # where one run gives several figures
    less_is_better: bool = False


class Tools:
    """Kafka's tools, and our own loads, on one broker."""

    def __init__(self, jars: str) -> None:
        self._jars = jars
        self._topics = 0

    def topic(self, peer: Peer, partitions: int) -> str:
        """A new one."""
        self._topics += 1
        name = f"topic-{self._topics}"
        self._java(
            "org.apache.kafka.tools.TopicCommand",
            *("--bootstrap-server", peer.bootstrap, "--create", "--topic", name),
            *("--partitions", str(partitions), "--replication-factor", "1"),
        )
        return name

    def produce(self, peer: Peer, topic: str, count: int, size: int, **settings: str) -> float:
        """Kafka's own producer test; records a second."""
        told = {"bootstrap.servers": peer.bootstrap, "acks": "1", **settings}
        out = self._java(
            "org.apache.kafka.tools.ProducerPerformance",
            *("--topic", topic, "--num-records", str(count), "--record-size", str(size)),
            *("--throughput", "-1", "--producer-props"),
            *(f"{name}={value}" for name, value in told.items()),
        )
        return float(out.strip().splitlines()[-1].split(", ")[1].split()[0])

    def load(self, *arguments: str) -> list[float]:
        """One of Load.java's; the figures it prints."""
        return [float(each) for each in self._java(str(LOAD), *arguments).split()]

    def _java(self, *arguments: str) -> str:
        command = ["java", "-Xmx1g", "-cp", self._jars, *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if ran.returncode != 0:
            raise RuntimeError(f"{arguments} ended with {ran.returncode}:\n{ran.stdout}\n{ran.stderr}")
        return ran.stdout


def producing(partitions: int, size: int, batch: int, codec: str = "none", *, count: int) -> Work:
    def run(tools: Tools, peer: Peer) -> list[Figure]:
        topic = tools.topic(peer, partitions)
        before = peer.cpu_s()
        settings = {"batch.size": str(batch), "compression.type": codec, "linger.ms": "5"}
        rate = tools.produce(peer, topic, count, size, **settings)
        return [Figure(rate, (peer.cpu_s() - before) / (count * size / GB))]

    coded = "" if codec == "none" else f", {codec}"
    name = f"produce {size} B, {partitions} partitions, batch {batch >> 10} KiB{coded}"
    return Work(name, "records/s", ">= 1.15x, CPU <= 0.45x" if size == 100 else ">= 1.1x, CPU <= 0.45x", run)


def consuming(partitions: int, size: int, *, count: int, codec: str = "none") -> Work:
    """From the beginning, right after it was written."""

    def run(tools: Tools, peer: Peer) -> list[Figure]:
        topic = tools.topic(peer, partitions)
        settings = {"batch.size": "65536", "linger.ms": "20", "compression.type": codec}
        tools.produce(peer, topic, count, size, **settings)
        before = peer.cpu_s()
        seen, _, seconds = tools.load("consume", peer.bootstrap, topic, str(partitions), str(count))
        return [Figure(seen / seconds, (peer.cpu_s() - before) / (count * size / GB))]

    coded = "" if codec == "none" else f", {codec}"
    name = f"consume {size} B, {partitions} partitions{coded}"
    return Work(name, "records/s", ">= 1.0x, CPU <= 0.5x", run)


def single_records(clients: int, *, count: int) -> Work:
    def run(tools: Tools, peer: Peer) -> list[Figure]:
        topic = tools.topic(peer, 1)
        before = peer.cpu_s()
        done, seconds = tools.load("single", peer.bootstrap, topic, str(clients), str(count // clients))
        return [Figure(done / seconds, (peer.cpu_s() - before) / (count * 100 / GB))]

    return Work(f"one record a request, {clients} connections", "requests/s", ">= 0.8x", run)


def latency(*, rate: int, seconds: int) -> Work:
    def run(tools: Tools, peer: Peer) -> list[Figure]:
        topic = tools.topic(peer, 1)
        return [
            Figure(each, None)
            for each in tools.load("latency", peer.bootstrap, topic, str(rate), str(seconds))[:3]
        ]

    names = (" p50", " p99", " p99.9")
    return Work("end to end at 1,000 records/s", "us", "<= 1.0x", run, names, less_is_better=True)


def many(*, producers: int, partitions: int, count: int) -> Work:
    def run(tools: Tools, peer: Peer) -> list[Figure]:
        topic = tools.topic(peer, partitions)
        before = peer.cpu_s()
        done, seconds = tools.load("many", peer.bootstrap, topic, str(producers), str(partitions), str(count))
        return [Figure(done / seconds, (peer.cpu_s() - before) / (done * 100 / GB))]

    return Work(f"{partitions} partitions, {producers} producers", "records/s", ">= 1.0x", run)


WORKS = (
    *(producing(p, 100, b, count=3_000_000) for p in (1, 6) for b in (16 << 10, 128 << 10)),
    producing(6, 1024, 16 << 10, count=500_000),
    producing(6, 10_240, 128 << 10, count=60_000),
    producing(6, 1024, 64 << 10, "lz4", count=500_000),
    producing(6, 1024, 64 << 10, "zstd", count=500_000),
    consuming(1, 100, count=3_000_000),
    consuming(6, 1024, count=600_000),
    consuming(6, 10_240, count=60_000),
    consuming(6, 1024, count=600_000, codec="lz4"),
    single_records(1, count=10_000),
    single_records(50, count=50_000),
    latency(rate=1000, seconds=12),
    many(producers=500, partitions=1000, count=2000),
)


def measured(tools: Tools, work: Work, peers: Sequence[Peer], rounds: int) -> Iterator[list[Cell]]:
    """The rows of one work."""
    figures: dict[str, list[list[Figure]]] = {peer.name: [] for peer in peers}
    for _ in range(rounds + 1):
        for peer in peers:
            figures[peer.name].append(work.run(tools, peer))
    for at, name in enumerate(work.names):
        medians = {}
        for peer in peers:
            counted = [each[at] for each in figures[peer.name][1:]]
            cpus = [each.cpu_per_gb for each in counted if each.cpu_per_gb is not None]
            medians[peer.name] = (
                statistics.median(each.rate for each in counted),
                statistics.median(cpus) if cpus else None,
            )
        theirs, ours = medians["kafka"], medians["odradek"]
        yield [
            work.name + name,
            work.unit,
            round(theirs[0]),
            round(ours[0]),
            ours[0] / theirs[0],
            theirs[1] if theirs[1] is not None else "",
            ours[1] if ours[1] is not None else "",
            ours[1] / theirs[1] if ours[1] is not None and theirs[1] else "",
            work.goal,
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="works whose name has this word")
    asked = parser.parse_args()
    jars = kafka_jars()
    rows: list[list[Cell]] = []
    with (
        tempfile.TemporaryDirectory(prefix="versus-") as home,
        kafka(jars, Path(home) / "kafka") as theirs,
        odradek(Path(home) / "odradek") as ours,
    ):
        rows.append(_plain("start", "s", theirs.started_in_s, ours.started_in_s))
        rows.append(_plain("memory, idle", "MiB", theirs.memory_mib(), ours.memory_mib()))
        tools = Tools(jars)
        for work in WORKS:
            if asked.only in work.name:
                for row in measured(tools, work, (theirs, ours), asked.rounds):
                    print("  ".join(map(str, row)), flush=True)
                    rows.append(row)
        rows.append(_plain("memory, after all", "MiB", theirs.memory_mib(), ours.memory_mib()))
    columns = ("work", "unit", "Kafka", "Odradek", "ratio", "CPU s/GB", "ours", "ratio ", "goal")
    report("versus kafka", columns, rows)
    chart(rows, RESULTS / "versus-kafka.png")


def _plain(name: str, unit: str, theirs: float, ours: float) -> list[Cell]:
    return [name, unit, theirs, ours, ours / theirs, "", "", "", ""]


def chart(rows: Sequence[Sequence[Cell]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ratios = [(str(row[0]), float(row[4]), row[7]) for row in reversed(rows) if row[1] != "us"]
    figure, axes = pyplot.subplots(figsize=(10, 0.4 * len(ratios) + 1))
    at = range(len(ratios))
    axes.barh([each + 0.2 for each in at], [ratio for _, ratio, _ in ratios], 0.4, label="throughput")
    cpus = [float(cpu) if cpu != "" else 0.0 for _, _, cpu in ratios]
    axes.barh([each - 0.2 for each in at], cpus, 0.4, label="broker CPU a GB")
    axes.set_yticks(list(at), [name for name, _, _ in ratios])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("Odradek as a multiple of Apache Kafka 3.9, same run")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
