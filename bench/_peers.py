"""The two brokers that are compared: ours, and Apache Kafka 3.9 as its own start script runs it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
STARTS_WITHIN_S = 60
STOPS_WITHIN_S = 30
# The options of kafka-run-class.sh and kafka-server-start.sh.
_JVM = (
    *("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *(
        "-XX:InitiatingHeapOccupancyPercent=35",
        "-XX:+ExplicitGCInvokesConcurrent",
        "-Djava.awt.headless=true",
    ),
)
# What both are told; everything else is each one's default.
_SETTINGS = {
    "broker.id": "0",
    "num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    bootstrap: str
    pid: int
    started_in_s: float

    def cpu_s(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_mib(self) -> float:
        return memory_mib(self.pid)


@contextmanager
def odradek(home: Path) -> Iterator[Peer]:
    address = f"127.0.0.1:{free_port()}"
    settings = [f"--set={key}={value}" for key, value in _SETTINGS.items()]
    command = [sys.executable, "-m", "odradek", "start", "--data", str(home), "--listen", address, *settings]
    with _running(command, home) as (process, began):
        yield Peer("odradek", address, process.pid, _await_port(process, address, began))


@contextmanager
def kafka(jars: str, home: Path) -> Iterator[Peer]:
    home.mkdir(parents=True)
    zookeeper, address = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    ensemble = {
        "dataDir": str(home / "zookeeper"),
        "clientPort": zookeeper.split(":")[1],
        "clientPortAddress": "127.0.0.1",
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
    }
    settings = {
        **_SETTINGS,
        "listeners": f"PLAINTEXT://{address}",
        "log.dirs": str(home / "data"),
        "zookeeper.connect": zookeeper,
    }
    log4j = _properties(
        home / "log4j.properties",
        {
            "log4j.rootLogger": "WARN, err",
            "log4j.appender.err": "org.apache.log4j.ConsoleAppender",
            "log4j.appender.err.layout": "org.apache.log4j.SimpleLayout",
        },
    )
    java = ["java", f"-Dlog4j.configuration=file:{log4j}", "-cp", jars]
    quorum = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    with ExitStack() as running:
        command = [*java, "-Xmx256m", quorum, str(_properties(home / "zookeeper.properties", ensemble))]
        keeper, began = running.enter_context(_running(command, home))
        _await_port(keeper, zookeeper, began)
        command = [*java, *_JVM, "kafka.Kafka", str(_properties(home / "server.properties", settings))]
        process, began = running.enter_context(_running(command, home))
        yield Peer("kafka", address, process.pid, _await_port(process, address, began))


def memory_mib(pid: int) -> float:
    """A process's share of what is resident."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _properties(path: Path, settings: dict[str, str]) -> Path:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path


@contextmanager
def _running(command: list[str], home: Path) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "out.log", "ab") as log:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield process, began
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_port(process: subprocess.Popen[bytes], address: str, began: float) -> float:
    """Seconds until it accepts connections."""
    host, port = address.split(":")
    while time.perf_counter() - began < STARTS_WITHIN_S:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        try:
            socket.create_connection((host, int(port)), 1).close()
            return time.perf_counter() - began
        except OSError:
            time.sleep(0.01)
    raise RuntimeError(f"{process.args!r} does not listen on {address}")
