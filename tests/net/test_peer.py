"""What a connection to another broker promises whoever asks over it."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from odradek.net.peer import Answer, Peer, PeerBusy, PeerLost, PeerSettings, connect
from odradek.net.port import Address
from odradek.net.sockets import SocketNetwork
from odradek.testing.echo import ECHO, PARK, EchoHandler, echo_server
from odradek.testing.sim_clock import MovableClock
from odradek.wire.apis import API_BY_KEY
from odradek.wire.connection import BadFrame
from odradek.wire.frame import read_request_header, response_frame
from odradek.wire.messages.metadata import ApiVersionsRequest, ApiVersionsResponse
from odradek.wire.parts import Part

API_VERSIONS = API_BY_KEY[18]


def asking(verb: bytes, payload: bytes = b"") -> Callable[[int], Sequence[Part]]:
    """A request that the echoing handler answers with its correlation id and the payload."""

    def framed(correlation_id: int) -> Sequence[Part]:
        request = verb + struct.pack(">i", correlation_id) + payload
        return [struct.pack(">i", len(request)), request]

    return framed


class Answers:
    """What came, in order."""

    def __init__(self) -> None:
        self.came: list[bytes | str] = []
        self._changed = asyncio.Event()

    def __call__(self, answer: Answer) -> None:
        self.came.append(str(answer) if isinstance(answer, PeerLost) else answer[4:].tobytes())
        self._changed.set()

    async def count(self, wanted: int) -> list[bytes | str]:
        while len(self.came) < wanted:
            self._changed.clear()
            await self._changed.wait()
        return self.came


@asynccontextmanager
async def peer_of(
    handler: EchoHandler, settings: PeerSettings | None = None
) -> AsyncIterator[tuple[Peer, Address]]:
    async with echo_server(handler) as (_, address):
        peer = await connect(SocketNetwork(), address, settings or PeerSettings())
        try:
            yield peer, address
        finally:
            peer.close()
            await peer.wait_closed()


async def test_answers_find_those_who_asked() -> None:
    answers = Answers()
    async with peer_of(EchoHandler()) as (peer, _):
        for number in range(50):
            peer.ask(asking(ECHO, b"%d" % number), answers)
        assert peer.unanswered == 50
        assert await answers.count(50) == [b"%d" % number for number in range(50)]
        assert peer.unanswered == 0


async def test_a_large_answer_arrives_whole() -> None:
    answers = Answers()
    async with peer_of(EchoHandler()) as (peer, _):
        peer.ask(asking(ECHO, b"x" * 3_000_000), answers)
        assert await answers.count(1) == [b"x" * 3_000_000]


async def test_no_more_are_sent_than_may_be_unanswered() -> None:
    answers, handler = Answers(), EchoHandler()
    async with peer_of(handler, PeerSettings(unanswered_max=2)) as (peer, _):
        peer.ask(asking(PARK), answers)
        peer.ask(asking(PARK), answers)
        with pytest.raises(PeerBusy):
            peer.ask(asking(PARK), answers)
        await handler.seen(2)
        handler.answer_parked()
        await answers.count(1)
        peer.ask(asking(PARK), answers)


async def test_whoever_waits_is_told_when_the_peer_is_lost() -> None:
    answers, handler = Answers(), EchoHandler()
    async with peer_of(handler) as (peer, address):
        peer.ask(asking(PARK), answers)
        peer.ask(asking(PARK), answers)
        await handler.seen(2)
        handler.parked[0][0].close("for the test")
        assert await answers.count(2) == [f"{address}: the peer closed"] * 2
        with pytest.raises(PeerLost, match="the peer closed"):
            peer.ask(asking(ECHO), answers)


async def test_a_peer_that_is_late_is_closed(clock: MovableClock) -> None:
    answers, handler = Answers(), EchoHandler()
    async with peer_of(handler, PeerSettings(request_timeout_ms=30_000)) as (peer, address):
        peer.ask(asking(PARK), answers)
        peer.ask(asking(PARK), answers, timeout_ms=60_000)
        await handler.seen(2)
        clock.push(29_000)
        await asyncio.sleep(0)
        assert peer.closed is None
        clock.push(2_000)
        assert await answers.count(2) == [f"{address}: no answer within 30000 ms"] * 2


async def test_a_peer_that_answers_in_time_is_not_closed_later(clock: MovableClock) -> None:
    answers = Answers()
    async with peer_of(EchoHandler()) as (peer, _):
        peer.ask(asking(ECHO), answers)
        await answers.count(1)
        clock.push(60_000)
        for _ in range(5):
            await asyncio.sleep(0)
        assert peer.closed is None


async def test_an_answer_to_another_request_loses_the_peer() -> None:
    answers = Answers()
    async with peer_of(EchoHandler()) as (peer, _):
        peer.ask(lambda correlation_id: asking(ECHO)(correlation_id + 1), answers)
        (told,) = await answers.count(1)
        assert "an answer to request 1, expected 0" in str(told)


async def test_an_answer_that_cannot_be_read_loses_the_peer() -> None:
    def choke(answer: Answer) -> None:
        if not isinstance(answer, PeerLost):
            raise BadFrame("not our language")

    answers = Answers()
    async with peer_of(EchoHandler()) as (peer, address):
        peer.ask(asking(ECHO), choke)
        peer.ask(asking(ECHO), answers)
        assert await answers.count(1) == [f"{address}: not our language"]


async def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address(*taken.getsockname())
    with pytest.raises(PeerLost, match="cannot be reached"):
        await connect(SocketNetwork(), address, PeerSettings())


async def test_nobody_who_answers_the_door() -> None:
    """A full backlog: the system drops what would connect."""
    with socket.socket() as deaf, socket.socket() as first, socket.socket() as second:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for sock in (first, second):
            sock.setblocking(False)
            sock.connect_ex(deaf.getsockname())
        with pytest.raises(PeerLost, match="did not answer within 10 ms"):
            await connect(SocketNetwork(), Address(*deaf.getsockname()), PeerSettings(connect_timeout_ms=10))


class ApiVersions(EchoHandler):
    def request(self, connection: object, ticket: int, frame: memoryview) -> Sequence[Part] | None:
        header = read_request_header(frame)
        self.client_id = header.client_id
        return response_frame(
            header.api,
            header.version,
            header.correlation_id,
            ApiVersionsResponse(error_code=0, api_keys=(), throttle_time_ms=7),
        )


async def test_a_request_is_encoded_and_its_response_decoded() -> None:
    handler = ApiVersions()
    async with peer_of(handler, PeerSettings(client_id="me")) as (peer, _):
        asked = [peer.request(API_VERSIONS, 3, ApiVersionsRequest()) for _ in range(3)]
        for response in await asyncio.gather(*asked):
            assert isinstance(response, ApiVersionsResponse)
            assert response.throttle_time_ms == 7
        assert handler.client_id == "me"


async def test_a_malformed_response_is_a_lost_peer() -> None:
    class Nonsense(ApiVersions):
        def request(self, connection: object, ticket: int, frame: memoryview) -> Sequence[Part] | None:
            parts = super().request(connection, ticket, frame)
            assert parts is not None
            whole = b"".join(bytes(part) for part in parts if not hasattr(part, "file"))
            return [struct.pack(">i", len(whole) - 5), whole[4:-1]]

    async with peer_of(Nonsense()) as (peer, _):
        with pytest.raises(PeerLost, match="byte"):
            await peer.request(API_VERSIONS, 3, ApiVersionsRequest())
        assert peer.closed is not None


async def test_who_stops_waiting_does_not_disturb_the_others() -> None:
    handler = ApiVersions()
    async with peer_of(handler) as (peer, _):
        impatient = asyncio.ensure_future(peer.request(API_VERSIONS, 3, ApiVersionsRequest()))
        await asyncio.sleep(0)
        impatient.cancel()
        assert isinstance(await peer.request(API_VERSIONS, 3, ApiVersionsRequest()), ApiVersionsResponse)
