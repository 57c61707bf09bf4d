"""franz-go: it produces, consumes, alone or in a group, and administers."""

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

GO = Path(__file__).parent / "go"


@pytest.fixture(scope="module")
def command(served: Served) -> list[str]:
    """How our program is run."""
    if shutil.which("go") is None:
        absent("`go` is not installed: franz-go cannot be compiled")

    def compile_into(directory: Path) -> None:
        ran = subprocess.run(["go", "build", "-o", directory, "."], cwd=GO, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()

    program = built("franz-go", sorted(GO.iterdir()), compile_into) / "compatibility"
    return [str(program), served.bootstrap]


@pytest.fixture(scope="module")
def client(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[TalkingClient]:
    with talking(command, tmp_path_factory.mktemp("franz-go") / "errors") as client:
        yield client


@pytest.fixture
def other(command: list[str], tmp_path: Path) -> Iterator[TalkingClient]:
    with talking(command, tmp_path / "errors") as other:
        yield other


class TestFranzGo(
    promises.Produces,
    promises.ProducesIdempotently,
    promises.Consumes,
    promises.JoinsGroups,
    promises.Administers,
    promises.ManyTopics,
    promises.SeesLogDirs,
):
    pass
