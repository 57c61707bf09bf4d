"""What a test may ask of a Kafka client, whoever wrote it and in whatever language.

Each test_clients_*.py makes one client answer to these names; `promises.py` has what must then hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
ACKS = ("0", "1", "all")
WITHIN_S = 30  # longest that a client may take for one of these


class Record(NamedTuple):
    key: str | None
    value: str | None
    timestamp: int | None = None  # none: when the client sends it
    headers: tuple[tuple[str, str | None], ...] = ()


class Found(NamedTuple):
    """A record where a consumer met it."""

    topic: str
    offset: int
    record: Record


class Position(NamedTuple):
    """Where to begin to read. Of a time, the first record that is not older."""

    kind: Literal["earliest", "latest", "offset", "time"]
    number: int = 0


EARLIEST, LATEST = Position("earliest"), Position("latest")
Settings: TypeAlias = Mapping[str, str]


class Refused(Exception):
    """The broker's error code, as the client told it."""

    def __init__(self, code: int, words: str = "") -> None:
        super().__init__(f"{code} {words}")
        self.code = code


class Producer(Protocol):
    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
    ) -> None:
        """To partition 0, in this order. Returns when all are acknowledged, or sent if acks are 0."""


class Consumer(Protocol):
    """Its partitions are assigned by hand; there is no group."""

    def assign(self, topics: Sequence[str], position: Position) -> None:
        """Partition 0 of each, and nothing else from now on. Returns when the place is settled."""

    def read(self, count: int) -> list[Found]:
        """The next ones, as many as asked for."""


class Member(Protocol):
    """Its partitions are assigned by its group; where nothing was committed it begins at the earliest."""

    def join(self, group: str, topic: str) -> None: ...

    def await_partitions(self, count: int) -> None:
        """Until the group has given it so many."""

    def read(self, count: int) -> list[Found]: ...

    def commit(self) -> None:
        """What was read."""

    def leave(self) -> None: ...


class Administrator(Protocol):
    def create_topics(self, names: Sequence[str], partitions: int, settings: Settings) -> None: ...

    def topics(self) -> Mapping[str, int]:
        """How many partitions each has."""

    def delete_topics(self, names: Sequence[str]) -> None: ...

    def add_partitions(self, topic: str, total: int) -> None: ...

    def settings(self, topic: str) -> Settings: ...

    def change_settings(self, topic: str, settings: Settings) -> None: ...

    def offset(self, topic: str, position: Position) -> int:
        """Of partition 0; -1 where there is none."""

    def delete_records(self, topic: str, before: int) -> None:
        """Of partition 0."""


class LogDirReader(Protocol):
    def log_sizes(self) -> Mapping[str, int]:
        """How many bytes partition 0 of each topic has in the broker's directories."""
