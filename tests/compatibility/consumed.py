"""What a consumer sees of a log: as Kafka's own consumer told of it, and as we read it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from odradek.log.log import PartitionLog, ReadUpTo
from odradek.wire.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, split
from odradek.wire.records import read_records


class Consumed(NamedTuple):
    """A record as its consumer sees it."""

    offset: int
    epoch: int
    timestamp: int
    timestamp_type: str
    key: str | None
    value: str | None
    headers: list[list[str | None]]


ByTopic: TypeAlias = dict[tuple[str, str], list[Consumed]]  # topic and isolation level -> its records


def told(lines: Iterable[str]) -> ByTopic:
    """What tests/golden/kafka-directory/Fill.java printed."""
    found: defaultdict[tuple[str, str], list[Consumed]] = defaultdict(list)
    for line in map(json.loads, lines):
        found[line.pop("topic"), line.pop("isolation")].append(Consumed(**line))
    return found


def read(log: PartitionLog, up_to: ReadUpTo, *, with_markers: bool = False) -> Iterator[Consumed]:
    """As a consumer does: fetch by fetch, aborted data left out where only committed data is asked for."""
    offset = log.log_start
    while (answer := log.read(offset, 1000, up_to)).slice is not None:
        found = answer.slice
        data = found.file.read(found.position, found.size)
        for at, header in split(data):
            offset = header.next_offset
            aborted = header.attributes & TRANSACTIONAL and any(
                each.producer_id == header.producer_id
                and each.first_offset <= header.base_offset < each.last_offset
                for each in answer.aborted
            )
            if aborted or (header.attributes & CONTROL and not with_markers):
                continue
            kind = "LogAppendTime" if header.attributes & LOG_APPEND_TIME else "CreateTime"
            for record in read_records(data, at):
                key, value = text(record.key), text(record.value)
                headers = [[name, text(content)] for name, content in record.headers]
                yield Consumed(
                    record.offset, header.leader_epoch, record.timestamp, kind, key, value, headers
                )


def text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
