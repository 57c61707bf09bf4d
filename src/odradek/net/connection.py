"""One client's connection: requests go to the handler in the order they came, answers leave in that order.

A request is handled inside the callback that received its bytes. Nothing is read from a connection that has
too many requests without an answer, too many answers not yet sent, or was muted; what it sent meanwhile waits
in its socket, and the peer feels it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from odradek.net.channel import Channel
from odradek.wire.connection import BadFrame, FrameReader, Replies

if TYPE_CHECKING:
    from odradek.net.port import Address, Stream
    from odradek.wire.parts import Part

REQUESTS_A_TURN = 64


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    frame_size_max: int = 100 * 1024 * 1024  # socket.request.max.bytes
    unanswered_max: int = 100  # requests
    unsent_size_max: int = 8 * 1024 * 1024  # of answers, those that wait for an earlier one included


class Handler(Protocol):
    """What the broker is to its connections."""

    def request(self, connection: Connection, ticket: int, frame: memoryview) -> Sequence[Part] | None:
        """Handle one request. `frame` is the request without its size; it is writable, and gone on return.

        The answer's parts, as they go on the wire, size included; () for a request that gets no answer;
        None when `connection.reply(ticket, parts)` will answer later. BadFrame closes the connection. No part
        may be a view of the frame.
        """
        ...

    def closed(self, connection: Connection) -> None:
        """The connection is gone; `connection.closed` says why. Called once, always from the loop."""
        ...


class Connection:
    """What a handler may know of a client's connection, and do with it."""

    __slots__ = (
        "_channel",
        "_finishing",
        "_forget",
        "_handler",
        "_has_more",
        "_is_muted",
        "_is_turn_due",
        "_looks",
        "_loop",
        "_replies",
        "_settings",
        "_traffic_seen",
        "_unmute",
        "listener",
        "number",
        "requests",
        "session",
    )

    def __init__(
        self,
        stream: Stream,
        receive_buffer: memoryview,
        handler: Handler,
        settings: ConnectionSettings,
        *,
        listener: str,
        number: int,
        forget: Callable[[Connection], None],
    ) -> None:
        self.listener = listener  # the listener's name
        self.number = number  # no two connections of a server share it
        self.session: object | None = None  # the handler's: who this is, what was learnt of it
        self.requests = 0
        self._traffic_seen = -1  # the first look finds something new
        self._looks = 0
        self._handler = handler
        self._settings = settings
        self._forget = forget
        self._replies = Replies()
        self._loop = asyncio.get_running_loop()
        self._is_muted = False
        self._unmute: asyncio.TimerHandle | None = None
        self._finishing: str | None = None
        self._has_more = False  # the last turn ended before its frames did
        self._is_turn_due = False
        self._channel = Channel(stream, FrameReader(receive_buffer, settings.frame_size_max), self)
        self._channel.read(True)

    # -- for the handler -------------------------------------------------------------------------------------

    @property
    def peer(self) -> Address:
        return self._channel.stream.peer

    @property
    def local(self) -> Address:
        return self._channel.stream.local

    @property
    def peer_name(self) -> str | None:
        """The name in the client's certificate, under TLS and if it showed one."""
        return self._channel.stream.peer_name()

    @property
    def closed(self) -> str | None:
        """Why it is closed, if it is."""
        return self._channel.closed

    @property
    def unanswered(self) -> int:
        return self._replies.unanswered

    @property
    def unsent_size(self) -> int:
        """Bytes of answers that wait for the client to take them."""
        return self._channel.unsent_size

    @property
    def is_reading(self) -> bool:
        """Not when a bound, a mute or the end of the connection holds it back."""
        return self._channel.is_reading

    @property
    def frame_size_max(self) -> int:
        return self._channel.reader.frame_size_max

    @frame_size_max.setter
    def frame_size_max(self, size: int) -> None:
        """From the next frame on: a client that has not logged in may be allowed less."""
        self._channel.reader.frame_size_max = size

    def reply(self, ticket: int, parts: Sequence[Part]) -> None:
        """Answer a request that was left open. The answers to earlier requests go first. May come after the
        connection has closed."""
        self._channel.send(self._replies.reply(ticket, parts))
        self._settle()

    def mute_until(self, when: float) -> None:
        """Read and handle no more requests until the loop's time is `when`. The later of two calls
        counts."""
        if self._finishing is not None or (self._unmute is not None and self._unmute.when() >= when):
            return
        self._cancel_unmute()
        self._is_muted = True
        self._unmute = self._loop.call_at(when, self._unmuted)
        self._settle()

    def finish(self, reason: str) -> None:
        """Take no more requests; close when all that were taken are answered and the answers sent."""
        self._is_muted = True
        self._cancel_unmute()
        self._finishing = reason
        self._settle()

    def close(self, reason: str) -> None:
        """At once, whatever is not sent."""
        self._is_muted = True
        self._channel.close(reason)

    # -- for the server --------------------------------------------------------------------------------------

    @property
    def traffic(self) -> tuple[int, int]:
        """Bytes received and sent."""
        return self._channel.received_size, self._channel.sent_size

    def looked_at(self) -> int:
        """How many looks in a row have found that nothing came or went since the one before. A client that
        waits for an answer of ours is not idle."""
        traffic = self._channel.received_size + self._channel.sent_size
        is_waiting = self._replies.unanswered > 0 and self._channel.unsent_size == 0
        if traffic != self._traffic_seen or is_waiting:
            self._traffic_seen = traffic
            self._looks = 0
        else:
            self._looks += 1
        return self._looks

    # -- for the channel -------------------------------------------------------------------------------------

    def arrived(self) -> None:
        """One turn: handle what came, answer it in one go, keep what is left for the next."""
        channel, reader = self._channel, self._channel.reader
        channel.cork()
        broken: str | None = "a request failed to be handled"
        try:
            self._has_more = self._handle_frames(reader)
            broken = None
        except BadFrame as bad:
            broken = str(bad)
        finally:
            reader.keep()
            channel.uncork()
            if broken is not None:
                self.close(broken)
        self._settle()

    def sent(self) -> None:
        self._settle()

    def gone(self, reason: str) -> None:
        del reason
        self._is_muted = True
        self._cancel_unmute()
        self._forget(self)
        self._handler.closed(self)

    # -- turns -----------------------------------------------------------------------------------------------

    def _handle_frames(self, reader: FrameReader) -> bool:
        """Whether there may be more. A turn begins only when nothing holds the connection back."""
        replies, channel = self._replies, self._channel
        for _ in range(REQUESTS_A_TURN):
            frame = reader.next()
            if frame is None:
                return False
            self.requests += 1
            ticket = replies.open_ticket()
            parts = self._handler.request(self, ticket, frame)
            if parts is not None:
                channel.send(replies.reply(ticket, parts))
            if self._is_held_back():
                break
        return True

    def _is_held_back(self) -> bool:
        return (
            self._is_muted
            or self._replies.unanswered >= self._settings.unanswered_max
            or self._channel.unsent_size + self._replies.held_size > self._settings.unsent_size_max
        )

    def _settle(self) -> None:
        """After anything changed: read on, take the next turn, wait, or close."""
        channel = self._channel
        if channel.is_corked or channel.closed is not None or channel.ending is not None:
            return
        if self._finishing is not None and self._replies.unanswered == 0 and channel.unsent_size == 0:
            channel.end(self._finishing)
            return
        is_held_back = self._is_held_back()
        is_reading = not (is_held_back or self._has_more)
        if is_reading is not channel.is_reading:
            channel.read(is_reading)
        if self._has_more and not (is_held_back or self._is_turn_due):
            self._is_turn_due = True
            self._loop.call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._is_turn_due = False
        if not self._is_held_back():
            self.arrived()

    def _cancel_unmute(self) -> None:
        if self._unmute is not None:
            self._unmute.cancel()

    def _unmuted(self) -> None:
        self._unmute = None
        self._is_muted = False
        self._settle()
