"""A store that lies the way ZooKeeper does: the twin of `coordination/zookeeper.py`, in memory, from a seed.

The tree is the embedded store's. Between it and each broker lies a way that delays, holds back or breaks:

- A request or its answer may be lost. What only reads is asked again; a commit raises `ConnectionLost`,
  whether it took place or not, and watches fire, because nobody will tell what was missed.
- While the way is held nobody notices, and what is under way arrives when it is let go. After two thirds of a
  session's time the broker takes the connection for lost.
- The ensemble ends a session that it has heard nothing of for its time, a little earlier or later than the
  broker's own clock does; so for a while the one believes in it and the other does not.
- An ensemble that is down counts no time. A session that the broker gave up meanwhile goes on under its id.

While `lost_rate` is zero and nobody is held it is only slow. What it does with its loop is seeded; on
`sim_clock.SimLoop` a seed repeats everything.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from odradek.coordination.embedded import EmbeddedSession, EmbeddedStore
from odradek.coordination.store import (
    ConnectionLost,
    Done,
    Node,
    Operation,
    SessionExpired,
    StoreError,
    Watch,
)

if TYPE_CHECKING:
    from odradek.runtime.entropy import Entropy

Result = TypeVar("Result")

Do: TypeAlias = Callable[[EmbeddedSession], Coroutine[object, object, Result]]

NOTICED_AFTER = (0.3, 0.67)  # of a session's time: that the connection is lost
EXPIRES_AFTER = (0.97, 1.15)  # of a session's time: at the ensemble
RECONNECTS_WITHIN_S = (0.01, 0.5)


class SimStore:
    """An ensemble."""

    def __init__(
        self,
        entropy: Entropy,
        now_ms: Callable[[], int],
        *,
        delay_s: tuple[float, float] = (0.0002, 0.003),
        session_timeout_s: float = 6.0,
    ) -> None:
        self.entropy = entropy
        self.delay_s = delay_s  # of each direction, from shortest to longest
        self.lost_rate = 0.0  # of requests: lost on the way there or on the way back
        self.session_timeout_s = session_timeout_s
        self.is_up = True
        self._tree = EmbeddedStore.in_memory(now_ms)
        self._clients: list[SimZooKeeper] = []
        self._known: list[_Known] = []

    def client(self) -> SimZooKeeper:
        """A broker's way here."""
        client = SimZooKeeper(self)
        self._clients.append(client)
        return client

    def stop(self) -> None:
        """All its servers stop: connections break, and for sessions time stands."""
        self.is_up = False
        for each in self._known:
            each.heard()
        for client in self._clients:
            client.lose_connection()

    def start(self) -> None:
        """It comes back and knows its sessions, each with all of its time."""
        self.is_up = True
        for each in self._known:
            each.silent()
        for client in self._clients:
            client.reconnect()

    def between(self, bounds: tuple[float, float]) -> float:
        shortest, longest = bounds
        return shortest + (longest - shortest) * self.entropy.fraction()

    def known(self) -> _Known:
        """For `SimZooKeeper`: a new session."""
        known = _Known(self, self._tree.session())
        self._known = [*(each for each in self._known if not each.is_over), known]
        return known


class SimZooKeeper:
    """Twin of `ZooKeeper`: one broker's client, and the wire between it and the ensemble."""

    def __init__(self, store: SimStore) -> None:
        self._store = store
        self._current: SimSession | None = None
        self._to_resume: _Known | None = None
        self._is_held = False

    @property
    def reaches(self) -> bool:
        return self._store.is_up and not self._is_held

    async def session(self) -> SimSession:
        """`ConnectionLost` when the ensemble is not reached within a session's time."""
        if self._current is not None:
            await self._current.close()
            self._to_resume = self._current.to_resume or self._to_resume
        known = self._to_resume
        if known is None or known.is_over:
            known = self._store.known()
        session = self._current = SimSession(self._store, self, known)
        try:
            async with asyncio.timeout(self._store.session_timeout_s):
                await session.get_many([])
        except TimeoutError:
            raise ConnectionLost("", "no way into the ensemble") from None
        self._to_resume = None
        return session

    # -- what the world does to it -------------------------------------------------------------------------

    def hold(self) -> None:
        """Nothing passes any more, either way."""
        self._is_held = True
        if self._current is not None:
            self._current.hold()

    def let_go(self) -> None:
        self._is_held = False
        self.reconnect()

    def lose_connection(self) -> None:
        if self._current is not None:
            self._current.lose_connection()

    def reconnect(self) -> None:
        if self._current is not None:
            self._current.reconnect()

    def expire(self) -> None:
        """The ensemble ends the session now; the broker hears of it when it next reaches the ensemble."""
        if self._current is not None:
            self._current.known.end()
            self._current.lose_connection()

    def crash(self) -> None:
        """The broker dies without a word. The ensemble finds out when the session's time is over."""
        if self._current is not None:
            self._current.crash()
        self._current = self._to_resume = None


