"""What the pytest plugin promises to a project that installs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from odradek.testing.broker import Broker

pytestmark = pytest.mark.slow


def run_pytest(folder: Path, text: str) -> str:
    """A project of one test file, run by itself."""
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return ran.stdout + ran.stderr


def test_fixtures_come_with_the_package(tmp_path: Path) -> None:
    text = """
import socket
import pytest

topics = set()

def test_a_broker(odradek):
    host, port = odradek.bootstrap.split(":")
    socket.create_connection((host, int(port))).close()

@pytest.mark.parametrize("again", range(2))
def test_a_topic_of_ones_own(odradek, odradek_topic, again):
    assert odradek_topic not in topics
    topics.add(odradek_topic)

@pytest.mark.parametrize("odradek_topic", [3], indirect=True)
def test_a_topic_of_three_partitions(odradek, odradek_topic):
    assert len(odradek.node.metadata.image.topics[odradek_topic].partitions) == 3
"""
    assert "4 passed" in run_pytest(tmp_path, text)


def test_a_project_that_does_not_use_them_imports_nothing(tmp_path: Path) -> None:
    text = """
import sys

def test_nothing_is_imported():
    assert [name for name in sys.modules if name.startswith("odradek.broker")] == []
"""
    assert "1 passed" in run_pytest(tmp_path, text)


def test_a_topic_that_cannot_be_says_why(odradek: Broker) -> None:
    with pytest.raises(Exception, match="INVALID_TOPIC_EXCEPTION"):
        odradek.create_topic("a name with blanks")
    with pytest.raises(Exception, match="UNKNOWN_TOPIC_OR_PARTITION"):
        odradek.delete_topic("nobody-made-it")
