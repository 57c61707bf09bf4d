from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import pytest

from odradek.net.http import CONNECTIONS_MAX, CONVERSATION_S_MAX, REQUEST_SIZE_MAX, Answer, HttpServer
from odradek.net.port import Address
from odradek.runtime.tasks import Tasks
from odradek.testing.sim_clock import MovableClock, MovableLoop

HELLO = "GET /hello HTTP/1.1\r\nHost: here\r\n\r\n"


def no_fault(name: str, error: BaseException) -> None:
    raise AssertionError(name) from error


@asynccontextmanager
async def serving(**pages: Answer) -> AsyncIterator[Address]:
    tasks = Tasks(no_fault)
    made = {f"/{name}": (lambda answer=answer: answer) for name, answer in pages.items()}
    server = HttpServer(made, tasks)
    address = await server.listen(Address("127.0.0.1", 0))
    try:
        yield address
    finally:
        server.close()
        await tasks.stop()


async def asked(address: Address, request: str) -> str:
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(request.encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer


def hello() -> Answer:
    return Answer(["hello\n"])


async def test_a_page_is_answered_and_the_connection_closes() -> None:
    async with serving(hello=hello()) as address:
        assert await asked(address, HELLO) == (
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nhello\n"
        )


@pytest.mark.parametrize(
    ("request_", "status", "body"),
    [
        ("GET /hello?fresh=1 HTTP/1.0\r\n\r\n", 200, "hello\n"),
        ("HEAD /hello HTTP/1.1\r\n\r\n", 200, ""),
        ("POST /hello HTTP/1.1\r\n\r\n", 405, "there is only GET\n"),
        ("GET /other HTTP/1.1\r\n\r\n", 404, "there is /hello\n"),
        ("GET /hello\r\n\r\n", 400, "this is no request\n"),
        ("\r\n\r\n", 400, "this is no request\n"),
        ("\x16\x03\x01 what a handshake looks like\r\n\r\n", 400, "this is no request\n"),
    ],
)
async def test_every_request_has_its_status(request_: str, status: int, body: str) -> None:
    async with serving(hello=hello()) as address:
        head, _, told = (await asked(address, request_)).partition("\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ")
        assert told == body


async def test_an_answer_has_the_status_of_its_page() -> None:
    async with serving(hello=Answer(["not yet\n"], HTTPStatus.SERVICE_UNAVAILABLE)) as address:
        assert (await asked(address, HELLO)).startswith("HTTP/1.1 503 Service Unavailable\r\n")


async def test_a_request_that_is_too_long_is_not_answered() -> None:
    async with serving(hello=hello()) as address:
        assert await asked(address, f"GET /{'x' * REQUEST_SIZE_MAX} HTTP/1.1\r\n\r\n") == ""


async def test_a_peer_that_goes_away_harms_nobody() -> None:
    async with serving(hello=hello()) as address:
        _, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"GET /hel")
        writer.transport.abort()
        assert (await asked(address, HELLO)).endswith("hello\n")


async def test_others_have_their_turn_between_two_pieces() -> None:
    turns = 0

    def body() -> Iterator[str]:
        for _ in range(50):
            yield f"{turns} "

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with serving(hello=Answer(body())) as address:
        task = asyncio.ensure_future(other())
        told = (await asked(address, HELLO)).partition("\r\n\r\n")[2].split()
        task.cancel()
        assert len(set(told)) == 50


def test_who_says_nothing_is_dropped_after_a_while() -> None:
    clock = MovableClock()

    async def main() -> None:
        async with serving(hello=hello()) as address:
            reader, writer = await asyncio.open_connection(address.host, address.port)
            assert (await asked(address, HELLO)).endswith("hello\n"), "so both have been accepted"
            clock.push(round(CONVERSATION_S_MAX * 1000) + 1)
            assert await reader.read() == b""
            writer.close()

    with asyncio.Runner(loop_factory=lambda: MovableLoop(clock)) as runner:
        runner.run(main())


async def test_only_so_many_are_listened_to_at_once() -> None:
    async with serving(hello=hello()) as address:
        silent = [await asyncio.open_connection(address.host, address.port) for _ in range(CONNECTIONS_MAX)]
        with pytest.raises((ConnectionError, AssertionError)):
            assert (await asked(address, HELLO)).endswith("hello\n")
        for _, writer in silent:
            writer.close()
            await writer.wait_closed()
        while not (await told(address)).endswith("hello\n"):
            await asyncio.sleep(0)


async def told(address: Address) -> str:
    try:
        return await asked(address, HELLO)
    except ConnectionError:
        return ""