class SimSession:
    """Twin of `ZooKeeperSession`."""

    def __init__(self, store: SimStore, client: SimZooKeeper, known: _Known) -> None:
        """For `SimZooKeeper.session`."""
        self.known = known
        self.to_resume: _Known | None = None  # when it ended by the broker's own clock only
        self._store = store
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._there = _Way(self._loop, store)
        self._back = _Way(self._loop, store)
        self._connection = 0  # counts them
        self._connected = asyncio.Event()  # set too when the session is over
        self._over = False
        self._under_way: dict[asyncio.Future[object], None] = {}
        self._watches: dict[_Wired, None] = {}
        self._timers: list[asyncio.TimerHandle] = []
        self._on_expired: list[Watch] = []
        self.reconnect()

    @property
    def id(self) -> int:
        return self.known.session.id

    # -- the port ------------------------------------------------------------------------------------------

    async def get(self, path: str, watch: Watch | None = None) -> Node:
        return await self._read(lambda session: session.get(path, self._wired(watch)))

    async def get_many(self, paths: Sequence[str]) -> list[Node | None]:
        return await self._read(lambda session: session.get_many(paths))

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        return await self._read(lambda session: session.children(path, self._wired(watch)))

    async def commit(self, *operations: Operation) -> list[Done]:
        return await self._ask(lambda session: session.commit(*operations))

    def on_expired(self, watch: Watch) -> None:
        if self._over:
            watch()
        else:
            self._on_expired.append(watch)

    async def close(self) -> None:
        if not self._over and self._connected.is_set() and self._client.reaches:
            self.known.end()
        self._on_expired.clear()
        self._end()

    # -- asking --------------------------------------------------------------------------------------------

    async def _read(self, do: Do[Result]) -> Result:
        while True:
            try:
                return await self._ask(do)
            except ConnectionLost:
                continue  # which waits until there is a connection again, or the session is over

    async def _ask(self, do: Do[Result]) -> Result:
        await self._connected.wait()
        if self._over:
            raise SessionExpired
        answer: asyncio.Future[Result] = self._loop.create_future()
        under_way = cast("asyncio.Future[object]", answer)
        self._under_way[under_way] = None
        self._there.send(lambda: self._arrived(do, answer))
        try:
            return await answer
        finally:
            del self._under_way[under_way]

    def _arrived(self, do: Do[Result], answer: asyncio.Future[Result]) -> None:
        """At the ensemble."""
        fate = self._store.entropy.fraction() / self._store.lost_rate if self._store.lost_rate else 1
        if fate < 1 / 2:
            self.lose_connection()
            return
        try:
            result = _at_once(do(self.known.session))
        except SessionExpired:
            self._back.send(self._expire)
        except StoreError as failure:
            refusal = failure
            self._back.send(lambda: _settle(answer, refusal))
        else:
            self._back.send(lambda: _settle(answer, result))
        if fate < 1:
            self.lose_connection()

    def _wired(self, watch: Watch | None) -> _Wired | None:
        if watch is None:
            return None
        wired = _Wired(self, watch, self._connection)
        self._watches[wired] = None
        return wired

    def fired(self, wired: _Wired) -> None:
        """At the ensemble."""
        self._back.send(lambda: self._fire(wired))

    def _fire(self, wired: _Wired) -> None:
        if wired in self._watches:
            del self._watches[wired]
            wired.watch()

    # -- the life of a session -----------------------------------------------------------------------------

    def hold(self) -> None:
        if self._over or not self._connected.is_set():
            return
        self._there.hold()
        self._back.hold()
        self._count_silence()
        noticed_s = self._store.session_timeout_s * self._store.between(NOTICED_AFTER)
        self._timers.append(self._loop.call_later(noticed_s, self.lose_connection))

    def lose_connection(self) -> None:
        if self._over or not self._connected.is_set():
            return
        self._disconnect()
        watches, self._watches = self._watches, {}
        for wired in watches:
            self._loop.call_soon(wired.watch)
        self._count_silence()
        self.reconnect()

    def reconnect(self) -> None:
        """Let what was held pass, or connect anew, if the ensemble is reached."""
        if self._over or not self._client.reaches:
            return
        if self._connected.is_set():
            self._heard()
            self._there.let_go()
            self._back.let_go()
        else:
            after_s = self._store.between(RECONNECTS_WITHIN_S)
            self._loop.call_later(after_s, self._connect)

    def crash(self) -> None:
        self._on_expired.clear()
        self._end()
        self.known.silent()

    def _connect(self) -> None:
        if self._over or not self._client.reaches or self._connected.is_set():
            return
        if self.known.is_over:
            self._expire()
        else:
            self._heard()
            self._connection += 1
            self._connected.set()

    def _disconnect(self) -> None:
        self._there.drop()
        self._back.drop()
        self._connected.clear()
        for answer in self._under_way:
            if not answer.done():
                answer.set_exception(ConnectionLost("", "the connection was lost"))

    def _count_silence(self) -> None:
        if not self._timers:  # what is held already is counted from then on
            self._timers.append(self._loop.call_later(self._store.session_timeout_s, self._give_up))
            self.known.silent()

    def _heard(self) -> None:
        self._stop_timers()
        self.known.heard()

    def _stop_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _give_up(self) -> None:
        self.to_resume = self.known
        self._expire()

    def _expire(self) -> None:
        self._end()
        watches, self._on_expired = self._on_expired, []
        for watch in watches:
            watch()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._stop_timers()
            self._watches.clear()
            self._disconnect()
            self._connected.set()


