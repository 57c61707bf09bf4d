"""The store as a ZooKeeper ensemble keeps it, spoken to through kazoo; the only file that imports it.

kazoo lives on a thread of its own. What it calls back does one thing there: it hops onto the loop, in the
order in which the ensemble spoke. Everything else happens on the loop.

While the connection is lost, calls wait. What was under way then is asked again if it only reads; a commit
raises `ConnectionLost`, for nobody knows. kazoo hears that a session has expired only when it reaches the
ensemble again, so we count as well: a session that has heard nothing for as long as it may live is over. If
the ensemble did not count that time (it was down itself), the next session goes on under the same id.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVarTuple, assert_never, cast

from odradek.coordination.ensemble import OPEN, SECRET, FullStat, refuse_oversized
from odradek.coordination.store import (
    Check,
    ConnectionLost,
    Create,
    Delete,
    Done,
    EphemeralHasNoChildren,
    Node,
    NodeExists,
    NodeHasChildren,
    NoNode,
    Operation,
    SessionExpired,
    Stat,
    StoreError,
    VersionConflict,
    Watch,
    Write,
)
from odradek.coordination.tree import parent_of
from odradek.model.config.setting import ConfigError

try:
    from kazoo import exceptions as kazoo
    from kazoo.client import KazooClient
    from kazoo.handlers.threading import SequentialThreadingHandler
    from kazoo.protocol import serialization as requests
    from kazoo.protocol.connection import PURESASL_AVAILABLE
    from kazoo.protocol.states import KazooState, KeeperState
    from kazoo.retry import KazooRetry
    from kazoo.security import ACL, CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE
except ImportError:
    raise ImportError("ZooKeeper is spoken to through kazoo: pip install odradek[zookeeper]") from None

if TYPE_CHECKING:
    from kazoo.interfaces import IAsyncResult
    from kazoo.protocol.states import Callback, ZnodeStat

    from odradek.coordination.ensemble import Connect, Ensemble, Login

Credentials: TypeAlias = tuple[int, bytes]  # a session's id, and what proves that it is ours

RECONNECT_AFTER_S = 0.05
RECONNECT_AFTER_S_MAX = 1.0  # kazoo's own would grow to an hour

Arguments = TypeVarTuple("Arguments")

_log = logging.getLogger("odradek.coordination.zookeeper")


class ZooKeeper:
    """A client of one ensemble: one session after the other."""

    def __init__(self, ensemble: Ensemble) -> None:
        self._ensemble = ensemble
        self._last: ZooKeeperSession | None = None

    async def session(self) -> ZooKeeperSession:
        """`ConnectionLost` when nobody lets us in within the connection's time-out, with the reason."""
        last = self._last
        if last is not None:
            await last.close()
        resumed = None if last is None else last.to_resume
        session = ZooKeeperSession(self._ensemble, resumed)
        try:
            await session.open()
            self._last = session
        finally:
            if self._last is not session:
                await session.close()
        return session


