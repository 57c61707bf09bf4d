"""The process's loggers as clients see and set them: Kafka's words for levels, our names for loggers."""

from __future__ import annotations

import logging

from odradek.broker.config_alterations import Alteration, Operation
from odradek.model.errors import ApiError, ErrorCode

ROOT = "root"
OURS = "odradek"
_TRACE = 5
_LEVELS = {
    "TRACE": _TRACE,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def levels() -> dict[str, str]:
    """Every logger that there is, with the level that holds for it."""
    return {name: _word(logger.getEffectiveLevel()) for name, logger in _loggers().items()}


def check(alterations: list[Alteration]) -> None:
    """`ApiError` if one of them cannot be done."""
    known = _loggers()
    for name, operation, word in alterations:
        if operation not in (Operation.SET, Operation.DELETE):
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"{operation.name} operation is not allowed for the BROKER_LOGGER resource",
            )
        if name not in known:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
        if operation is Operation.SET and word not in _LEVELS:
            raise ApiError(
                ErrorCode.INVALID_CONFIG,
                f"Cannot set the log level of {name} to {word} as it is not a supported log level. "
                f"Valid log levels are {', '.join(sorted(_LEVELS))}",
            )
        if operation is Operation.DELETE and name == ROOT:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed"
            )


def alter(alterations: list[Alteration]) -> None:
    known = _loggers()
    for name, operation, word in alterations:
        known[name].setLevel(_LEVELS[word] if operation is Operation.SET else logging.NOTSET)


def _loggers() -> dict[str, logging.Logger]:
    """Ours, and the root that all inherit from."""
    found = {ROOT: logging.getLogger()}
    for name in sorted(logging.root.manager.loggerDict):
        if name == OURS or name.startswith(f"{OURS}."):
            found[name] = logging.getLogger(name)
    return found


def _word(level: int) -> str:
    """The most severe of Kafka's levels that this one lets through."""
    return next((word for word, each in _LEVELS.items() if level <= each), "FATAL")
