"""Requests that wait: for an offset, for more to read, for a deadline.

A handler that cannot answer yet returns a `Parked`. Whatever it waits for wakes it, and it *asks again*:
being woken is a hint, never a promise. Waking is cheap and may happen inside an append; the asking happens in
the loop's next turn, once, however often it was woken in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Handle

Reply = TypeVar("Reply")


class Waiting(Protocol):
    """Whoever can be woken."""

    def wake(self) -> None: ...


class Parked(Generic[Reply]):
    """One waiting request. It ends once: with a reply, at its deadline if it has one, or abandoned."""

    __slots__ = (
        "_at_deadline",
        "_deliver",
        "_look_due",
        "_loop",
        "_ready",
        "_reply",
        "_timer",
        "ended",
        "leave",
    )

    def __init__(
        self,
        loop: AbstractEventLoop,
        wait_s: float | None,
        *,
        ready: Callable[[], Reply | None],
        at_deadline: Callable[[], Reply],
    ) -> None:
        self._loop = loop
        self._ready = ready
        self._at_deadline = at_deadline
        self._deliver: Callable[[Reply], None] | None = None
        self._reply: Reply | None = None
        self._look_due = False
        self.ended = False
        self.leave: Callable[[], None] | None = None  # takes it out of wherever it waits
        self._timer: Handle | None = None if wait_s is None else loop.call_later(wait_s, self._expire)

    def wake(self) -> None:
        if not (self.ended or self._look_due):
            self._look_due = True
            self._loop.call_soon(self._look)

    def deliver_to(self, deliver: Callable[[Reply], None]) -> None:
        """Whom to give the reply, when there is one."""
        if self._reply is not None:
            deliver(self._reply)
        else:
            self._deliver = deliver

    def abandon(self) -> None:
        """Nobody waits for the reply any more."""
        if not self.ended:
            self._end()

    def expire_now(self) -> None:
        """Answer as at the deadline: the broker stops."""
        if not self.ended:
            self._expire()

    def _look(self) -> None:
        self._look_due = False
        if not self.ended:
            reply = self._ready()
            if reply is not None:
                self._finish(reply)

    def _expire(self) -> None:
        self._finish(self._at_deadline())

    def _finish(self, reply: Reply) -> None:
        self._end()
        if self._deliver is not None:
            self._deliver(reply)
        else:
            self._reply = reply

    def _end(self) -> None:
        assert not self.ended
        self.ended = True
        if self._timer is not None:
            self._timer.cancel()
        if self.leave is not None:
            self.leave()
