"""At a terminal people get a table; --plain gives them Kafka's format, --json is what it is anywhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from odradek.testing.broker import Broker

pytestmark = pytest.mark.slow


def at_a_terminal(broker: Broker, *arguments: str) -> list[str]:
    """What a person would see, standard error included."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "odradek", *arguments, "--bootstrap-server", broker.bootstrap]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while chunk := _read(ours):
            seen += chunk
    os.close(ours)
    assert process.returncode == 0, seen
    return seen.decode().splitlines()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nobody writes to it any more
        return b""


@pytest.mark.parametrize(
    ("verb", "columns"),
    [
        (["topics", "--describe"], ["topic", "partition", "leader", "replicas", "in", "sync", "settings"]),
        (["get-offsets", "--topic"], ["topic", "partition", "offset", "timestamp"]),
        (["log-dirs", "--describe"], ["broker", "directory", "topic", "partition", "bytes", "behind"]),
        (["broker-api-versions"], ["broker", "api", "key", "versions"]),
        (["configs", "--describe", "--all", "--topic"], ["topic", "setting", "value", "from"]),
    ],
)
def test_a_person_sees_a_table(
    odradek: Broker, odradek_topic: str, verb: list[str], columns: list[str]
) -> None:
    of_topic = [odradek_topic] if verb[-1] == "--topic" else []
    heading, *rows = at_a_terminal(odradek, *verb, *of_topic)
    assert heading.split() == columns
    assert rows


def test_a_person_may_ask_for_kafka_s_format(odradek: Broker, odradek_topic: str) -> None:
    described = at_a_terminal(odradek, "topics", "--describe", "--topic", odradek_topic, "--plain")
    assert described[0].startswith(f"Topic: {odradek_topic}\tTopicId: ")
    assert described[1].startswith(f"\tTopic: {odradek_topic}\tPartition: 0\tLeader: 0\t")


def test_json_is_json_anywhere(odradek: Broker, odradek_topic: str) -> None:
    (line,) = at_a_terminal(odradek, "get-offsets", "--topic", odradek_topic, "--json")
    assert line.startswith('{"topic":')
