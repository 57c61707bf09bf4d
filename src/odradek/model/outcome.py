"""What a coordinator decides: records to make durable, and the reply to release once they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

Reply = TypeVar("Reply")


class StoredRecord(NamedTuple):
    """A record of an internal topic: what it is about, and what holds now; no value: nothing any more."""

    key: bytes
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Reply]):
    records: tuple[StoredRecord, ...]
    reply: Reply
