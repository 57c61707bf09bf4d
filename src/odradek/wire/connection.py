"""One connection as pure state: on the server bytes become frames and replies leave in request order; on the
client requests get correlation ids and answers find their requests.

The server parses in place. Bytes are received into one large buffer that all connections of a loop share, and
a frame that arrived whole is a view into it, valid and writable until the next receive. Only what is left of
an unfinished frame is kept by its connection: a small one is copied back to the front of the shared buffer
when more arrives; a large one gets a buffer of its own, which grows with what was received and not with what
the peer claims, and the rest is received straight into it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odradek.wire.parts import Part

_SIZE = struct.Struct(">i")
PREFIX_SIZE = _SIZE.size
SMALL_FRAME_SIZE = 2048  # an unfinished frame up to this size waits as a copy of what came
OWN_BUFFER_SIZE_MIN = 64 * 1024
OWN_BUFFER_GROWTH = 8  # a peer that sent n bytes holds at most 8 n of our memory

Waiting = TypeVar("Waiting")


class BadFrame(Exception):
    """The peer is not speaking our protocol. Close the connection; nothing else is affected."""


class FrameReader:
    """Cuts what arrives into frames. `shared` must hold at least one small frame."""

    __slots__ = ("_frame_size_max", "_own", "_own_filled", "_own_total", "_shared", "_tail", "broken")

    def __init__(self, shared: memoryview, frame_size_max: int) -> None:
        assert len(shared) > SMALL_FRAME_SIZE
        self._shared = shared
        self._frame_size_max = frame_size_max
        self._tail = b""
        self._own: memoryview | None = None
        self._own_filled = 0
        self._own_total = 0
        self.broken: BadFrame | None = None  # set once; nothing after it is read

    def spaces(self) -> list[memoryview]:
        """Where the next bytes are to be received, the first space first."""
        own = self._own
        if own is not None:
            rest = own[self._own_filled :]
            return [rest, self._shared] if len(own) == self._own_total else [rest]
        kept = len(self._tail)
        if kept:
            self._shared[:kept] = self._tail
            return [self._shared[kept:]]
        return [self._shared]

    def received(self, count: int) -> list[memoryview]:
        """`count` bytes lie in the spaces: the frames that are now whole, without their size."""
        frames: list[memoryview] = []
        if self._own is not None:
            count = self._received_into(self._own, count, frames)
        else:
            count += len(self._tail)
        self._tail = b""
        shared = self._shared
        at = 0
        while count - at >= PREFIX_SIZE:
            (size,) = _SIZE.unpack_from(shared, at)
            if not 0 <= size <= self._frame_size_max:
                self.broken = BadFrame(f"a frame of {size} bytes, {self._frame_size_max} at most")
                return frames
            end = at + PREFIX_SIZE + size
            if end > count:
                break
            frames.append(shared[at + PREFIX_SIZE : end])
            at = end
        if at < count:
            self._keep(shared[at:count])
        return frames

    @property
    def held_size(self) -> int:
        """Bytes this connection holds for an unfinished frame."""
        return len(self._own) if self._own is not None else len(self._tail)

    def _received_into(self, own: memoryview, count: int, frames: list[memoryview]) -> int:
        """Fill the frame in its own buffer; how many bytes went beyond it, into the shared one."""
        taken = min(count, len(own) - self._own_filled)
        self._own_filled += taken
        if self._own_filled == self._own_total:
            frames.append(own[PREFIX_SIZE:])
            self._own = None
        elif self._own_filled == len(own):
            self._own = self._grown(own)
        return count - taken

    def _keep(self, rest: memoryview) -> None:
        if len(rest) < PREFIX_SIZE:
            self._tail = rest.tobytes()
            return
        total = PREFIX_SIZE + _SIZE.unpack_from(rest)[0]
        if total <= SMALL_FRAME_SIZE:
            self._tail = rest.tobytes()
            return
        self._own_total, self._own_filled = total, len(rest)
        self._own = self._grown(rest)

    def _grown(self, filled: memoryview) -> memoryview:
        size = min(self._own_total, max(OWN_BUFFER_SIZE_MIN, OWN_BUFFER_GROWTH * len(filled)))
        grown = memoryview(bytearray(size))
        grown[: len(filled)] = filled
        return grown


class Replies:
    """Tickets for requests, and replies in the order of the requests, whenever they are ready."""

    __slots__ = ("_next", "_oldest", "_ready")

    def __init__(self) -> None:
        self._next = 0
        self._oldest = 0
        self._ready: dict[int, Sequence[Part]] | None = None  # replies that wait for an earlier one

    @property
    def unanswered(self) -> int:
        return self._next - self._oldest

    def open_ticket(self) -> int:
        ticket = self._next
        self._next = ticket + 1
        return ticket

    def reply(self, ticket: int, parts: Sequence[Part]) -> Sequence[Part]:
        """Record one answer; return what may now be sent. No parts: a request that is not answered."""
        if ticket == self._oldest and self._ready is None:
            assert ticket < self._next
            self._oldest = ticket + 1
            return parts
        return self._reply_in_turn(ticket, parts)

    def _reply_in_turn(self, ticket: int, parts: Sequence[Part]) -> Sequence[Part]:
        ready = self._ready
        if ready is None:
            ready = self._ready = {}
        assert self._oldest <= ticket < self._next
        assert ticket not in ready
        ready[ticket] = parts
        sendable: list[Part] = []
        while self._oldest in ready:
            sendable += ready.pop(self._oldest)
            self._oldest += 1
        if not ready:
            self._ready = None
        return sendable


class ClientRequests(Generic[Waiting]):
    """Correlation ids for requests, and whom an answer is for. A broker answers in request order."""

    __slots__ = ("_next", "_waiting")

    def __init__(self) -> None:
        self._next = 0
        self._waiting: dict[int, Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def sent(self, waiting: Waiting) -> int:
        """The correlation id of the request that `waiting` wants the answer of."""
        correlation_id = self._next
        self._next = (correlation_id + 1) & 0x7FFFFFFF
        self._waiting[correlation_id] = waiting
        return correlation_id

    def answered(self, correlation_id: int) -> Waiting:
        oldest = next(iter(self._waiting), None)
        if correlation_id != oldest:
            raise BadFrame(f"an answer to request {correlation_id}, expected {oldest}")
        return self._waiting.pop(correlation_id)

    def abandoned(self) -> list[Waiting]:
        """The connection is gone: all who wait in vain."""
        waiting = list(self._waiting.values())
        self._waiting.clear()
        return waiting
