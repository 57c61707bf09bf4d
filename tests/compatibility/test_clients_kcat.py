"""kcat: it produces and consumes, alone or in a group; every call is a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest
from tests.compatibility import promises
from tests.compatibility.clients import WITHIN_S, Found, Position, Record, Refused
from tests.compatibility.conftest import absent
from tests.compatibility.served import Served
from tests.compatibility.test_clients_librdkafka import Librdkafka

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

REFUSALS = {"Message size too large": promises.MESSAGE_TOO_LARGE}
KEY_ENDS, RECORD_ENDS = "\x01", "\x02"


class Kcat:
    def __init__(self, bootstrap: str, errors: Path) -> None:
        self._command = ["kcat", "-b", bootstrap, "-X", f"message.max.bytes={20 * promises.MIB}"]
        self._errors = errors
        self._reading: subprocess.Popen[str] | None = None

    def close(self) -> None:
        if self._reading is not None:
            self._reading.kill()
            self._reading.communicate()
        self._reading = None

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
    ) -> None:
        settings = ["-z", codec, "-X", f"acks={acks}", "-X", f"enable.idempotence={str(idempotent).lower()}"]
        for headers, some in groupby(records, lambda record: record.headers):  # it says them once, for all
            command = [*self._command, "-P", "-t", topic, "-p", "0", *settings]
            command += ["-K", KEY_ENDS, "-D", RECORD_ENDS, "-Z"]
            for name, value in headers:
                command += ["-H", name if value is None else f"{name}={value}"]
            spoken = RECORD_ENDS.join(f"{each.key or ''}{KEY_ENDS}{each.value or ''}" for each in some)
            ran = subprocess.run(
                command, input=spoken, capture_output=True, text=True, timeout=WITHIN_S, check=False
            )
            for words, code in REFUSALS.items():
                if words in ran.stderr:
                    raise Refused(code, ran.stderr)
            assert ran.returncode == 0, ran.stderr

    def assign(self, topics: Sequence[str], position: Position) -> None:
        (topic,) = topics
        where = {"earliest": "beginning", "latest": "end", "time": f"s@{position.number}"}
        self._start("-C", "-t", topic, "-p", "0", "-o", where.get(position.kind, str(position.number)))
        if position.kind == "latest":
            self._await_end()

    def read(self, count: int) -> list[Found]:
        assert self._reading is not None
        assert self._reading.stdout is not None
        watch = threading.Timer(WITHIN_S, self._reading.kill)
        watch.start()
        lines = [self._reading.stdout.readline() for _ in range(count)]
        watch.cancel()
        assert all(lines), f"{sum(map(bool, lines))} of {count} came: {self._errors.read_text()}"
        return [_found(line) for line in lines]

    def read_in_group(self, group: str, topic: str, count: int) -> list[Found]:
        """The next ones for the group. Leaving, it commits them."""
        self._start("-c", str(count), "-G", group, topic)
        found = self.read(count)
        assert self._reading is not None
        assert self._reading.wait(WITHIN_S) == 0
        return found

    def _start(self, *arguments: str) -> None:
        self.close()
        with open(self._errors, "w") as errors:
            self._reading = subprocess.Popen(
                [*self._command, "-u", "-J", "-X", "auto.offset.reset=earliest", *arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def _await_end(self) -> None:
        deadline = time.monotonic() + WITHIN_S
        while "Reached end of topic" not in self._errors.read_text():
            assert time.monotonic() < deadline, self._errors.read_text()
            time.sleep(0.01)


def _found(line: str) -> Found:
    told = json.loads(line)
    names_and_values = told.get("headers", [])
    headers = tuple(zip(names_and_values[::2], names_and_values[1::2], strict=True))
    return Found(told["topic"], told["offset"], Record(told["key"], told["payload"], told["ts"], headers))


@pytest.fixture(scope="module")
def client(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcat]:
    if shutil.which("kcat") is None:
        absent("`kcat` is not installed: a package of Debian's has it")
    client = Kcat(served.bootstrap, tmp_path_factory.mktemp("kcat") / "errors")
    yield client
    client.close()


@pytest.fixture(scope="module")
def writer(served: Served) -> Iterator[Librdkafka]:
    """kcat cannot say when a record was made."""
    writer = Librdkafka(served.bootstrap)
    yield writer
    writer.close()


class TestKcat(promises.Produces, promises.ProducesIdempotently, promises.Consumes):
    # Of nothing it makes a null, and the time is always now.
    records = tuple(
        record._replace(timestamp=None, headers=tuple(each for each in record.headers if each[1] != ""))
        for record in promises.RECORDS
        if record.value != ""
    )

    def test_a_group_goes_on_where_it_was_left(self, client: Kcat, written: str) -> None:
        assert [each.offset for each in client.read_in_group("kcat", written, 6)] == list(range(6))
        assert [each.offset for each in client.read_in_group("kcat", written, 4)] == list(range(6, 10))
