"""What tests against a real Kafka share: its jars, resolved once by Maven, and a way to run its classes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

import pytest

JAVA = Path(__file__).parent / "java"
POM = JAVA / "pom.xml"

RunJava: TypeAlias = Callable[..., str]


@pytest.fixture(scope="session")
def kafka_jars() -> str:
    """A class path with Apache Kafka 3.9.2's broker, clients and tools."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            absent(f"`{tool}` is not installed: nothing to compare with Kafka's own classes")
    jars = cache_directory() / f"kafka-jars-{hashlib.sha256(POM.read_bytes()).hexdigest()[:12]}"
    jars.parent.mkdir(parents=True, exist_ok=True)
    with open(jars.with_suffix(".lock"), "w") as lock:  # several test processes may come here at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = jars / ".complete"
        if not complete.exists():
            resolve(jars)
            complete.touch()
    return f"{jars}/*"


@pytest.fixture(scope="session")
def run_java(kafka_jars: str) -> RunJava:
    """Run a class of Kafka's, or one of our programs (a path to its .java file), and get what it prints.

    run_java("kafka.tools.DumpLogSegments", "--files", path)"""

    def run(program: str | Path, *arguments: str | Path, stdin: str = "") -> str:
        command = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", kafka_jars]
        command += [f"-Dlog4j.configuration=file:{JAVA / 'log4j.properties'}", str(program)]
        command += map(str, arguments)
        ran = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == 0, f"{program} ended with {ran.returncode}:\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    return run


def cache_directory() -> Path:
    """Where what is slow to fetch stays from one test run to the next."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "odradek-tests"


def absent(why: str) -> NoReturn:
    """On a developer's machine a missing tool skips; a build server is expected to have it."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def resolve(jars: Path) -> None:
    command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"Maven could not resolve Kafka's jars:\n{ran.stdout}\n{ran.stderr}"
