"""Log lines: when, how bad, where and what, one line an event, for people as for programs.

Where is the logger, named after its room: `odradek.broker.compaction`. Facts that a program may want stand
beside the sentence, by `extra=fields(...)`. A warning or an error says what to do about it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TextIO

_WORDS = {logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}  # the others are called as in Kafka
_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}


def start_logging(stream: TextIO, levels: Sequence[str], *, as_json: bool) -> None:
    """Of the whole process, from now on. `levels` are what odradek.log.levels says."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if as_json else KeyValueLines())
    root = logging.getLogger()
    for other in list(root.handlers):
        root.removeHandler(other)
    root.addHandler(handler)
    for item in levels:
        logger, _, level = item.rpartition("=")
        logging.getLogger(logger or None).setLevel(_LEVELS[level])


def fields(**values: object) -> dict[str, object]:
    """For `extra=`."""
    return {"fields": values}


class _Lines(logging.Formatter):
    def __init__(self) -> None:
        super().__init__()
        self._second = -1  # the last line's, and how it is written
        self._second_written = ""

    def _facts(self, record: logging.LogRecord) -> Iterator[tuple[str, object]]:
        yield "time", self._time(record)
        yield "level", _WORDS.get(record.levelno, record.levelname)
        yield "logger", record.name
        yield "message", record.getMessage()
        given = getattr(record, "fields", None)
        if isinstance(given, Mapping):
            yield from given.items()

    def _time(self, record: logging.LogRecord) -> str:
        second = int(record.created)
        if second != self._second:
            self._second = second
            self._second_written = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._second_written}.{int(record.msecs):03}Z"


class KeyValueLines(_Lines):
    """time=2026-11-19T03:00:00.123Z level=WARN logger=odradek.log message="/data is offline: ..." """

    def format(self, record: logging.LogRecord) -> str:
        line = " ".join(f"{key}={_written(value)}" for key, value in self._facts(record))
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonLines(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        facts = dict(self._facts(record))
        if record.exc_info:
            facts["exception"] = self.formatException(record.exc_info)
        return json.dumps(facts, default=str, ensure_ascii=False)


def _written(value: object) -> str:
    text = str(value)
    is_plain = text and text.isprintable() and not any(each in text for each in ' "=')
    return text if is_plain else json.dumps(text, ensure_ascii=False)
