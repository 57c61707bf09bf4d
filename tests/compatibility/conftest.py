"""What tests against a real Kafka share: its jars, resolved once by Maven, and a way to run its classes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

import pytest

pytest.register_assert_rewrite("tests.compatibility.promises")

from tests.compatibility import promises  # noqa: E402
from tests.compatibility.clients import Producer  # noqa: E402
from tests.compatibility.served import Served, start_odradek  # noqa: E402

JAVA = Path(__file__).parent / "java"
POM = JAVA / "pom.xml"

RunJava: TypeAlias = Callable[..., str]


@pytest.fixture(scope="session")
def kafka_jars() -> str:
    """A class path with Apache Kafka 3.9.2's broker, clients and tools."""
    return java_jars(POM)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The broker that all clients of this session share. It keeps records that are years old."""
    with start_odradek(tmp_path_factory.mktemp("served"), {"log.retention.ms": "-1"}) as served:
        yield served


@pytest.fixture(scope="module")
def reader(client: object) -> object:
    """Who reads what a client under test wrote: itself, where a test file does not say otherwise."""
    return client


@pytest.fixture(scope="module")
def writer(client: object) -> object:
    """Who writes what a client under test reads."""
    return client


@pytest.fixture(scope="module")
def written(served: Served, writer: Producer) -> str:
    """A topic with ten records, a second apart, in batches of two."""
    topic = promises.fresh_name()
    served.create_topic(topic)
    for number in range(0, 10, 2):
        writer.produce(topic, [promises.tenth(number), promises.tenth(number + 1)])
    return topic


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


def java_jars(pom: Path) -> str:
    """A class path with what a pom asks for."""
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            absent(f"`{tool}` is not installed: no class of Kafka's can be run")

    def resolve(jars: Path) -> None:
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
        command += [f"-DoutputDirectory={jars}"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"Maven could not resolve Kafka's jars:\n{ran.stdout}\n{ran.stderr}"

    return f"{built('kafka-jars', [pom], resolve)}/*"


def built(name: str, sources: Sequence[Path], build: Callable[[Path], None]) -> Path:
    """A directory that `build` has filled, now or in an earlier run from the same sources."""
    version = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    directory = cache_directory() / f"{name}-{version}"
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(directory.with_suffix(".lock"), "w") as lock:  # several test processes may come here at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = directory / ".complete"
        if not complete.exists():
            directory.mkdir(exist_ok=True)
            build(directory)
            complete.touch()
    return directory
