"""A real Apache Kafka 3.9 in ZooKeeper mode on free ports of the loopback interface, to compare with.

    with start_kafka(jars, tmp_path, brokers=1) as kafka:
        kafka.bootstrap                    # "127.0.0.1:port,..."
        kafka.directory(0)                 # broker 0's data directory; what is already there is served

A directory that Kafka did not make itself is served once ZooKeeper knows its topics: `znodes` are written
before any broker starts.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kazoo.client import KazooClient

LOOPBACK = "127.0.0.1"
STARTS_WITHIN_S = 60
STOPS_WITHIN_S = 30
SMALL_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

# What makes one to three brokers start and answer fast.
SETTINGS: Mapping[str, str] = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "controlled.shutdown.retry.backoff.ms": "200",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "background.threads": "2",
    "num.io.threads": "2",
}


@dataclass(frozen=True, slots=True)
class Kafka:
    """A running cluster."""

    jars: str
    home: Path
    zookeeper: str  # host:port
    brokers: tuple[str, ...]  # host:port, by broker id

    @property
    def bootstrap(self) -> str:
        return ",".join(self.brokers)

    def directory(self, broker_id: int) -> Path:
        return self.home / f"broker-{broker_id}"


@contextmanager
def start_kafka(
    jars: str,
    home: Path,
    *,
    brokers: int = 1,
    settings: Mapping[str, str] | None = None,
    znodes: Mapping[str, str] | None = None,
) -> Iterator[Kafka]:
    """A cluster that lives as long as the block and is stopped cleanly. Its data stays below `home`."""
    home.mkdir(parents=True, exist_ok=True)
    zookeeper_port, *ports = free_ports(brokers + 1)
    zookeeper = f"{LOOPBACK}:{zookeeper_port}"
    with ExitStack() as running:
        running.enter_context(_zookeeper(jars, home, zookeeper_port))
        if znodes:
            write_znodes(zookeeper, znodes)
        started = [
            running.enter_context(
                _broker(jars, home, broker_id, port, _settings(brokers, zookeeper, settings))
            )
            for broker_id, port in enumerate(ports)
        ]
        for process, log, port in started:
            _await_port(process, log, port)
        yield Kafka(jars, home, zookeeper, tuple(f"{LOOPBACK}:{port}" for port in ports))


def topic_znodes(topic: str, topic_id: str, leader_epochs: Sequence[int]) -> dict[str, str]:
    """What ZooKeeper holds of a topic whose partitions all lie on broker 0, led in these epochs."""
    nodes = {
        f"/brokers/topics/{topic}": compact_json(
            {
                "partitions": {str(number): [0] for number in range(len(leader_epochs))},
                "topic_id": topic_id,
                "adding_replicas": {},
                "removing_replicas": {},
                "version": 3,
            }
        )
    }
    for number, epoch in enumerate(leader_epochs):
        nodes |= partition_znode(topic, number, epoch)
    return nodes


def partition_znode(topic: str, number: int, leader_epoch: int) -> dict[str, str]:
    """A partition on broker 0. Written before a broker starts, it begins this epoch."""
    state = {"controller_epoch": 0, "leader": 0, "version": 1, "leader_epoch": leader_epoch, "isr": [0]}
    return {f"/brokers/topics/{topic}/partitions/{number}/state": compact_json(state)}


def compact_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def write_znodes(zookeeper: str, znodes: Mapping[str, str]) -> None:
    """Create or change these nodes, and create those on the way to them. It may just be starting."""
    client = KazooClient(zookeeper)
    client.start(timeout=STARTS_WITHIN_S)
    try:
        for path, text in znodes.items():
            client.ensure_path(path)
            client.set(path, text.encode())
    finally:
        client.stop()
        client.close()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on. All are held while the others are looked for."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOOPBACK, 0))
        return [each.getsockname()[1] for each in sockets]


def _settings(brokers: int, zookeeper: str, more: Mapping[str, str] | None) -> dict[str, str]:
    copies = str(min(brokers, 3))
    return {
        **SETTINGS,
        "zookeeper.connect": zookeeper,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.replication.factor": copies,
        **(more or {}),
    }


@contextmanager
def _zookeeper(jars: str, home: Path, port: int) -> Iterator[None]:
    settings = {
        "dataDir": str(home / "zookeeper"),
        "clientPort": str(port),
        "clientPortAddress": LOOPBACK,
        "admin.enableServer": "false",
        "maxClientCnxns": "0",
    }
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    with _process(jars, home, "zookeeper", main, settings, ("-Xmx64m",)) as (process, log):
        _await_port(process, log, port)
        yield


@contextmanager
def _broker(
    jars: str, home: Path, broker_id: int, port: int, settings: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], Path, int]]:
    name = f"broker-{broker_id}"
    own = {
        **settings,
        "broker.id": str(broker_id),
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "log.dirs": str(home / name),
    }
    with _process(jars, home, name, "kafka.Kafka", own, ("-Xmx384m",)) as (process, log):
        yield process, log, port


@contextmanager
def _process(
    jars: str, home: Path, name: str, main: str, settings: Mapping[str, str], options: Sequence[str]
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """One JVM with a .properties file, asked to stop at the end and killed if it does not."""
    properties, log = home / f"{name}.properties", home / f"{name}.out"
    properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    log4j = f"-Dlog4j.configuration=file:{Path(__file__).parent / 'java' / 'log4j.properties'}"
    command = ["java", *SMALL_JVM, *options, log4j, "-cp", jars, main, str(properties)]
    with open(log, "ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=home)
    try:
        yield process, log
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_port(process: subprocess.Popen[bytes], log: Path, port: int) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on {port}:\n{os.linesep.join(log.read_text().splitlines()[-40:])}")
