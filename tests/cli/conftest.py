"""Running a verb as a shell would, on a cluster that is a recording."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from tests.golden.cli.recordings import LUCK, Case, Recording, read

from odradek.cli.main import main
from odradek.cli.reach import Reach
from odradek.testing.recorded_cluster import RecordedCluster
from odradek.testing.sim_clock import SimClock
from odradek.testing.sim_entropy import SeededEntropy

RECORDINGS = Path(__file__).parents[1] / "golden" / "cli"


class Ran(NamedTuple):
    exit: int
    out: str
    err: str


def run(*arguments: str, reach: Reach | None = None, stdin: str = "") -> Ran:
    ran = CliRunner().invoke(main, arguments, obj=reach, input=stdin)
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


def recorded(verb: str) -> Recording:
    return read(RECORDINGS / f"{verb}.txt")


def replay(verb: str, case: Case, recording: Recording, home: Path, *more: str) -> Ran:
    """Our verb, asked what Kafka's tool was asked, told what the cluster said."""
    file = home / "FILE"
    file.write_text("".join(f"{line}\n" for line in case.file))
    clock = None if case.now_ms is None else SimClock(case.now_ms)
    reach = Reach(lambda _: RecordedCluster(case.exchanges), clock, SeededEntropy(LUCK))
    return run(verb, *case.command_line(recording.bootstrap, file), *more, reach=reach)


def assert_as_recorded(ran: Ran, case: Case) -> None:
    """Of standard error scripts look at the first line."""
    assert ran.out == case.out
    assert ran.exit == case.exit
    assert ran.err.partition("\n")[0] == (case.err or "")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes a `case` runs for every recorded case of the verbs that its file names as VERBS."""
    if "case" not in metafunc.fixturenames:
        return
    verb: str = metafunc.module.VERB
    cases = recorded(verb).cases
    metafunc.parametrize("case", cases, ids=[each.name for each in cases])