class _Known:
    """A session as the ensemble knows it."""

    def __init__(self, store: SimStore, session: EmbeddedSession) -> None:
        self.session = session
        self.is_over = False
        self._store = store
        self._deadline: asyncio.TimerHandle | None = None

    def heard(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def silent(self) -> None:
        """Nothing is heard from now on; it counts, unless it does already or is not there to count."""
        if self._deadline is None and not self.is_over and self._store.is_up:
            lives_s = self._store.session_timeout_s * self._store.between(EXPIRES_AFTER)
            self._deadline = asyncio.get_running_loop().call_later(lives_s, self.end)

    def end(self) -> None:
        self.heard()
        self.is_over = True
        _at_once(self.session.close())


@dataclass(frozen=True, slots=True)
class _Wired:
    """A watch as the ensemble keeps it. It is of one connection; set twice there it is the same."""

    session: SimSession
    watch: Watch
    connection: int

    def __call__(self) -> None:
        self.session.fired(self)


class _Way:
    """One direction of a connection. What is sent arrives in its order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, store: SimStore) -> None:
        self._loop = loop
        self._store = store
        self._sent: deque[Callable[[], None]] = deque()
        self._due = 0  # of what was sent, held up
        self._is_held = False
        self._last = 0.0
        self._drops = 0

    def send(self, act: Callable[[], None]) -> None:
        self._sent.append(act)
        self._last = max(self._last, self._loop.time() + self._store.between(self._store.delay_s))
        self._loop.call_at(self._last, self._arrived, self._drops)

    def hold(self) -> None:
        self._is_held = True

    def let_go(self) -> None:
        self._is_held = False
        due, self._due = self._due, 0
        for _ in range(due):
            self._arrived(self._drops)

    def drop(self) -> None:
        """What is on its way is lost, and nothing is held any more."""
        self._is_held = False
        self._sent.clear()
        self._due = 0
        self._drops += 1

    def _arrived(self, drops: int) -> None:
        if drops != self._drops:
            return
        if self._is_held:
            self._due += 1
        else:
            self._sent.popleft()()


def _settle(answer: asyncio.Future[Result], outcome: Result | StoreError) -> None:
    if answer.done():
        return  # whoever asked has gone
    if isinstance(outcome, StoreError):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def _at_once(doing: Coroutine[object, object, Result]) -> Result:
    """The tree in memory answers without a wait."""
    try:
        doing.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    raise AssertionError("the tree in memory waited")
