"""How a verb ends that cannot do what it was asked: the streams, words and exit codes of Kafka's tools.

Scripts look for the exit code, for what a tool prints on standard output, and for the names of Java's
exceptions; so those are given. Usage tables and stack traces are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, NamedTuple

import click

from odradek.client.failures import ClientError, Refused, Unreachable, Unsupported
from odradek.model.config.setting import ConfigError
from odradek.model.errors import ErrorCode

_COMMON = "org.apache.kafka.common.errors."
# Where the exception's name does not follow from the error's.
_CLASSES = {
    ErrorCode.UNKNOWN_SERVER_ERROR: "UnknownServerException",
    ErrorCode.CORRUPT_MESSAGE: "CorruptRecordException",
    ErrorCode.REQUEST_TIMED_OUT: "TimeoutException",
    ErrorCode.MESSAGE_TOO_LARGE: "RecordTooLargeException",
    ErrorCode.STALE_CONTROLLER_EPOCH: "ControllerMovedException",
    ErrorCode.OFFSET_METADATA_TOO_LARGE: "OffsetMetadataTooLarge",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "InvalidTopicException",
    ErrorCode.RECORD_LIST_TOO_LARGE: "RecordBatchTooLargeException",
    ErrorCode.TOPIC_ALREADY_EXISTS: "TopicExistsException",
    ErrorCode.INVALID_CONFIG: "InvalidConfigurationException",
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: "OutOfOrderSequenceException",
    ErrorCode.INVALID_PRODUCER_ID_MAPPING: "InvalidPidMappingException",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "InvalidTxnTimeoutException",
    ErrorCode.NON_EMPTY_GROUP: "GroupNotEmptyException",
}
# What Kafka's client says for a broker that gave a number only.
_MESSAGES = {
    ErrorCode.OFFSET_OUT_OF_RANGE: (
        "The requested offset is not within the range of offsets maintained by the server."
    ),
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
    ErrorCode.REQUEST_TIMED_OUT: "The request timed out.",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.GROUP_ID_NOT_FOUND: "The group id does not exist.",
    ErrorCode.NON_EMPTY_GROUP: "The group is not empty.",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: (
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it."
    ),
    ErrorCode.NOT_LEADER_OR_FOLLOWER: (
        "For requests intended only for the leader, this error indicates that the broker is not the current "
        "leader. For requests intended for any replica, this error indicates that the broker is not a "
        "replica of the topic partition."
    ),
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.POLICY_VIOLATION: "Request parameters do not satisfy the configured policy.",
}


class Told(NamedTuple):
    """What is printed before the end."""

    out: str = ""
    err: str = ""


class Impossible(Exception):
    """What was asked for makes no sense for this cluster, or in itself. `said_as` is Java's name of it."""

    def __init__(self, message: str, said_as: str = "java.lang.IllegalArgumentException") -> None:
        super().__init__(message)
        self.said_as = said_as


REPORTED = (ClientError, ConfigError, Impossible)


class Misused(click.ClickException):
    """The command line makes no sense."""

    exit_code = 1

    def show(self, file: IO[str] | None = None) -> None:
        click.echo(self.message, err=True, file=file)
        context = click.get_current_context(silent=True)
        if context is not None:
            click.echo(f"`{context.command_path} --help` lists what can be asked for.", err=True, file=file)


class Ended(click.ClickException):
    """The verb could not do it."""

    exit_code = 1

    def __init__(self, told: Told) -> None:
        super().__init__(told.err or told.out)
        self.told = told

    def show(self, file: IO[str] | None = None) -> None:
        if self.told.out:
            click.echo(self.told.out)
        if self.told.err:
            click.echo(self.told.err, err=True, file=file)


def plainly(failure: Exception, arguments: Sequence[str]) -> Told:
    del arguments
    return Told(err=f"{said_as(failure)}: {message(failure)}")


def said_as(failure: Exception) -> str:
    """Java's name for it."""
    if isinstance(failure, Refused):
        words = "".join(word.capitalize() for word in failure.error.name.split("_"))
        return _COMMON + _CLASSES.get(failure.error, words.removesuffix("Exception") + "Exception")
    if isinstance(failure, Impossible):
        return failure.said_as
    if isinstance(failure, Unreachable):
        return f"{_COMMON}TimeoutException"
    if isinstance(failure, Unsupported):
        return f"{_COMMON}UnsupportedVersionException"
    return "org.apache.kafka.common.config.ConfigException"


def message(failure: Exception) -> str:
    if isinstance(failure, Refused):
        return _MESSAGES.get(failure.error, str(failure)) if failure.detail is None else failure.detail
    return str(failure)
