"""What Kafka's tools printed, and what the cluster answered when ours asked for the same: the file format.

A file holds cases one below the other. Their first lines are written by hand, the others by `capture.py`:

    == the name of the case
    ! topics --create --topic orders        before it: one of our verbs, to bring the cluster into a state
    ! console-producer --topic TOPIC        or Kafka's console producer, given the lines of the file
    < {"partitions": []}                    lines of a file, which FILE in the arguments stands for
    $ --bootstrap-server BOOTSTRAP --list   the arguments; TOPIC is another one for each case
    exit 0
    > orders                                standard output of Kafka's tool
    >| orders                               its last line where that has no end
    2> Missing required argument "[topic]"  the first line of its standard error
    now 1795071358808                       what the clock said when ours was asked, if it looked
    @ 3 17 18                               what ours asked, and was told: lines of the file named .answers
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odradek.testing.recorded_cluster import Exchange

FILE = "FILE"
LUCK = 1  # the seed of what ours draws by chance


@dataclass
class Case:
    name: str
    before: list[str] = field(default_factory=list)
    file: list[str] = field(default_factory=list)
    arguments: str = ""
    exit: int = 0
    out: str = ""
    err: str | None = None
    now_ms: int | None = None
    exchanges: list[Exchange] = field(default_factory=list)

    def command_line(self, bootstrap: str, file: str | Path, topic: str = "TOPIC") -> list[str]:
        replaced = self.arguments.replace("BOOTSTRAP", bootstrap).replace(FILE, str(file))
        return shlex.split(replaced.replace("TOPIC", topic))

    @property
    def input(self) -> str:
        return "".join(f"{line}\n" for line in self.file)


@dataclass
class Recording:
    """All cases of one verb."""

    bootstrap: str = ""  # where the cluster was
    cases: list[Case] = field(default_factory=list)

    def case(self, name: str) -> Case:
        return next(each for each in self.cases if each.name == name)


def read(path: Path) -> Recording:
    answers = path.with_suffix(".answers")
    known = [Exchange.of_text(line) for line in answers.read_text().splitlines()] if answers.exists() else []
    recording = Recording()
    for line in path.read_text().split("\n"):
        mark, _, rest = line.partition(" ")
        if mark == "cluster":
            recording.bootstrap = rest
        elif mark == "==":
            recording.cases.append(Case(rest))
        elif mark:
            _read_line(recording.cases[-1], mark, rest, known)
    return recording


def _read_line(case: Case, mark: str, rest: str, known: Sequence[Exchange]) -> None:
    if mark == "!":
        case.before.append(rest)
    elif mark == "<":
        case.file.append(rest)
    elif mark == "$":
        case.arguments = rest
    elif mark == "exit":
        case.exit = int(rest)
    elif mark == ">":
        case.out += f"{rest}\n"
    elif mark == ">|":
        case.out += rest
    elif mark == "2>":
        case.err = rest
    elif mark == "now":
        case.now_ms = int(rest)
    else:
        assert mark == "@", f"{mark} {rest}"
        case.exchanges = [known[int(number)] for number in rest.split()]


def write(path: Path, recording: Recording) -> None:
    numbers: dict[Exchange, int] = {}
    lines = [f"cluster {recording.bootstrap}"]
    for case in recording.cases:
        for exchange in case.exchanges:
            numbers.setdefault(exchange, len(numbers))
        lines += ["", *_lines(case, [numbers[each] for each in case.exchanges])]
    path.write_text("\n".join(lines) + "\n")
    if numbers:
        path.with_suffix(".answers").write_text("".join(f"{each.as_text()}\n" for each in numbers))


def _lines(case: Case, exchanges: Iterable[int]) -> Iterator[str]:
    yield f"== {case.name}"
    yield from (f"! {each}" for each in case.before)
    yield from (f"< {each}" for each in case.file)
    yield f"$ {case.arguments}"
    yield f"exit {case.exit}"
    for line in case.out.splitlines(keepends=True):
        yield f"> {line[:-1]}" if line.endswith("\n") else f">| {line}"
    if case.err is not None:
        yield f"2> {case.err}"
    if case.now_ms is not None:
        yield f"now {case.now_ms}"
    numbers = " ".join(map(str, exchanges))
    if numbers:
        yield f"@ {numbers}"
