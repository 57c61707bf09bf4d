"""One connection as pure state: on the server bytes become frames and replies leave in request order; on the
client requests get correlation ids and answers find their requests.

Frames are cut in place. Bytes are received into one large buffer that all connections of a loop share, and a
frame that arrived whole is a view into it, valid and writable until the next receive. Only what is left when
a connection's turn ends is kept by that connection: a little is copied back to the front of the shared buffer
when more arrives; a large unfinished frame gets a buffer of its own, which grows with what was received and
not with what the peer claims, and the rest is received straight into it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Generic, TypeVar

from odradek.wire.parts import size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odradek.wire.parts import Part

_SIZE = struct.Struct(">i")
PREFIX_SIZE = _SIZE.size
SMALL_FRAME_SIZE = 2048  # of an unfinished frame, no more than this is copied back
OWN_BUFFER_GROWTH = 8  # a peer that sent n bytes of a frame holds at most 8 n of our memory

Waiting = TypeVar("Waiting")


class BadFrame(Exception):
    """The peer is not speaking our protocol. Close the connection; nothing else is affected."""


class FrameReader:
    """Cuts what arrives into frames: receive into `spaces`, tell `received`, take each `next`, then `keep`.

    `shared` must hold more than one small frame.
    """

    __slots__ = (
        "_at",
        "_end",
        "_own",
        "_own_filled",
        "_own_total",
        "_region",
        "_shared",
        "_whole",
        "frame_size_max",
        "shared",
    )

    def __init__(self, shared: memoryview, frame_size_max: int) -> None:
        assert len(shared) > SMALL_FRAME_SIZE
        self.frame_size_max = frame_size_max
        self._shared = shared
        self.shared = [shared]  # the space of a connection that keeps nothing
        self._region = shared  # where the bytes lie that are not cut yet: shared, or a copy of what was kept
        self._at = 0
        self._end = 0
        self._whole: memoryview | None = None  # a large frame that has just been filled
        self._own: memoryview | None = None  # a large frame that is being filled
        self._own_filled = 0
        self._own_total = 0

    def spaces(self) -> list[memoryview]:
        """Where the next bytes are to be received, the first space first."""
        if self._end:
            self._take_back()
        own = self._own
        if own is not None:
            rest = own[self._own_filled :]
            return [rest, self._shared] if len(own) == self._own_total else [rest]
        return [self._shared[self._end :]] if self._end else self.shared

    def received(self, count: int) -> None:
        """`count` bytes more lie in the spaces."""
        if self._own is not None:
            count = self._fill_own(self._own, count)
        self._end += count

    def next(self) -> memoryview | None:
        """The next frame that is whole, without its size; writable, and valid until the next receive."""
        if self._whole is not None:
            frame, self._whole = self._whole, None
            return frame
        begin = self._at + PREFIX_SIZE
        if begin > self._end:
            return None
        (size,) = _SIZE.unpack_from(self._region, self._at)
        if not 0 <= size <= self.frame_size_max:
            raise BadFrame(f"a frame of {size} bytes, {self.frame_size_max} at most")
        beyond = begin + size
        if beyond > self._end:
            return None
        self._at = beyond
        return self._region[begin:beyond]

    def keep(self) -> None:
        """The shared buffer is about to be used by others: keep what is left in it, whole frames included."""
        if self._at == self._end:
            self._region, self._at, self._end = self._shared, 0, 0
        elif self._region is self._shared:
            rest = self._shared[self._at : self._end]
            self._at = self._end = 0
            if self._is_large_and_unfinished(rest):
                self._begin_own(rest)
            else:
                self._region, self._end = memoryview(bytearray(rest)), len(rest)

    @property
    def held_size(self) -> int:
        """Bytes of memory this connection holds beside the shared buffer."""
        kept = len(self._region) if self._region is not self._shared else 0
        return kept + (len(self._own) if self._own is not None else 0)

    def _take_back(self) -> None:
        """What was kept, less than a frame by now, moves to where the rest of it will be received."""
        rest = self._region[self._at : self._end]
        self._region, self._at, self._end = self._shared, 0, 0
        if self._is_large_and_unfinished(rest):
            self._begin_own(rest)
        else:
            self._end = len(rest)
            self._shared[: self._end] = rest

    def _is_large_and_unfinished(self, rest: memoryview) -> bool:
        if len(rest) <= SMALL_FRAME_SIZE:
            return False
        (size,) = _SIZE.unpack_from(rest)
        return len(rest) - PREFIX_SIZE < int(size) <= self.frame_size_max

    def _begin_own(self, rest: memoryview) -> None:
        (size,) = _SIZE.unpack_from(rest)
        self._own_total, self._own_filled = PREFIX_SIZE + size, len(rest)
        self._own = self._grown(rest)

    def _fill_own(self, own: memoryview, count: int) -> int:
        """Fill the frame in its own buffer; how many bytes went beyond it, into the shared one."""
        taken = min(count, len(own) - self._own_filled)
        self._own_filled += taken
        if self._own_filled == self._own_total:
            self._whole, self._own = own[PREFIX_SIZE:], None
        elif self._own_filled == len(own):
            self._own = self._grown(own)
        return count - taken

    def _grown(self, filled: memoryview) -> memoryview:
        grown = memoryview(bytearray(min(self._own_total, OWN_BUFFER_GROWTH * len(filled))))
        grown[: len(filled)] = filled
        return grown


class Replies:
    """Tickets for requests, and replies in the order of the requests, whenever they are ready."""

    __slots__ = ("_next", "_oldest", "_ready", "held_size")

    def __init__(self) -> None:
        self.held_size = 0  # bytes of the replies that wait for an earlier one
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
        self.held_size += size_of(parts)
        sendable: list[Part] = []
        while self._oldest in ready:
            sendable += ready.pop(self._oldest)
            self._oldest += 1
        self.held_size -= size_of(sendable)
        if not ready:
            self._ready = None
        return sendable


class ClientRequests(Generic[Waiting]):
    """Correlation ids for requests, and whom an answer is for. A broker answers in request order."""

    __slots__ = ("_waiting", "next_id")

    def __init__(self) -> None:
        self.next_id = 0
        self._waiting: dict[int, Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def sent(self, waiting: Waiting) -> int:
        """The request with `next_id` was sent, and `waiting` wants its answer."""
        correlation_id = self.next_id
        self.next_id = (correlation_id + 1) & 0x7FFFFFFF
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