class ZooKeeperSession:
    def __init__(self, ensemble: Ensemble, resumed: Credentials | None) -> None:
        """For `ZooKeeper.session`."""
        self.to_resume: Credentials | None = None  # when it ended by our clock only
        self._ensemble = ensemble
        self._root = ensemble.root
        self._loop = asyncio.get_running_loop()
        self._credentials: Credentials = (0, b"")
        self._over = False
        self._connected = asyncio.Event()  # set too when the session is over
        self._under_way: set[asyncio.Future[object]] = set()
        self._in_flight = asyncio.Semaphore(ensemble.in_flight_max)
        self._deadline: asyncio.TimerHandle | None = None
        self._on_expired: list[Watch] = []
        self._stopping: asyncio.Future[None] | None = None
        # Silence is noticed after two thirds of a session's time. The last third has to do for every server.
        attempt_s = ensemble.session_timeout_ms / 1000 / 3 / len(ensemble.servers)
        self._connections = _Connections(self._loop, ensemble.connect, attempt_s)
        self._client = KazooClient(
            ",".join(ensemble.servers),
            timeout=ensemble.session_timeout_ms / 1000,
            client_id=resumed,
            handler=self._connections,
            sasl_options=_sasl(ensemble.login),
            connection_retry=KazooRetry(
                max_tries=-1, delay=RECONNECT_AFTER_S, max_delay=RECONNECT_AFTER_S_MAX
            ),
            logger=_kazoo_log(),
        )
        self._client.add_listener(self._changed_on_thread)

    async def open(self) -> None:
        """For `ZooKeeper.session`."""
        self._client.start_async()
        try:
            async with asyncio.timeout(self._ensemble.connection_timeout_ms / 1000):
                await self._make_root()
        except (TimeoutError, SessionExpired):
            reason = self._connections.failure or "it has not answered, or none of its hosts has an address"
            raise ConnectionLost("", f"no way into {','.join(self._ensemble.servers)}: {reason}") from None

    @property
    def id(self) -> int:
        return self._credentials[0]

    # -- the port ------------------------------------------------------------------------------------------

    async def get(self, path: str, watch: Watch | None = None) -> Node:
        hop = self._hop(watch)
        while True:
            try:
                data, stat = await self._get(path, hop)
            except NoNode:
                # Reading a node that is not there leaves no watch; asking whether it is there does.
                if hop is None or not await self._exists(path, hop):
                    raise
            else:
                return Node(data or b"", _stat(stat))

    async def get_many(self, paths: Sequence[str]) -> list[Node | None]:
        return await asyncio.gather(*(self._find(path) for path in paths))

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        hop = self._hop(watch)
        names = await self._read(path, lambda: self._client.get_children_async(self._path(path), hop))
        return sorted(cast("list[str]", names))

    async def commit(self, *operations: Operation) -> list[Done]:
        refuse_oversized(operations)
        if not operations:
            await self._ready()
            return []
        transaction = self._client.transaction()
        transaction.operations += [self._request(each) for each in operations]
        try:
            results = cast("list[object]", await self._ask(transaction.commit_async))
        except kazoo.ZookeeperError as failure:
            raise StoreError(operations[0].path, _words(failure)) from None
        for operation, result in zip(operations, results, strict=True):
            # The ones before the one that failed were rolled back, the ones after it were not tried.
            if isinstance(result, Exception) and not isinstance(
                result, kazoo.RolledBackError | kazoo.RuntimeInconsistency
            ):
                raise _refusal(operation, result)
        return [self._done(*each) for each in zip(operations, results, strict=True)]

    def on_expired(self, watch: Watch) -> None:
        if self._over:
            watch()
        else:
            self._on_expired.append(watch)

    async def close(self) -> None:
        self._on_expired.clear()
        self._end()
        assert self._stopping is not None
        await asyncio.shield(self._stopping)

    async def read(self, path: str) -> tuple[bytes | None, FullStat]:
        """A node with all that ZooKeeper tells of it; None where no data was ever given to it."""
        data, stat = await self._get(path, None)
        return data, FullStat._make(stat)

    # -- asking --------------------------------------------------------------------------------------------

    async def _ready(self) -> None:
        """Connected, or over."""
        await self._connected.wait()
        if self._over:
            raise SessionExpired

    async def _ask(self, send: Callable[[], IAsyncResult]) -> object:
        """One request and what comes of it. kazoo's exceptions about nodes are left to the caller."""
        async with self._in_flight:
            await self._ready()
            answer: asyncio.Future[object] = self._loop.create_future()
            self._under_way.add(answer)
            send().rawlink(lambda result: self._hop_over(self._settle, answer, result))
            try:
                return await answer
            except kazoo.ConnectionLoss:
                raise ConnectionLost("", "the connection to ZooKeeper was lost") from None
            except (kazoo.SessionExpiredError, kazoo.AuthFailedError):
                raise SessionExpired from None
            finally:
                self._under_way.discard(answer)

    def _settle(self, answer: asyncio.Future[object], result: IAsyncResult) -> None:
        if isinstance(result.exception, kazoo.ConnectionLoss) and not self._over:
            # Its state is told next. Until then kazoo loses, unsent, whatever else it is given.
            self._connected.clear()
        if answer.done():
            return  # whoever asked has gone, or was told that the session is over
        if result.successful():
            answer.set_result(result.value)
        else:
            answer.set_exception(result.exception)

    async def _read(self, path: str, send: Callable[[], IAsyncResult]) -> object:
        while True:
            try:
                return await self._ask(send)
            except ConnectionLost:
                continue  # which waits until there is a connection again, or the session is over
            except kazoo.NoNodeError:
                raise NoNode(path) from None
            except kazoo.ZookeeperError as failure:
                raise StoreError(path, _words(failure)) from None

    async def _get(self, path: str, hop: _Hop | None) -> tuple[bytes | None, ZnodeStat]:
        found = await self._read(path, lambda: self._client.get_async(self._path(path), hop))
        return cast("tuple[bytes | None, ZnodeStat]", found)

    async def _find(self, path: str) -> Node | None:
        try:
            return await self.get(path)
        except NoNode:
            return None

    async def _exists(self, path: str, hop: _Hop | None) -> bool:
        found = await self._read(path, lambda: self._client.exists_async(self._path(path), hop))
        return found is not None

    def _path(self, path: str) -> str:
        return self._root + path if path != "/" else self._root or path

    # -- what a commit is made of --------------------------------------------------------------------------

    def _request(self, operation: Operation) -> object:
        path = self._path(operation.path)
        match operation:
            case Create(_, data, ephemeral, sequential):
                flags = 1 * ephemeral + 2 * sequential
                return requests.Create(path, data or None, self._acl(operation.path), flags)
            case Write(_, data, version):
                return requests.SetData(path, data, version)
            case Delete(_, version):
                return requests.Delete(path, version)
            case Check(_, version):
                return requests.CheckVersion(path, version)
            case _:
                assert_never(operation)

    def _done(self, operation: Operation, result: object) -> Done:
        match operation:
            case Create():
                return Done(cast("str", result).removeprefix(self._root), 0)
            case Write():
                return Done(operation.path, cast("ZnodeStat", result).version)
            case Delete() | Check():
                return Done(operation.path, operation.version)
            case _:
                assert_never(operation)

    def _acl(self, path: str) -> list[ACL]:
        if not self._ensemble.only_we_may_change or path == OPEN:
            return list(OPEN_ACL_UNSAFE)
        return [*CREATOR_ALL_ACL, *([] if path.startswith(SECRET) else READ_ACL_UNSAFE)]

    async def _make_root(self) -> None:
        """In any case asks something: only the answer shows that we are connected and known."""
        parts = self._root.split("/")
        for depth in range(1, len(parts) + 1):
            await self._make_node("/".join(parts[:depth]) or "/")

    async def _make_node(self, path: str) -> None:
        if await self._read(path, lambda: self._client.exists_async(path)) is not None:
            return
        try:
            await self._ask(lambda: self._client.create_async(path, None, self._acl(path)))
        except kazoo.NodeExistsError:
            pass  # another broker starts at the same moment
        except kazoo.ZookeeperError as failure:
            raise StoreError(path, _words(failure)) from None

    # -- the life of a session -----------------------------------------------------------------------------

    def _changed_on_thread(self, state: str) -> None:
        if state == KazooState.LOST:
            # At once: kazoo goes on with a new session by itself, which must not do what this was told.
            self._connections.refuses = True
            if self._client.client_state == KeeperState.AUTH_FAILED:
                self._connections.failure = "it does not accept our login"
        self._hop_over(self._changed, state, self._client.client_id)

    def _changed(self, state: str, credentials: Credentials | None) -> None:
        if self._over:
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if state == KazooState.LOST:
            _log.warning("the session has expired")
            self._expire()
        elif state == KazooState.SUSPENDED:
            _log.warning("the connection to ZooKeeper is lost")
            self._connected.clear()
            lives_s = self._ensemble.session_timeout_ms / 1000
            self._deadline = self._loop.call_at(self._connections.heard_at + lives_s, self._give_up)
        elif credentials is not None:  # else it is lost again already
            self._credentials = credentials
            self._connected.set()

    def _give_up(self) -> None:
        _log.warning("the session is taken for expired: nothing was heard of ZooKeeper for too long")
        self.to_resume = self._credentials
        self._expire()

    def _expire(self) -> None:
        self._end()
        for watch in self._on_expired:
            watch()
        self._on_expired.clear()

    def _end(self) -> None:
        if self._over:
            return
        self._over = True
        if self._deadline is not None:
            self._deadline.cancel()
        self._connected.set()
        for answer in self._under_way:
            if not answer.done():
                answer.set_exception(kazoo.ConnectionLoss())
        self._stopping = asyncio.ensure_future(asyncio.to_thread(self._stop))

    def _stop(self) -> None:
        """On a thread: waits for kazoo's, which may be in the middle of connecting."""
        try:
            self._client.stop()
            self._client.close()
        except kazoo.KazooException as failure:
            _log.warning("the connection to ZooKeeper does not close: %s", failure)

    def _hop(self, watch: Watch | None) -> _Hop | None:
        return None if watch is None else _Hop(self, watch)

    def fire(self, watch: Watch) -> None:
        """For `_Hop`, on kazoo's thread."""
        self._hop_over(self._fire, watch)

    def _fire(self, watch: Watch) -> None:
        if not self._over:
            watch()

    def _hop_over(self, call: Callable[[*Arguments], None], *arguments: *Arguments) -> None:
        """From kazoo's thread onto the loop."""
        with suppress(RuntimeError):  # the loop has ended: there is nobody left to tell
            self._loop.call_soon_threadsafe(call, *arguments)


