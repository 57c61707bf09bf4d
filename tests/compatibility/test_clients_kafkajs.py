"""KafkaJS: it produces, consumes in groups, and administers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compatibility import promises
from tests.compatibility.conftest import absent, built
from tests.compatibility.served import Served
from tests.compatibility.talking import TalkingClient, talking

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

NODE = Path(__file__).parent / "node"
LISTS = [NODE / "package.json", NODE / "package-lock.json"]


@pytest.fixture(scope="module")
def command(served: Served) -> list[str]:
    """How our program is run."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            absent(f"`{tool}` is not installed: KafkaJS cannot be run")

    def install(directory: Path) -> None:
        for each in LISTS:
            shutil.copy(each, directory)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        ran = subprocess.run(command, cwd=directory, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()

    modules = built("kafkajs", LISTS, install) / "node_modules"
    return ["env", f"NODE_PATH={modules}", "node", str(NODE / "client.js"), served.bootstrap]


@pytest.fixture(scope="module")
def client(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[TalkingClient]:
    with talking(command, tmp_path_factory.mktemp("kafkajs") / "errors") as client:
        yield client


@pytest.fixture
def other(command: list[str], tmp_path: Path) -> Iterator[TalkingClient]:
    with talking(command, tmp_path / "errors") as other:
        yield other


class TestKafkaJs(
    promises.Produces,
    promises.ProducesIdempotently,
    promises.Consumes,
    promises.JoinsGroups,
    promises.Administers,
    promises.ManyTopics,
):
    records = promises.WITHOUT_NULL_HEADERS
