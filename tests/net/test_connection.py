"""What one connection promises its client and its handler, over real sockets."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence

import pytest

from odradek.net.connection import Connection, ConnectionSettings
from odradek.net.server import ServerSettings
from odradek.testing.echo import (
    ECHO,
    FAIL,
    PARK,
    REFUSE,
    SILENT,
    EchoHandler,
    connected,
    echo_server,
    framed,
    large,
    turns,
)
from odradek.wire.parts import Part


async def test_an_answer_comes_back() -> None:
    async with echo_server(EchoHandler()) as (_, address), connected(address) as client:
        client.ask(ECHO + b"hello")
        assert await client.answer() == b"hello"


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
async def test_any_chunking_is_answered_the_same(chunk: int) -> None:
    wire = framed(*(ECHO + b"%d" % number * number for number in range(8)))
    async with echo_server(EchoHandler()) as (_, address):
        loop = asyncio.get_running_loop()
        with socket.create_connection(address) as sock:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(wire), chunk):
                await loop.sock_sendall(sock, wire[at : at + chunk])
                await asyncio.sleep(0)
            wanted = framed(*(b"%d" % number * number for number in range(8)))
            seen = b""
            while len(seen) < len(wanted):
                seen += await loop.sock_recv(sock, 1000)
            assert seen == wanted


async def test_requests_in_one_packet_are_answered_in_order() -> None:
    async with echo_server(EchoHandler()) as (_, address), connected(address) as client:
        client.ask(*(ECHO + b"%d" % number for number in range(500)))
        assert await client.answers(500) == [b"%d" % number for number in range(500)]


async def test_an_answer_given_late_holds_back_the_ones_behind_it() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(PARK + b"first", ECHO + b"second", SILENT, PARK + b"third")
        await handler.seen(4)
        handler.answer_parked(1)
        handler.answer_parked(0)
        assert await client.answers(3) == [b"first", b"second", b"third"]


async def test_a_large_request_arrives_whole() -> None:
    payload = os.urandom(5_000_000)
    async with echo_server(EchoHandler()) as (_, address), connected(address) as client:
        client.ask(ECHO + payload, ECHO + b"small")
        assert await client.answers(2) == [payload, b"small"]


def bounded(**bounds: int) -> ServerSettings:
    return ServerSettings(connection=ConnectionSettings(**bounds))


async def stopped_reading(connection: Connection) -> None:
    while connection.is_reading:
        await asyncio.sleep(0)


async def test_too_many_unanswered_requests_stop_the_reading() -> None:
    handler = EchoHandler()
    async with (
        echo_server(handler, bounded(unanswered_max=3)) as (server, address),
        connected(address) as client,
    ):
        client.ask(*(PARK + b"%d" % number for number in range(10)))
        await handler.seen(3)
        (connection,) = server.connections
        for number in range(10):
            assert connection.unanswered == min(3, 10 - number)
            handler.answer_parked()
            assert await client.answer() == b"%d" % number
            await handler.seen(min(10, number + 4))


async def test_a_reader_that_does_not_read_holds_no_more_than_its_bound() -> None:
    handler = EchoHandler()
    async with (
        echo_server(handler, bounded(unsent_size_max=1_000_000)) as (server, address),
        connected(address) as slow,
        connected(address) as other,
    ):
        slow.ask(*([large(400_000)] * 200))
        await handler.seen(5)
        (connection,) = [each for each in server.connections if each.requests > 1]
        await stopped_reading(connection)
        # Those in the system's buffers have left us; beyond, the bound and the answer that went over it.
        assert connection.unsent_size <= 1_000_000 + 400_004
        assert connection.requests < 200
        other.ask(ECHO + b"not affected")
        assert await other.answer() == b"not affected"
        assert await slow.answers(200) == [bytes(400_000)] * 200


async def test_answers_held_up_by_a_parked_one_count_as_unsent() -> None:
    handler = EchoHandler()
    async with (
        echo_server(handler, bounded(unsent_size_max=1_000)) as (_, address),
        connected(address) as client,
    ):
        client.ask(PARK, large(600), large(600), large(600))
        await handler.seen(3)
        await stopped_reading(handler.parked[0][0])
        assert len(handler.requests) == 3
        handler.answer_parked()
        assert [len(answer) for answer in await client.answers(4)] == [0, 600, 600, 600]


async def test_a_muted_connection_is_not_handled_until_its_time() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(ECHO + b"one")
        assert await client.answer() == b"one"
        (connection,) = server.connections
        loop = asyncio.get_running_loop()
        until = loop.time() + 0.02
        connection.mute_until(until)
        connection.mute_until(until - 0.01)  # the later one counts
        client.ask(ECHO + b"two")
        assert await client.answer() == b"two"
        assert loop.time() >= until


async def test_a_request_can_mute_the_connection_it_came_by() -> None:
    class Muting(EchoHandler):
        def request(self, connection: Connection, ticket: int, frame: memoryview) -> Sequence[Part] | None:
            connection.mute_until(asyncio.get_running_loop().time() + 0.01)
            times.append(asyncio.get_running_loop().time())
            return super().request(connection, ticket, frame)

    times: list[float] = []
    async with echo_server(Muting()) as (_, address), connected(address) as client:
        client.ask(ECHO + b"one", ECHO + b"two", ECHO + b"three")
        assert await client.answers(3) == [b"one", b"two", b"three"]
    assert times[1] - times[0] >= 0.01
    assert times[2] - times[1] >= 0.01


async def test_a_client_may_be_allowed_smaller_frames() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(ECHO)
        await client.answer()
        (connection,) = server.connections
        connection.frame_size_max = 50
        client.ask(ECHO + bytes(50))
        assert await client.rest() == b""
        assert connection.closed == "a frame of 51 bytes, 50 at most"


async def test_a_busy_connection_leaves_room_for_others() -> None:
    """One client's flood and another's request, both there before the server looks: the second need not wait
    for the end of the flood."""
    handler = EchoHandler()
    async with echo_server(handler) as (_, address):
        with socket.create_connection(address) as flood, socket.create_connection(address) as other:
            flood.sendall(framed(ECHO + b"flood") * 5_000)
            other.sendall(framed(ECHO + b"other"))
            await handler.seen(5_001)
    assert handler.requests.index(ECHO + b"other") <= 500


async def test_a_client_that_leaves_is_noticed_once() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (server, address), connected(address) as client:
        client.ask(PARK)
        await handler.seen(1)
        client.close()
        await handler.lost(1)
        handler.answer_parked()
        await turns(5)
        assert [each.closed for each in handler.closed_connections] == ["the peer closed"]
        assert not server.connections


async def test_finish_in_a_request_sends_its_answer_first() -> None:
    class LastWords(EchoHandler):
        def request(self, connection: Connection, ticket: int, frame: memoryview) -> Sequence[Part] | None:
            connection.finish("said all")
            return super().request(connection, ticket, frame)

    handler = LastWords()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(ECHO + b"no", ECHO + b"not handled")
        assert await client.rest() == framed(b"no")
        await handler.lost(1)
        assert handler.requests == [ECHO + b"no"]
        assert handler.closed_connections[0].closed == "said all"


async def test_a_refused_request_ends_its_connection_after_the_answers_before_it() -> None:
    handler = EchoHandler()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(ECHO + b"fine", REFUSE, ECHO + b"not handled")
        assert await client.rest() == framed(b"fine")
        await handler.lost(1)
        assert handler.closed_connections[0].closed == "refused as asked"


async def test_a_bug_in_the_handler_is_told_to_the_loop_and_ends_the_connection() -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    handler = EchoHandler()
    async with echo_server(handler) as (_, address), connected(address) as client:
        client.ask(ECHO + b"fine", FAIL)
        await client.rest()
        await handler.lost(1)
    (error,) = told
    assert isinstance(error, AssertionError)
    assert "failed as asked" in str(error)
