from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from odradek.observe import request_log
from odradek.observe.logs import JsonLines, KeyValueLines, fields, start_logging


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """Loggers are the process's."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    names = ("odradek.request", "odradek.log")
    levels = [logging.getLogger(name).level for name in names]
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in zip(names, levels, strict=True):
        logging.getLogger(name).setLevel(before)


def record(message: str, *args: object, level: int = logging.INFO, **given: object) -> logging.LogRecord:
    made = logging.LogRecord("odradek.log", level, __file__, 1, message, args, None)
    made.created, made.msecs = 1_700_000_000.25, 250.0
    if given:
        made.__dict__.update(fields(**given))
    return made


def test_a_line_says_when_how_bad_where_and_what() -> None:
    line = KeyValueLines().format(record("%s is offline", "/data", level=logging.ERROR, reason="full"))
    assert line == (
        'time=2023-11-14T22:13:20.250Z level=ERROR logger=odradek.log message="/data is offline" reason=full'
    )


@pytest.mark.parametrize(
    ("level", "word"), [(logging.DEBUG, "DEBUG"), (logging.WARNING, "WARN"), (logging.CRITICAL, "FATAL")]
)
def test_levels_have_kafkas_names(level: int, word: str) -> None:
    assert f"level={word} " in KeyValueLines().format(record("x", level=level))


@pytest.mark.parametrize(
    "value", ["", "two words", 'a "quote"', "two\nlines", "a=b", "plain", "naïve", 3, None]
)
def test_a_line_stays_one_line_and_its_values_can_be_told_apart(value: object) -> None:
    line = KeyValueLines().format(record("x", key=value, next="1"))
    assert "\n" not in line
    found = re.search(r' key=("(?:[^"\\]|\\.)*"|[^ "=]+) next=1$', line)
    assert found is not None
    written = found[1]
    assert (json.loads(written) if written.startswith('"') else written) == str(value)


def test_a_json_line_is_an_object() -> None:
    line = JsonLines().format(record("%d logs", 3, directory="/data", count=3))
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "INFO",
        "logger": "odradek.log",
        "message": "3 logs",
        "directory": "/data",
        "count": 3,
    }


def test_what_was_raised_is_told_whole() -> None:
    stream = io.StringIO()
    start_logging(stream, ["INFO"], as_json=True)
    try:
        raise ValueError("no such thing")
    except ValueError:
        logging.getLogger("odradek.log").exception("failed")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["exception"].endswith("ValueError: no such thing")


def test_each_logger_has_its_level() -> None:
    stream = io.StringIO()
    start_logging(stream, ["WARN", "odradek.request=DEBUG"], as_json=False)
    logging.getLogger("odradek.log").info("not told")
    logging.getLogger("odradek.log").warning("told")
    request_log.answered(
        "Produce", 9, client="a client", peer="127.0.0.1:1234", size=100, answer_size=20, ms=1.23456
    )
    lines = [line.partition(" ")[2] for line in stream.getvalue().splitlines()]
    assert lines == [
        "level=WARN logger=odradek.log message=told",
        'level=DEBUG logger=odradek.request message="Produce v9" client="a client" peer=127.0.0.1:1234 '
        "size=100 answer_size=20 ms=1.235",
    ]


def test_requests_are_told_only_on_demand() -> None:
    start_logging(io.StringIO(), ["INFO"], as_json=False)
    assert not request_log.is_on()
    logging.getLogger("odradek.request").setLevel(logging.DEBUG)
    assert request_log.is_on()


def test_logging_that_starts_again_does_not_tell_everything_twice() -> None:
    first, second = io.StringIO(), io.StringIO()
    start_logging(first, ["INFO"], as_json=False)
    start_logging(second, ["INFO"], as_json=False)
    logging.getLogger("odradek.log").info("once")
    assert (first.getvalue(), second.getvalue().count("once")) == ("", 1)
