"""A cluster that answers from a recording: what was asked of which broker, and what it said.

`Recorder` stands between a client and a real cluster and writes down; `RecordedCluster` gives the same
answers to the same questions, in whatever order they come. A question asked twice in a recording has two
answers, and the last one stays.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from odradek.client.connections import API_VERSIONS, Connection, Connector
from odradek.net.port import Address
from odradek.wire.apis import API_BY_KEY
from odradek.wire.frame import read_response, request_frame, response_frame

if TYPE_CHECKING:
    from odradek.wire.apis import Api
    from odradek.wire.parts import Part


class Exchange(NamedTuple):
    """One question and its answer; both as frames without size and correlation id that matter."""

    broker: Address
    api: int
    version: int
    request: bytes
    response: bytes

    def as_text(self) -> str:
        """One line: broker, API, version, question, answer."""
        request, response = (base64.b64encode(each).decode() for each in (self.request, self.response))
        return f"{self.broker} {API_BY_KEY[self.api].name}({self.api}) v{self.version} {request} {response}"

    @staticmethod
    def of_text(line: str) -> Exchange:
        broker, api, version, request, response = line.split(" ")
        host, _, port = broker.rpartition(":")
        return Exchange(
            Address(host, int(port)),
            int(api[api.index("(") + 1 : -1]),
            int(version[1:]),
            base64.b64decode(request),
            base64.b64decode(response),
        )


class Recorder:
    """A connector that writes down what goes over the connections of another one."""

    def __init__(self, connector: Connector) -> None:
        self.exchanges: list[Exchange] = []
        self._connector = connector

    async def connect(self, address: Address) -> Connection:
        return _Recording(await self._connector.connect(address), address, self.exchanges)


class _Recording:
    def __init__(self, connection: Connection, address: Address, exchanges: list[Exchange]) -> None:
        self._connection = connection
        self._address = address
        self._exchanges = exchanges

    @property
    def closed(self) -> str | None:
        return self._connection.closed

    async def ask(self, api: Api, version: int, request: object) -> object:
        response = await self._connection.ask(api, version, request)
        asked = _asked(api, version, request)
        answered = _joined(response_frame(api, version, 0, response))
        self._exchanges.append(Exchange(self._address, api.key, version, asked, answered))
        return response

    def close(self) -> None:
        self._connection.close()


class RecordedCluster:
    """Connects to brokers that are a recording."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._answers: dict[tuple[Address, int, int, bytes], list[bytes]] = {}
        for each in exchanges:
            question = (each.broker, each.api, each.version, each.request)
            self._answers.setdefault(question, []).append(each.response)

    async def connect(self, address: Address) -> Connection:
        return _Replaying(address, self._answers)


class _Replaying:
    closed: str | None = None

    def __init__(self, address: Address, answers: dict[tuple[Address, int, int, bytes], list[bytes]]) -> None:
        self._address = address
        self._answers = answers

    async def ask(self, api: Api, version: int, request: object) -> object:
        question = (self._address, api.key, version, _asked(api, version, request))
        answers = self._answers.get(question)
        assert answers, f"nobody recorded what {self._address} says to {api} v{version}: {request}"
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return read_response(api, version, memoryview(answer)[4:])

    def close(self) -> None:
        self.closed = "no longer needed"


def _asked(api: Api, version: int, request: object) -> bytes:
    """Who asks with ApiVersions tells its own version, which is no part of the question."""
    return b"" if api is API_VERSIONS else _joined(request_frame(api, version, 0, None, request))


def _joined(parts: Iterable[Part]) -> bytes:
    found = list(parts)
    assert all(isinstance(each, bytes | bytearray | memoryview) for each in found), "not of administration"
    return b"".join(found)  # type: ignore[arg-type]
