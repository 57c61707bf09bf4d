"""The small text files of a data directory: offsets, leader epochs, and what a directory says of itself.

Every one is written whole (`Disk.replace_file`), so a reader finds the old one or the new one and never half
of either. A file that is not there holds nothing; one that makes no sense is `Malformed`, by file and line.
docs/formats/checkpoints.md shows each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from odradek.log.disk import Disk
from odradek.model.errors import StorageError
from odradek.model.ids import Partition, TopicId, id_bytes, id_text

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANED_UNTIL = "cleaner-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

NO_BROKER_EPOCH = -1
_VERSION = "0"


class Malformed(StorageError):
    """The disk gave what it had, and that makes no sense."""


class ForeignDirectory(Exception):
    """A data directory that belongs to somebody else. The broker that was given it must not start."""


class EpochStart(NamedTuple):
    """A leader epoch and the offset of its first batch."""

    epoch: int
    start_offset: int


class MetaProperties(NamedTuple):
    """Whose directory this is. A directory never used by a broker of a cluster lacks one or both."""

    broker_id: int | None
    cluster_id: str | None


# -- offsets and epochs: a version, a count, a line an entry ------------------------------------------------


def read_offsets(disk: Disk, path: str) -> dict[Partition, int]:
    """Any of the four `*-offset-checkpoint` files."""
    offsets = {}
    for line, (topic, number, offset) in _entries(disk, path, 3):
        offsets[Partition(topic, _number(path, line, number))] = _number(path, line, offset)
    return offsets


def write_offsets(disk: Disk, path: str, offsets: Mapping[Partition, int]) -> None:
    _write_entries(disk, path, [f"{at.topic} {at.number} {offset}" for at, offset in offsets.items()])


def read_epochs(disk: Disk, path: str) -> list[EpochStart]:
    """A `leader-epoch-checkpoint`, oldest epoch first."""
    epochs = [
        EpochStart(_number(path, line, epoch), _number(path, line, start))
        for line, (epoch, start) in _entries(disk, path, 2)
    ]
    return sorted(epochs)


def write_epochs(disk: Disk, path: str, epochs: Iterable[EpochStart]) -> None:
    _write_entries(disk, path, [f"{epoch} {start}" for epoch, start in epochs])


def _entries(disk: Disk, path: str, width: int) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of every entry."""
    lines = _lines(disk, path)
    if not lines:
        return  # Kafka makes its files empty on a first start, and writes to them later
    if lines[:1] != [_VERSION]:
        raise _malformed(path, 1, f"version {_VERSION} expected")
    count = _number(path, 2, lines[1] if len(lines) > 1 else "")
    if count != len(lines) - 2:
        raise _malformed(path, 2, f"{count} entries promised, {len(lines) - 2} there")
    for line, text in enumerate(lines[2:], 3):
        words = text.split()
        if len(words) != width:
            raise _malformed(path, line, f"{width} words expected, found {text!r}")
        yield line, words


def _write_entries(disk: Disk, path: str, entries: list[str]) -> None:
    disk.replace_file(path, "\n".join([_VERSION, str(len(entries)), *entries, ""]).encode())


# -- a partition's own identity -----------------------------------------------------------------------------


def read_partition_metadata(disk: Disk, path: str) -> TopicId | None:
    """The id of the topic that a partition's directory belongs to."""
    lines = _lines(disk, path)
    if lines is None:
        return None
    said = _properties(path, lines, ":")
    if said.get("version") != (1, "0"):
        raise _malformed(path, 1, "'version: 0' expected")
    number, text = said.get("topic_id", (2, ""))
    try:
        return TopicId(id_bytes(text))
    except ValueError as error:
        raise _malformed(path, number, str(error)) from None


def write_partition_metadata(disk: Disk, path: str, topic_id: TopicId) -> None:
    disk.replace_file(path, f"version: 0\ntopic_id: {id_text(topic_id)}".encode())


# -- a directory's identity ---------------------------------------------------------------------------------


def read_meta(disk: Disk, path: str) -> MetaProperties | None:
    """`meta.properties` as a broker of a ZooKeeper cluster keeps it."""
    lines = _lines(disk, path)
    if lines is None:
        return None
    said = _properties(path, lines, "=")
    number, version = said.get("version", (0, "0"))
    if version == "1":
        raise ForeignDirectory(f"{path}: version 1 is a KRaft broker's; only ZooKeeper mode is served")
    if version != "0":
        raise _malformed(path, number, f"version {version!r} is unknown")
    broker_id = said.get("broker.id")
    cluster_id = said.get("cluster.id")
    return MetaProperties(
        None if broker_id is None else _number(path, *broker_id),
        None if cluster_id is None else cluster_id[1],
    )


def write_meta(disk: Disk, path: str, meta: MetaProperties) -> None:
    said = {"broker.id": meta.broker_id, "version": 0, "cluster.id": meta.cluster_id}
    lines = [f"{key}={value}" for key, value in said.items() if value is not None]
    disk.replace_file(path, "\n".join(["#", *lines, ""]).encode())


def read_clean_shutdown(disk: Disk, path: str) -> int | None:
    """The broker epoch that a clean stop noted; None after a crash. That the file is there says it all: older
    brokers leave it empty."""
    try:
        noted = json.loads(disk.read_file(path))
    except FileNotFoundError:
        return None
    except ValueError:
        return NO_BROKER_EPOCH
    epoch = noted.get("brokerEpoch") if isinstance(noted, dict) else None
    return epoch if isinstance(epoch, int) else NO_BROKER_EPOCH


def write_clean_shutdown(disk: Disk, path: str, broker_epoch: int = NO_BROKER_EPOCH) -> None:
    noted = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    disk.replace_file(path, noted.encode())


# -- lines, words, numbers ----------------------------------------------------------------------------------


def _lines(disk: Disk, path: str) -> list[str] | None:
    try:
        return disk.read_file(path).decode().splitlines()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Malformed(f"{path}: no text at byte {error.start}") from None


def _properties(path: str, lines: list[str], separator: str) -> dict[str, tuple[int, str]]:
    """Key -> (line, value). Of Java's rules those that brokers use: comments, backslashes that escape."""
    said = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        key, found, value = line.partition(separator)
        if not found:
            raise _malformed(path, number, f"{separator!r} expected in {line!r}")
        said[key.strip()] = (number, re.sub(r"\\(.)", r"\1", value.strip()))
    return said


def _number(path: str, line: int, word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise _malformed(path, line, f"number expected, found {word!r}") from None


def _malformed(path: str, line: int, what: str) -> Malformed:
    return Malformed(f"{path}: line {line}: {what}")