class _Hop(NamedTuple):
    """A watch as kazoo is given it: set twice it is the same, and fires once. It fires also when the
    connection is lost, because nobody will tell what was missed."""

    session: ZooKeeperSession
    watch: Watch

    def __call__(self, _: object) -> None:
        self.session.fire(self.watch)


class _Connections(SequentialThreadingHandler):  # type: ignore[misc]
    """What kazoo has its sockets and threads from.

    Its own runs callbacks on two more threads, one for watches and one for answers: a watch and the answer
    that shows the change would race. Here all is called in the order in which it was received.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, connect: Connect | None, attempt_s: float) -> None:
        super().__init__()
        self.refuses = False
        self.failure = ""  # of the last attempt
        self.heard_at = loop.time()
        self._loop = loop
        self._connect = connect
        self._attempt_s = attempt_s
        self._socket: object = None
        self._socket_heard = False

    def start(self) -> None:
        """No threads for callbacks."""

    def stop(self) -> None:
        """Nothing was started."""

    def dispatch_callback(self, callback: Callback) -> None:
        callback.func(*callback.args)

    def create_connection(self, address: tuple[str, int], hostname: str, **how: object) -> object:
        del how
        self._socket_heard = False
        if self.refuses:
            raise ConnectionAbortedError("the session is over")
        try:
            if self._connect is None:
                self._socket = super().create_connection(address, timeout=self._attempt_s)
            else:
                self._socket = self._connect(hostname, *address, self._attempt_s)
        except OSError as failure:
            self.failure = f"{hostname}:{address[1]}: {failure}"
            raise
        return self._socket

    def select(
        self, readers: list[object], writers: list[object], failing: list[object], timeout: float | None
    ) -> tuple[list[object], list[object], list[object]]:
        """What TLS has read ahead no selector tells, and kazoo asks only while it is inside a message."""
        ahead = [each for each in readers if _has_read_ahead(each)]
        if not self._socket_heard:  # a server that is starting or stopped may take us and never answer
            timeout = self._attempt_s if timeout is None else min(timeout, self._attempt_s)
        ready = super().select(readers, writers, failing, 0 if ahead else timeout)
        readable = [*ready[0], *(each for each in ahead if each not in ready[0])]
        if self._socket in readable:
            self.heard_at, self._socket_heard = self._loop.time(), True
        return readable, ready[1], ready[2]


def _has_read_ahead(socket: object) -> bool:
    pending = getattr(socket, "pending", None)
    return pending is not None and pending() > 0


def _kazoo_log() -> logging.Logger:
    """kazoo warns of every attempt to connect; we say once that the connection is lost."""
    log = logging.Logger(f"{_log.name}.kazoo", logging.ERROR)
    log.parent = _log
    return log


def _stat(stat: ZnodeStat) -> Stat:
    return Stat(
        stat.czxid, stat.mzxid, stat.version, stat.ctime, stat.mtime, stat.ephemeralOwner, stat.numChildren
    )


def _refusal(operation: Operation, failure: Exception) -> StoreError:
    path = operation.path
    match failure:
        case kazoo.NoNodeError():
            return NoNode(parent_of(path) if isinstance(operation, Create) else path)
        case kazoo.NoChildrenForEphemeralsError():
            return EphemeralHasNoChildren(parent_of(path))
        case kazoo.NodeExistsError():
            return NodeExists(path)
        case kazoo.NotEmptyError():
            return NodeHasChildren(path)
        case kazoo.BadVersionError():
            assert not isinstance(operation, Create)
            return VersionConflict(path, operation.version)
        case _:
            return StoreError(path, _words(failure))


def _words(failure: Exception) -> str:
    if isinstance(failure, kazoo.NoAuthError):
        return "the ensemble does not allow it to whom we are"
    return str(failure) or type(failure).__name__


def _sasl(login: Login | None) -> dict[str, str] | None:
    if login is None:
        return None
    if not PURESASL_AVAILABLE:
        raise ConfigError("SASL to ZooKeeper needs the package pure-sasl: pip install odradek[zookeeper]")
    return {"mechanism": "DIGEST-MD5", "username": login.username, "password": login.password}
