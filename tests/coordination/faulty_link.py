"""A wire to a server that can be held, cut, and made to lose answers; a real socket on either side.

Under TLS it packs into one record what came in several, as whoever ends TLS in front of a server may do.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.net.tls import ServerTls

LOOPBACK = "127.0.0.1"
PACKED_FOR_S = 0.002


class FaultyLink:
    def __init__(self, server: str, tls: ServerTls | None = None) -> None:
        self._tls = tls
        self._server_port = int(server.rpartition(":")[2])
        self._flows = asyncio.Event()
        self._flows.set()
        self._answers = True
        self._open = True
        self._ends: set[asyncio.StreamWriter] = set()
        self._relaying: set[asyncio.Task[None]] = set()
        self.requests_seen = asyncio.Event()  # set when anything went through to the server

    async def __aenter__(self) -> FaultyLink:
        self._listening = await asyncio.start_server(
            self._accepted, LOOPBACK, 0, ssl=None if self._tls is None else self._tls.context()
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()
        self.cut()
        self._flows.set()
        for task in self._relaying:
            task.cancel()
        await asyncio.gather(*self._relaying, return_exceptions=True)

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self._listening.sockets[0].getsockname()[1]}"

    def hold(self) -> None:
        """Nothing passes any more, and nobody is told."""
        self._flows.clear()

    def lose_answers(self) -> None:
        self._answers = False
        self.requests_seen.clear()

    def cut(self) -> None:
        """Connections break, and there are no new ones."""
        self._open = False
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    def heal(self) -> None:
        self._open = self._answers = True
        self._flows.set()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._open:
            writer.transport.abort()
            return
        onward_reader, onward = await asyncio.open_connection(LOOPBACK, self._server_port)
        self._ends |= {writer, onward}
        for source, sink, is_answer in ((reader, onward, False), (onward_reader, writer, True)):
            task = asyncio.create_task(self._relay(source, sink, is_answer))
            self._relaying.add(task)
            task.add_done_callback(self._relaying.discard)

    async def _relay(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, is_answer: bool) -> None:
        try:
            while data := await source.read(1 << 16):
                await self._flows.wait()
                if self._tls is not None and is_answer:
                    await asyncio.sleep(PACKED_FOR_S)
                    data += await _what_is_there(source)
                if is_answer and not self._answers:
                    continue
                sink.write(data)
                if not is_answer:
                    self.requests_seen.set()
        except OSError:
            pass
        finally:
            sink.close()


async def _what_is_there(source: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(0):
            return await source.read(1 << 16)
    except TimeoutError:
        return b""
