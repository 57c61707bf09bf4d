"""Kafka Streams runs on us unchanged: exactly once, and with its state made anew from its changelog."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.compatibility.conftest import JAVA, java_jars
from tests.compatibility.served import Served, start_odradek

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

WITHIN_S = 60
LINES = ["the quick brown fox", "the lazy dog", "the fox"]


@pytest.fixture(scope="module")
def jars() -> str:
    return java_jars(JAVA / "pom-streams.xml")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with start_odradek(tmp_path_factory.mktemp("streams"), {}) as served:
        for topic in ("lines", "counts", "orders", "customers", "joined"):
            served.create_topic(topic, partitions=2)
        yield served


@contextmanager
def streams(jars: str, broker: Served, state: Path) -> Iterator[subprocess.Popen[str]]:
    """The application, once it runs; killed with -9 if it still does when the block is left."""
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars]
    command += [str(JAVA / "Streams.java"), broker.bootstrap, str(state)]
    with open(state.with_suffix(".log"), "a") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n", state.with_suffix(".log").read_text()[-3000:]
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def send(broker: Served, topic: str, *pairs: tuple[str, str]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for key, value in pairs:
        producer.produce(topic, key=key, value=value)
    assert producer.flush(WITHIN_S) == 0


def read(broker: Served, topic: str, count: int) -> list[tuple[str, str]]:
    """What read_committed shows from the beginning: so many records, and none more for a while."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": "reader",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "log_level": 0,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, number, 0) for number in range(2)])
    found: list[tuple[str, str]] = []
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        message = consumer.poll(1 if len(found) >= count else 0.2)
        if message is None:
            if len(found) >= count:
                break
            continue
        assert message.error() is None, message.error()
        key, value = message.key(), message.value()
        assert isinstance(key, bytes)
        assert isinstance(value, bytes)
        found.append((key.decode(), value.decode()))
    consumer.close()
    return found


def counts_of(lines: list[str]) -> Counter[str]:
    return Counter(word for line in lines for word in line.split())


def test_words_are_counted_once_each_whatever_happens(jars: str, broker: Served, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with streams(jars, broker, state):
        send(broker, "lines", *(("", line) for line in LINES * 5))
        send(broker, "customers", ("ann", "Ann"), ("bob", "Bob"))
        read(broker, "counts", counts_of(LINES * 5).total())
        send(broker, "orders", ("ann", "tea"), ("bob", "rum"), ("eve", "nothing"))
        assert sorted(read(broker, "joined", 2)) == [("ann", "tea for Ann"), ("bob", "rum for Bob")]
        send(broker, "lines", *(("", line) for line in LINES * 20))
    # It was killed in the middle of that; its state is lost, and made anew from the changelog.
    shutil.rmtree(state, ignore_errors=True)
    with streams(jars, broker, state):
        send(broker, "orders", ("bob", "gin"))
        expected = counts_of(LINES * 25)
        told = read(broker, "counts", expected.total())
        assert ("bob", "gin for Bob") in read(broker, "joined", 3)
    seen: dict[str, list[int]] = {}
    for word, count in told:
        seen.setdefault(word, []).append(int(count))
    assert seen == {word: list(range(1, count + 1)) for word, count in expected.items()}
