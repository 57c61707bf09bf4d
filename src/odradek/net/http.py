"""A tiny HTTP server for those who watch: GET a path, get a text, and the connection closes.

No more of HTTP than monitoring needs. Everything is bounded: how many may ask at once, how long a request may
be, how long asking and answering may take together.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from odradek.net.port import Address

if TYPE_CHECKING:
    from odradek.runtime.tasks import Tasks

_logger = logging.getLogger("odradek.net.http")

REQUEST_SIZE_MAX = 8 * 1024
CONVERSATION_S_MAX = 30.0
CONNECTIONS_MAX = 32
PLAIN_TEXT = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """Between two pieces of a body the loop serves others; an empty piece is a pause."""

    body: Iterable[str]
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = PLAIN_TEXT


Page = Callable[[], Answer]


class HttpServer:
    """To be made and used on one event loop."""

    def __init__(self, pages: Mapping[str, Page], tasks: Tasks) -> None:
        self._pages = pages
        self._tasks = tasks
        self._server: asyncio.Server | None = None
        self._connections = 0

    async def listen(self, address: Address) -> Address:
        """Where it listens: port 0 is any free one. OSError when the address cannot be had."""
        assert self._server is None
        self._server = await asyncio.start_server(
            self._accept, address.host or None, address.port, limit=REQUEST_SIZE_MAX
        )
        return Address(address.host, self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Accept nobody any more. Who is being answered is its tasks' owner's to wait for."""
        if self._server is not None:
            self._server.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._connections >= CONNECTIONS_MAX:
            writer.transport.abort()
            return
        self._connections += 1
        self._tasks.start(self._converse(reader, writer), name="http")

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(CONVERSATION_S_MAX):
                request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                await _send(*self._chosen(request), writer)
        except (TimeoutError, OSError, EOFError, asyncio.LimitOverrunError) as failure:
            _logger.debug("somebody got no answer: %r", failure)
        finally:
            self._connections -= 1
            writer.transport.abort()

    def _chosen(self, request: str) -> tuple[Answer, bool]:
        """The answer, and whether its body is wanted."""
        words = request.partition("\r\n")[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _refusal(HTTPStatus.BAD_REQUEST, "this is no request"), True
        method, target, _ = words
        page = self._pages.get(target.partition("?")[0])
        if method not in ("GET", "HEAD"):
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, "there is only GET"), True
        if page is None:
            return _refusal(HTTPStatus.NOT_FOUND, f"there is {', '.join(self._pages)}"), method == "GET"
        return page(), method == "GET"


def _refusal(status: HTTPStatus, why: str) -> Answer:
    return Answer((f"{why}\n",), status)


async def _send(answer: Answer, with_body: bool, writer: asyncio.StreamWriter) -> None:
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}",
        f"Content-Type: {answer.content_type}",
        "Connection: close",
    )
    writer.write("\r\n".join((*head, "", "")).encode())
    for piece in answer.body if with_body else ():
        writer.write(piece.encode())
        await writer.drain()
        await asyncio.sleep(0)
    writer.close()
    await writer.wait_closed()
