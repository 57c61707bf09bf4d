"""The rules of the house: who may import whom, who may touch the world, how big a thing may grow.

Each rule reads one source file as a syntax tree and yields complaints. Each is shown to bite by a planted
violation at the end of this file; a rule without one fails `test_every_rule_is_shown_to_bite`.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "odradek"

# Which rooms a room may import, itself aside. A room is a folder of src/odradek.
ROOMS: dict[str, set[str]] = {
    "model": set(),
    "wire": {"model"},
    "replication": {"model"},
    "controller": {"model"},
    "security": {"model"},
    "quotas": {"model"},
    "groups": {"model", "wire"},
    "transactions": {"model", "wire"},
    "log": {"model", "wire"},
    "coordination": {"model"},
    "runtime": set(),
    "observe": {"model"},
    "net": {"model", "wire", "runtime", "observe"},
    "client": {"model", "wire", "net", "runtime"},
    "pipelines": {"wire"},
}
BELOW_THE_BROKER = set(ROOMS) - {"client", "pipelines"}
ROOMS["broker"] = BELOW_THE_BROKER
DOORS = {"cli", "console", "testing"}  # above everything; what each file needs is its own affair
PURE = {"model", "wire", "replication", "controller", "groups", "transactions", "security", "quotas"}

# Which files may import a module that touches the world. A trailing slash names a whole room.
WORLD: dict[str, set[str]] = {
    "time": {"runtime/clock.py", "runtime/pace.py"},
    "random": {"runtime/entropy.py", "testing/"},
    "secrets": {"runtime/entropy.py"},
    "threading": {"runtime/"},
    "concurrent": {"runtime/"},
    "multiprocessing": {"runtime/"},
    "subprocess": {"runtime/"},
    "signal": {"runtime/"},
    "socket": {"net/", "testing/"},
    "ssl": {"net/", "testing/"},
    "select": {"net/"},
    "sqlite3": {"coordination/embedded.py"},
    "kazoo": {"coordination/zookeeper.py"},
    "prometheus_client": {"observe/"},
    "pyspark": {"pipelines/"},
    "mmap": {"log/disk.py"},
    "fcntl": {"log/disk.py"},
    "os": {"log/", "net/", "runtime/", "cli/", "testing/", "broker/node.py"},
    "shutil": {"log/disk.py", "cli/", "testing/"},
    "tempfile": {"testing/"},
    "asyncio": {"coordination/", "net/", "runtime/", "client/", "broker/", "cli/", "console/", "testing/"},
}
OPENS_FILES = {"log/disk.py", "net/tls.py", "runtime/process.py", "cli/", "testing/"}
FILE_CALLS = {"open", "os.open", "io.open", "os.fdopen"}
CLOCK_CALLS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
ENTROPY_CALLS = {"uuid.uuid1", "uuid.uuid4", "uuid1", "uuid4", "os.urandom"}

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 500


class Source(NamedTuple):
    name: str  # below src/odradek, e.g. "log/disk.py"
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        return self.name.split("/")[0] if "/" in self.name else ""


Rule = Callable[[Source], Iterator[str]]


def rooms_import_only_rooms_below(source: Source) -> Iterator[str]:
    if source.room in DOORS or not source.room:
        return
    for line, module in _imports(source.tree):
        parts = module.split(".")
        below = ROOMS[source.room] | {source.room}
        if parts[0] == "odradek" and len(parts) > 1 and parts[1] not in below:
            yield f"line {line}: {source.room} may not import {parts[1]}"


def pure_rooms_have_nothing_asynchronous(source: Source) -> Iterator[str]:
    if source.room in PURE:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
                yield f"line {node.lineno}: {source.room} is pure and decides at once"


def the_world_is_touched_where_listed(source: Source) -> Iterator[str]:
    for line, module in _imports(source.tree):
        allowed = WORLD.get(module.split(".")[0])
        if allowed is not None and not _listed(source.name, allowed):
            yield f"line {line}: may not import {module}"


def files_are_opened_where_listed(source: Source) -> Iterator[str]:
    if not _listed(source.name, OPENS_FILES):
        yield from (f"line {line}: opens a file" for line, call in _calls(source.tree) if call in FILE_CALLS)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and node.attr in {"read_text", "write_text", "write_bytes"}:
                yield f"line {node.lineno}: opens a file by {node.attr}"


def clocks_are_read_in_one_place(source: Source) -> Iterator[str]:
    if source.name != "runtime/clock.py":
        yield from (
            f"line {line}: reads a clock" for line, call in _calls(source.tree) if call in CLOCK_CALLS
        )


def entropy_is_drawn_in_one_place(source: Source) -> Iterator[str]:
    if source.name != "runtime/entropy.py":
        yield from (
            f"line {line}: draws entropy" for line, call in _calls(source.tree) if call in ENTROPY_CALLS
        )


def failures_are_caught_by_name(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler):
            caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
            for each in caught:
                if each is None or (isinstance(each, ast.Name) and each.id in {"Exception", "BaseException"}):
                    yield f"line {node.lineno}: catches everything"


def no_state_hides_in_a_module(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            yield f"line {node.lineno}: global {', '.join(node.names)}"


def every_file_says_what_it_is_for(source: Source) -> Iterator[str]:
    if not ast.get_docstring(source.tree):
        yield "has no module docstring"
    if Path(source.name).stem in {"utils", "util", "helpers", "common", "misc"}:
        yield "is named after nothing"


def things_stay_small(source: Source) -> Iterator[str]:
    lines = source.text.count("\n")
    if lines > FILE_LINES_MAX:
        yield f"{lines} lines, {FILE_LINES_MAX} at most"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                yield f"line {node.lineno}: {node.name} has {length} lines, {FUNCTION_LINES_MAX} at most"


def any_is_for_the_codec(source: Source) -> Iterator[str]:
    if source.name != "wire/codec.py":
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name) and node.id == "Any":
                yield f"line {node.lineno}: Any"


def exceptions_to_the_type_checker_have_a_code(source: Source) -> Iterator[str]:
    for number, line in enumerate(source.text.splitlines(), 1):
        if re.search(r"#\s*type:\s*ignore(?!\[)", line) or re.search(r"#\s*noqa(?!: ?[A-Z])", line):
            yield f"line {number}: a bare ignore"


RULES: tuple[Rule, ...] = (
    rooms_import_only_rooms_below,
    pure_rooms_have_nothing_asynchronous,
    the_world_is_touched_where_listed,
    files_are_opened_where_listed,
    clocks_are_read_in_one_place,
    entropy_is_drawn_in_one_place,
    failures_are_caught_by_name,
    no_state_hides_in_a_module,
    every_file_says_what_it_is_for,
    things_stay_small,
    any_is_for_the_codec,
    exceptions_to_the_type_checker_have_a_code,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps(rule: Rule) -> None:
    complaints = [f"{source.name}: {each}" for source in _house() for each in rule(source)]
    assert not complaints, "\n".join(complaints)


def test_every_test_mirrors_a_source_file() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    strays = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.relative_to(ROOT / "tests").parts[0] in rooms and not _mirrors(path)
    ]
    assert not strays, f"these test no file of their name: {strays}"


def test_the_project_names_no_registry_and_no_machine() -> None:
    """What a checkout needs, ordinary package clients fetch as they are set up; no file knows from where."""
    banned = (
        r"p[y]pi\.org|pytho[n]hosted|rep[o]1\.maven|repo\.mave[n]|registry\.n[p]mjs|static\.crate[s]|/wor[k]/"
    )
    found = subprocess.run(
        ["git", "grep", "-n", "-I", "-i", "-E", banned], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.stdout == ""


# -- each rule bites ---------------------------------------------------------------------------------------

PLANTED: list[tuple[Rule, str, str]] = [
    (rooms_import_only_rooms_below, "model/planted.py", "from odradek.wire import batch"),
    (rooms_import_only_rooms_below, "log/planted.py", "import odradek.broker.node"),
    (rooms_import_only_rooms_below, "broker/planted.py", "from odradek.client import admin"),
    (pure_rooms_have_nothing_asynchronous, "groups/planted.py", "async def decide() -> None: ..."),
    (the_world_is_touched_where_listed, "log/planted.py", "import time"),
    (the_world_is_touched_where_listed, "replication/planted.py", "from random import Random"),
    (the_world_is_touched_where_listed, "model/planted.py", "import socket"),
    (the_world_is_touched_where_listed, "wire/planted.py", "import os"),
    (the_world_is_touched_where_listed, "broker/planted.py", "import threading"),
    (the_world_is_touched_where_listed, "broker/planted.py", "def late() -> None:\n    import sqlite3"),
    (files_are_opened_where_listed, "log/segment.py", "open('x')"),
    (files_are_opened_where_listed, "broker/planted.py", "Path('x').read_text()"),
    (clocks_are_read_in_one_place, "broker/planted.py", "datetime.now()"),
    (entropy_is_drawn_in_one_place, "broker/planted.py", "uuid.uuid4()"),
    (failures_are_caught_by_name, "log/planted.py", "try:\n    f()\nexcept Exception:\n    pass"),
    (failures_are_caught_by_name, "log/planted.py", "try:\n    f()\nexcept:\n    pass"),
    (
        failures_are_caught_by_name,
        "log/planted.py",
        "try:\n    f()\nexcept (OSError, BaseException):\n    pass",
    ),
    (no_state_hides_in_a_module, "log/planted.py", "def f() -> None:\n    global x\n    x = 1"),
    (every_file_says_what_it_is_for, "log/planted.py", "x = 1"),
    (every_file_says_what_it_is_for, "log/utils.py", '"""Things."""'),
    (things_stay_small, "log/planted.py", "def f() -> None:\n" + "    x = 1\n" * 61),
    (things_stay_small, "log/planted.py", "x = 1\n" * 501),
    (any_is_for_the_codec, "log/planted.py", "x: Any = 1"),
    (exceptions_to_the_type_checker_have_a_code, "log/planted.py", "x = 1  # type: ignore"),
]


@pytest.mark.parametrize(("rule", "name", "text"), PLANTED)
def test_a_planted_violation_is_found(rule: Rule, name: str, text: str) -> None:
    assert list(rule(Source(name, text, ast.parse(text))))


def test_every_rule_is_shown_to_bite() -> None:
    assert {rule for rule, _, _ in PLANTED} == set(RULES)


# -- reading the tree --------------------------------------------------------------------------------------


@cache
def _house() -> list[Source]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        found.append(Source(path.relative_to(SOURCE).as_posix(), text, ast.parse(text)))
    assert found
    return found


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            yield node.lineno, module
            if module == "odradek":
                yield from ((node.lineno, f"odradek.{alias.name}") for alias in node.names)


def _calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def _listed(name: str, allowed: set[str]) -> bool:
    return any(name == each or (each.endswith("/") and name.startswith(each)) for each in allowed)


def _mirrors(test: Path) -> bool:
    """tests/log/test_index.py mirrors log/index.py; test_index_recovery.py may mirror it as well."""
    folder = SOURCE / test.relative_to(ROOT / "tests").parent
    words = test.stem.removeprefix("test_").split("_")
    names = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    return any((folder / f"{name}.py").exists() or (folder / name).is_dir() for name in names)
