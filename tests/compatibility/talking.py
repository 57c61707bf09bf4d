"""A client in another language: a program of ours beside it does what it is asked, a line of JSON each.

    {"do": "read", "count": 2}     ->     {"answer": [...]}   or   {"refused": 10, "words": "..."}

The names of what can be done, and of their arguments, are those of `clients.py`.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from tests.compatibility.clients import WITHIN_S, Found, Position, Record, Refused, Settings

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"


class TalkingClient:
    """Answers to all that a client can be asked for; what its program cannot do, no test may ask."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process = process
        self._errors = errors

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
    ) -> None:
        told = [record._asdict() for record in records]
        self._ask("produce", topic=topic, records=told, codec=codec, acks=acks, idempotent=idempotent)

    def assign(self, topics: Sequence[str], position: Position) -> None:
        self._ask("assign", topics=topics, position=position._asdict())

    def read(self, count: int) -> list[Found]:
        answer = self._ask("read", count=count)
        assert isinstance(answer, list)
        assert len(answer) == count, f"{len(answer)} of {count} records came: {answer}"
        return [_found(**each) for each in answer]

    def join(self, group: str, topic: str) -> None:
        self._ask("join", group=group, topic=topic)

    def await_partitions(self, count: int) -> None:
        self._ask("await_partitions", count=count)

    def commit(self) -> None:
        self._ask("commit")

    def leave(self) -> None:
        self._ask("leave")

    def create_topics(self, names: Sequence[str], partitions: int, settings: Settings) -> None:
        self._ask("create_topics", names=names, partitions=partitions, settings=settings)

    def topics(self) -> Mapping[str, int]:
        answer = self._ask("topics")
        assert isinstance(answer, dict)
        return answer

    def delete_topics(self, names: Sequence[str]) -> None:
        self._ask("delete_topics", names=names)

    def add_partitions(self, topic: str, total: int) -> None:
        self._ask("add_partitions", topic=topic, total=total)

    def settings(self, topic: str) -> Settings:
        answer = self._ask("settings", topic=topic)
        assert isinstance(answer, dict)
        return answer

    def change_settings(self, topic: str, settings: Settings) -> None:
        self._ask("change_settings", topic=topic, settings=settings)

    def offset(self, topic: str, position: Position) -> int:
        answer = self._ask("offset", topic=topic, position=position._asdict())
        assert isinstance(answer, int)
        return answer

    def delete_records(self, topic: str, before: int) -> None:
        self._ask("delete_records", topic=topic, before=before)

    def log_sizes(self) -> Mapping[str, int]:
        answer = self._ask("log_sizes")
        assert isinstance(answer, dict)
        return answer

    def _ask(self, what: str, **arguments: Json) -> Json:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended; what it said then is shown below
            self._process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
            self._process.stdin.flush()
        watch = threading.Timer(2 * WITHIN_S, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watch.cancel()
        assert line, f"{what}: the program ended or was too slow\n{self._errors.read_text()[-5000:]}"
        answer = json.loads(line)
        if "refused" in answer:
            raise Refused(answer["refused"], answer["words"])
        told: Json = answer["answer"]
        return told


def _found(topic: str, offset: int, record: Mapping[str, object]) -> Found:
    headers = record["headers"]
    assert isinstance(headers, list)
    plain = {**record, "headers": tuple((name, value) for name, value in headers)}
    return Found(topic, offset, Record(**plain))  # type: ignore[arg-type]


@contextmanager
def talking(command: Sequence[str], errors: Path) -> Iterator[TalkingClient]:
    """The program runs as long as the block; what it complains of goes to the file `errors`."""
    with (
        open(errors, "w") as stderr,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process,
    ):
        try:
            yield TalkingClient(process, errors)
        finally:
            process.kill()
