"""The real network: non-blocking sockets on the event loop's readiness callbacks.

Bytes are received into one buffer for the whole loop, small parts leave gathered in one call, file slices by
`sendfile`, without passing through this program.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from odradek.net.port import SYSTEM_DEFAULT, Address
from odradek.wire.parts import FileSlice, take

if TYPE_CHECKING:
    from odradek.net.port import ListenerSettings, SocketSettings, Stream
    from odradek.net.tls import ClientTls
    from odradek.wire.parts import Part

RECEIVE_BUFFER_SIZE = 256 * 1024
GATHERED_MAX = 256  # parts sent by one call; the system takes no more than 1024
ACCEPTED_A_TURN = 32
NO_RESOURCES_PAUSE_S = 1.0
NO_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]

log = logging.getLogger("odradek.net")


class SocketNetwork:
    """The machine's own network, for one event loop."""

    def __init__(self, receive_buffer_size: int = RECEIVE_BUFFER_SIZE) -> None:
        self._receive_buffer = memoryview(bytearray(receive_buffer_size))

    @property
    def receive_buffer(self) -> memoryview:
        return self._receive_buffer

    def listen(self, listener: ListenerSettings, accepted: Callable[[Stream], None]) -> SocketListening:
        return SocketListening(_bound(listener), listener, accepted)

    async def connect(self, address: Address, sockets: SocketSettings, tls: ClientTls | None) -> Stream:
        failure: OSError = OSError(f"{address} has no address")
        for family, target in await _resolved(address):
            try:
                sock = await _connected(family, target, sockets)
            except OSError as error:
                failure = error
                continue
            peer = _address(target)
            if tls is None:
                return SocketStream(sock, peer)
            from odradek.net.tls_stream import TlsStream

            return await TlsStream.connected(sock, peer, tls, address.host)
        raise failure


