"""Kafka Connect runs on us unchanged: a distributed worker copies a file to a topic, and that to a file."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.compatibility.conftest import JAVA, java_jars
from tests.compatibility.kafka import free_ports
from tests.compatibility.served import Served, start_odradek

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

WITHIN_S = 90


@pytest.fixture(scope="module")
def jars() -> str:
    return java_jars(JAVA / "pom-streams.xml")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with start_odradek(tmp_path_factory.mktemp("connect"), {}) as served:
        yield served


@contextmanager
def worker(jars: str, broker: Served, home: Path) -> Iterator[str]:
    """Its REST address."""
    (port,) = free_ports(1)
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": "connect",
        "listeners": f"http://127.0.0.1:{port}",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "offset.flush.interval.ms": "500",
        **{f"{kind}.storage.topic": f"connect-{kind}" for kind in ("config", "offset", "status")},
        **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
    }
    told = home / "worker.properties"
    told.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars]
    command += ["org.apache.kafka.connect.cli.ConnectDistributed", str(told)]
    with open(home / "worker.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def post(address: str, body: object) -> bool:
    """False as long as the worker cannot take it."""
    request = urllib.request.Request(
        f"{address}/connectors", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bool(answer.status == 201)
    except (urllib.error.URLError, TimeoutError):
        return False


def eventually(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline, f"not within {WITHIN_S} s: {what}"
        time.sleep(0.2)


def connector(kind: str, file: Path, **topic: str) -> dict[str, object]:
    cls = f"org.apache.kafka.connect.file.FileStream{kind}Connector"
    return {"name": kind, "config": {"connector.class": cls, "tasks.max": "1", "file": str(file), **topic}}


def test_a_file_becomes_a_topic_becomes_a_file(jars: str, broker: Served, tmp_path: Path) -> None:
    source, sink = tmp_path / "source", tmp_path / "sink"
    lines = [f"line {number}" for number in range(1000)]
    source.write_text("".join(f"{line}\n" for line in lines[:500]))
    with worker(jars, broker, tmp_path) as address:
        eventually(lambda: post(address, connector("Source", source, topic="copied")), "the source begins")
        eventually(lambda: post(address, connector("Sink", sink, topics="copied")), "the sink begins")
        eventually(lambda: sink.exists() and sink.read_text().splitlines() == lines[:500], "half is copied")
    with source.open("a") as file:
        file.write("".join(f"{line}\n" for line in lines[500:]))
    with worker(
        jars, broker, tmp_path
    ):  # it knows from its topics what it was doing, and how far it had come
        eventually(lambda: sink.read_text().splitlines() == lines, "all of it is copied, nothing twice")
