"""Apache Kafka's own clients, of the release we are compared with and of the newest: all they can do."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compatibility import promises
from tests.compatibility.conftest import JAVA, built, java_jars
from tests.compatibility.served import Served
from tests.compatibility.talking import TalkingClient, talking

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

PROGRAM = JAVA / "Client.java"


@pytest.fixture(scope="module", params=["pom.xml", "pom-4.xml"], ids=["3.9", "4"])
def command(request: pytest.FixtureRequest, served: Served) -> list[str]:
    """How our program is run with each of them."""
    pom = JAVA / request.param
    jars = java_jars(pom)

    def compile_into(directory: Path) -> None:
        subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", directory, PROGRAM], check=True)

    classes = built("java-client", [PROGRAM, pom], compile_into)
    options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{classes}:{jars}"]
    options.append(f"-Dlog4j.configuration=file:{JAVA / 'log4j.properties'}")
    return ["java", *options, "Client", served.bootstrap]


@pytest.fixture(scope="module")
def client(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[TalkingClient]:
    with talking(command, tmp_path_factory.mktemp("java") / "errors") as client:
        yield client


@pytest.fixture
def other(command: list[str], tmp_path: Path) -> Iterator[TalkingClient]:
    with talking(command, tmp_path / "errors") as other:
        yield other


class TestJava(
    promises.Produces,
    promises.ProducesIdempotently,
    promises.Consumes,
    promises.JoinsGroups,
    promises.Administers,
    promises.ManyTopics,
    promises.SeesLogDirs,
):
    pass