class SocketStream:
    """A plain TCP connection."""

    __slots__ = ("_fd", "_loop", "_socket", "peer")

    def __init__(self, sock: socket.socket, peer: Address) -> None:
        self.peer = peer
        self._socket = sock
        self._fd = sock.fileno()
        self._loop = asyncio.get_running_loop()

    @property
    def local(self) -> Address:
        return _address(self._socket.getsockname())

    def receive(self, spaces: list[memoryview]) -> int:
        if len(spaces) == 1:
            return self._socket.recv_into(spaces[0])
        return self._socket.recvmsg_into(spaces)[0]

    def send(self, parts: list[Part], size_max: int) -> int:
        total = 0
        try:
            while parts and total < size_max:
                head = parts[0]
                if isinstance(head, FileSlice):
                    count, wanted = self._send_slice(head, size_max - total)
                elif len(parts) == 1:
                    count, wanted = self._socket.send(head), len(head)
                else:
                    count, wanted = self._send_gathered(parts)
                take(parts, count)
                total += count
                if count < wanted:
                    break  # the socket is full; asking once more would only be told so
        except BlockingIOError:
            pass
        return total

    def when_readable(self, callback: Callable[[], None] | None) -> None:
        if callback is None:
            self._loop.remove_reader(self._fd)
        else:
            self._loop.add_reader(self._fd, callback)

    def when_writable(self, callback: Callable[[], None] | None) -> None:
        if callback is None:
            self._loop.remove_writer(self._fd)
        else:
            self._loop.add_writer(self._fd, callback)

    def end(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def peer_name(self) -> str | None:
        return None

    def close(self) -> None:
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._socket.close()

    def _send_gathered(self, parts: list[Part]) -> tuple[int, int]:
        """Bytes sent, and bytes that were to be sent."""
        gathered: list[bytes | bytearray | memoryview] = []
        wanted, flags = 0, 0
        for part in parts:
            if isinstance(part, FileSlice):
                flags = socket.MSG_MORE  # or a short packet would leave before the slice that follows at once
                break
            gathered.append(part)
            wanted += len(part)
            if len(gathered) == GATHERED_MAX:
                break
        return self._socket.sendmsg(gathered, (), flags), wanted

    def _send_slice(self, part: FileSlice, size_max: int) -> tuple[int, int]:
        wanted = min(part.size, size_max)
        count = os.sendfile(self._fd, part.file.fileno(), part.position, wanted)
        if count == 0 and wanted:
            raise OSError(errno.EIO, f"the file ends {part.size} bytes before its slice does")
        return count, wanted


class SocketListening:
    """Accepts what comes; out of descriptors, it waits and says so."""

    def __init__(
        self, sock: socket.socket, listener: ListenerSettings, accepted: Callable[[Stream], None]
    ) -> None:
        self._socket = sock
        self._listener = listener
        self._accepted = accepted
        self._loop = asyncio.get_running_loop()
        self._is_paused = False
        self._retry: asyncio.TimerHandle | None = None  # out of resources until then
        self._is_short = False
        self._loop.add_reader(sock.fileno(), self._acceptable)

    @property
    def address(self) -> Address:
        return _address(self._socket.getsockname())

    def pause(self) -> None:
        self._is_paused = True
        self._loop.remove_reader(self._socket.fileno())

    def resume(self) -> None:
        self._is_paused = False
        if self._retry is None:
            self._loop.add_reader(self._socket.fileno(), self._acceptable)

    def close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        self._is_paused = True

    def _acceptable(self) -> None:
        for _ in range(ACCEPTED_A_TURN):
            if self._is_paused:
                return
            try:
                sock, address = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in NO_RESOURCES:
                    raise
                self._run_short(error)
                return
            self._accept(sock, _address(address))

    def _accept(self, sock: socket.socket, peer: Address) -> None:
        if self._is_short:
            self._is_short = False
            log.warning("listener %s accepts connections again", self._listener.name)
        sock.setblocking(False)
        if self._listener.tls is None:
            self._accepted(SocketStream(sock, peer))
            return
        from odradek.net.tls_stream import TlsStream  # few brokers need it, and all should start fast

        try:
            stream = TlsStream.accepted(sock, peer, self._listener.tls)
        except OSError as error:
            sock.close()  # gone already
            log.debug("%s left before its handshake: %s", peer, error)
        else:
            self._accepted(stream)

    def _run_short(self, error: OSError) -> None:
        """The backlog stays readable: without a pause the loop would spin on it."""
        if not self._is_short:
            self._is_short = True
            log.error(
                "listener %s cannot accept connections: %s; trying again every %g s",
                self._listener.name,
                error.strerror,
                NO_RESOURCES_PAUSE_S,
            )
        self._loop.remove_reader(self._socket.fileno())
        self._retry = self._loop.call_later(NO_RESOURCES_PAUSE_S, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        if not self._is_paused:
            self.resume()


def _bound(listener: ListenerSettings) -> socket.socket:
    """Accepted sockets inherit how their listener is tuned."""
    family, target = _place(listener.address)
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if target[0] == "::":
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        _tune(sock, listener.sockets)
        sock.bind(target)
        sock.listen(listener.backlog)
    except OSError:
        sock.close()
        raise
    return sock


def _place(address: Address) -> tuple[int, SocketAddress]:
    """Where to bind. Of a name's addresses the first IPv4 one, as Java takes it."""
    if not address.host:
        has_both = socket.has_dualstack_ipv6()
        return (socket.AF_INET6, ("::", address.port)) if has_both else (socket.AF_INET, ("", address.port))
    found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    family, _, _, _, target = min(found, key=lambda each: each[0] != socket.AF_INET)
    return family, target


async def _connected(family: int, target: SocketAddress, settings: SocketSettings) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        _tune(sock, settings)
        await asyncio.get_running_loop().sock_connect(sock, target)
    except (OSError, asyncio.CancelledError):
        sock.close()
        raise
    return sock


async def _resolved(address: Address) -> list[tuple[int, SocketAddress]]:
    """A number needs no resolver, and so no thread."""
    try:
        found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        found = await asyncio.get_running_loop().getaddrinfo(*address, type=socket.SOCK_STREAM)
    return [(family, target) for family, _, _, _, target in found]


def _tune(sock: socket.socket, settings: SocketSettings) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if settings.send_buffer_size != SYSTEM_DEFAULT:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings.send_buffer_size)
    if settings.receive_buffer_size != SYSTEM_DEFAULT:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings.receive_buffer_size)


def _address(target: SocketAddress) -> Address:
    """An IPv4 client of a listener for both is shown as what it is."""
    host, port = target[0], target[1]
    assert isinstance(host, str), "an IPv6 address of a Python that knows none"
    assert isinstance(port, int)
    return Address(host.removeprefix("::ffff:") if "." in host else host, port)
