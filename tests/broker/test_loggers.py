"""What clients see of our loggers, and set."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from odradek.broker import loggers
from odradek.broker.config_alterations import Alteration, Operation
from odradek.model.errors import ApiError, ErrorCode

NAME = "odradek.broker.test_loggers"
SET, DELETE, APPEND, SUBTRACT = Operation


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger(NAME)
    before = logging.getLogger().level
    yield logger
    logger.setLevel(logging.NOTSET)
    logging.getLogger().setLevel(before)


@pytest.mark.parametrize(
    ("word", "level"),
    [("TRACE", 5), ("DEBUG", 10), ("INFO", 20), ("WARN", 30), ("ERROR", 40), ("FATAL", 50)],
)
def test_a_level_is_set_and_seen(logger: logging.Logger, word: str, level: int) -> None:
    alteration = Alteration(NAME, SET, word)
    loggers.check([alteration])
    loggers.alter([alteration])
    assert logger.level == level
    assert loggers.levels()[NAME] == word


def test_a_logger_without_a_level_shows_the_one_it_inherits(logger: logging.Logger) -> None:
    logger.setLevel(logging.DEBUG)
    loggers.alter([Alteration("root", SET, "ERROR")])
    assert loggers.levels()[NAME] == "DEBUG"
    loggers.alter([Alteration(NAME, DELETE, "")])
    assert loggers.levels()[NAME] == "ERROR"


def test_a_level_between_two_is_shown_as_what_it_lets_through(logger: logging.Logger) -> None:
    logger.setLevel(35)
    assert loggers.levels()[NAME] == "ERROR"
    logger.setLevel(99)
    assert loggers.levels()[NAME] == "FATAL"


def test_other_peoples_loggers_are_not_ours_to_show() -> None:
    logging.getLogger("somebody.else")
    assert all(name == "root" or name.split(".")[0] == "odradek" for name in loggers.levels())


@pytest.mark.parametrize(
    ("alteration", "error"),
    [
        (Alteration(NAME, APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
        (Alteration(NAME, SUBTRACT, "INFO"), ErrorCode.INVALID_REQUEST),
        (Alteration(NAME, SET, "info"), ErrorCode.INVALID_CONFIG),
        (Alteration(NAME, SET, "OFF"), ErrorCode.INVALID_CONFIG),
        (Alteration("odradek.nope", SET, "INFO"), ErrorCode.INVALID_CONFIG),
        (Alteration("root", DELETE, ""), ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_set_is_refused(alteration: Alteration, error: ErrorCode) -> None:
    with pytest.raises(ApiError) as refusal:
        loggers.check([alteration])
    assert refusal.value.error is error
