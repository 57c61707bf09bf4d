"""Frames in, parts out, over one stream: what connections of clients and connections to peers share.

Work in one turn of the loop is bounded: one receive, one send of `SEND_SIZE_A_TURN`. Whatever is left waits
for the stream to be ready again, behind all others that are ready.

The owner is called from the loop only, never from inside a call it made: `close` and a failed `send` tell it
later that the channel is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from odradek.wire.connection import FrameReader
from odradek.wire.parts import size_of

if TYPE_CHECKING:
    from odradek.net.port import Stream
    from odradek.wire.parts import Part

SEND_SIZE_A_TURN = 1024 * 1024
LINGER_S = 1.0


class Owner(Protocol):
    def arrived(self) -> None:
        """Bytes came: take frames from the reader, then let it keep the rest."""
        ...

    def sent(self) -> None:
        """Some of what waited to be sent has gone."""
        ...

    def gone(self, reason: str) -> None:
        """Nothing more comes or goes. Called once."""
        ...


class Channel:
    __slots__ = (
        "_loop",
        "_owner",
        "_parts",
        "_writing",
        "closed",
        "ending",
        "is_corked",
        "is_reading",
        "isis_corked",
        "reader",
        "received_size",
        "sent_size",
        "stream",
        "unsent_size",
    )

    def __init__(self, stream: Stream, reader: FrameReader, owner: Owner) -> None:
        self.stream = stream
        self.reader = reader
        self.closed: str | None = None  # why
        self.ending: str | None = None  # why; what still comes is not for us any more
        self.received_size = 0
        self.sent_size = 0
        self.unsent_size = 0
        self._loop = asyncio.get_running_loop()
        self._owner = owner
        self._parts: list[Part] = []
        self.is_corked = False
        self.is_reading = False
        self._writing = False

    def read(self, wanted: bool) -> None:
        """Receive, or leave what the peer sends where it is."""
        if self.closed is None:
            self.is_reading = wanted
            self.stream.when_readable(self._readable if wanted else None)

    def send(self, parts: Sequence[Part]) -> None:
        if self.closed is not None:
            return
        self.unsent_size += size_of(parts)
        self._parts += parts
        if not (self.is_corked or self._writing):
            self._flush()

    def cork(self) -> None:
        """Collect what is sent until `uncork`, so that many small answers leave together."""
        self.is_corked = True

    def uncork(self) -> None:
        self.is_corked = False
        if self._parts and not self._writing:
            self._flush()

    def end(self, reason: str) -> None:
        """Close when the peer has closed too, or a little later. To close while something of the peer's is
        unread would be a reset, which takes from the peer what it has not read yet of ours."""
        assert not self._parts
        self.ending = reason
        try:
            self.stream.end()
        except OSError as error:
            self.close(str(error))
            return
        self.read(True)
        self._loop.call_later(LINGER_S, self.close, reason)

    def close(self, reason: str) -> None:
        """At once. What was not sent is dropped."""
        if self.closed is None:
            self.closed = reason
            self._parts.clear()
            self.unsent_size = 0
            self.stream.close()
            self._loop.call_soon(self._owner.gone, reason)

    def _readable(self) -> None:
        is_ending = self.ending is not None
        try:
            count = self.stream.receive(self.reader.shared if is_ending else self.reader.spaces())
        except BlockingIOError:
            return
        except OSError as error:
            self.close(str(error))
            return
        if count == 0:
            self.close(self.ending or "the peer closed")
            return
        self.received_size += count
        if is_ending:
            return
        self.reader.received(count)
        self._owner.arrived()

    def _flush(self) -> None:
        try:
            count = self.stream.send(self._parts, SEND_SIZE_A_TURN)
        except OSError as error:
            self.close(str(error))
            return
        self.sent_size += count
        self.unsent_size -= count
        wanted = bool(self._parts)
        if wanted != self._writing:
            self._writing = wanted
            self.stream.when_writable(self._writable if wanted else None)

    def _writable(self) -> None:
        self._flush()
        if self.closed is None:
            self._owner.sent()
