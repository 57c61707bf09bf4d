"""Copied exactly once, though the copier is killed over and over, and so is the broker.

A copier reads, writes and commits its offsets in one transaction. Whatever is killed when: who reads what is
committed finds every record once, and those of a key in order.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from tests.compatibility.conftest import JAVA, built, java_jars
from tests.compatibility.served import Served, start_odradek

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

PARTITIONS = 3
KEYS = 50
WITHIN_S = 120
QUIET_S = 1  # for so long nothing more comes
SETTINGS = {"group.initial.rebalance.delay.ms": "0"}
Command = Sequence[str]


@pytest.fixture(scope="module", params=["librdkafka", "java-3.9", "java-4"])
def copier(request: pytest.FixtureRequest) -> Command:
    """How one is run; BOOTSTRAP FROM TO ID follow."""
    if request.param == "librdkafka":
        return [sys.executable, str(Path(__file__).parent / "copier.py")]
    pom = JAVA / ("pom.xml" if request.param == "java-3.9" else "pom-4.xml")
    program = JAVA / "Copier.java"
    jars = java_jars(pom)

    def compile_into(directory: Path) -> None:
        subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", directory, program], check=True)

    classes = built("java-copier", [program, pom], compile_into)
    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{classes}:{jars}"]
    return ["java", *options, f"-Dlog4j.configuration=file:{JAVA / 'log4j.properties'}", "Copier"]


@contextmanager
def copying(copier: Command, served: Served) -> Iterator[subprocess.Popen[str]]:
    """Until the block ends: then it is killed, wherever it is."""
    command = [*copier, served.bootstrap, "input", "output", "copier"]
    errors = open(served.home / "copier", "a")  # noqa: SIM115 - the process has it
    with errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def fill(served: Served, count: int) -> None:
    served.create_topic("input", partitions=PARTITIONS)
    served.create_topic("output", partitions=PARTITIONS)
    producer = Producer({"bootstrap.servers": served.bootstrap})
    for number in range(count):
        producer.produce("input", str(number).encode(), str(number % KEYS).encode())
    assert producer.flush(WITHIN_S) == 0


def copied(served: Served, count: int) -> list[int]:
    """All that is there once all is there, in the order of each partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": served.bootstrap,
            "group.id": f"reader-{time.monotonic_ns()}",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe(["output"])
    values: list[int] = []
    deadline = time.monotonic() + WITHIN_S
    while len(values) < count and time.monotonic() < deadline:
        values += map(_number, consumer.consume(1000, 0.2))
    values += map(_number, consumer.consume(1000, QUIET_S))
    consumer.close()
    return values


def _number(message: object) -> int:
    value = message.value()  # type: ignore[attr-defined]
    return int(value)


def assert_once_and_in_order(values: list[int], count: int) -> None:
    assert sorted(values) == list(range(count))
    for key in range(KEYS):
        of_key = [value for value in values if value % KEYS == key]
        assert of_key == sorted(of_key)


def test_a_copier_may_be_killed_at_any_time(copier: Command, tmp_path: Path) -> None:
    chance = random.Random(5)
    is_java = copier[0] == "java"
    kills, count = (10, 20_000) if is_java else (50, 60_000)
    with start_odradek(tmp_path, SETTINGS) as served:
        fill(served, count)
        done = 0
        for _ in range(kills):
            with copying(copier, served) as process:
                assert process.stdout is not None
                for _ in range(chance.randrange(1, 5)):
                    told = process.stdout.readline()
                    assert told, (served.home / "copier").read_text()[-3000:]
                    done += 1
                time.sleep(chance.random() * 0.02)
        assert done >= kills
        with copying(copier, served) as process:
            assert_once_and_in_order(copied(served, count), count)


def test_the_broker_may_be_killed_at_any_time(copier: Command, tmp_path: Path) -> None:
    chance = random.Random(7)
    count, port = 20_000, 0
    with start_odradek(tmp_path, SETTINGS) as served:
        fill(served, count)
        port = int(served.bootstrap.rpartition(":")[2])
        with copying(copier, served) as process:
            assert process.stdout is not None
            assert process.stdout.readline()
            for _ in range(5):
                time.sleep(chance.random() * 0.2)
                served.kill()
                with start_odradek(tmp_path, SETTINGS, port=port) as again:
                    assert process.stdout.readline(), (served.home / "copier").read_text()[-3000:]
                    again.kill()
            with start_odradek(tmp_path, SETTINGS, port=port) as again:
                assert_once_and_in_order(copied(again, count), count)
