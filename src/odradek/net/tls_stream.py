"""A connection under TLS: the same stream, its bytes enciphered by OpenSSL on the way.

A listener's side shakes hands in its first receives, so that a slow or hostile peer costs what any idle
connection costs. Slices of files are read and enciphered piece by piece; there is no `sendfile` here.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from odradek.net.port import Address
from odradek.net.tls import ClientTls, ServerTls, Subject, distinguished_name
from odradek.wire.parts import FileSlice, take

if TYPE_CHECKING:
    from odradek.wire.parts import Part

PIECE_SIZE = 64 * 1024  # enciphered by one call


class TlsStream:
    __slots__ = ("_fd", "_is_shaken", "_loop", "_piece", "_readable", "_socket", "peer")

    def __init__(self, sock: ssl.SSLSocket, peer: Address) -> None:
        self.peer = peer
        self._socket = sock
        self._fd = sock.fileno()
        self._loop = asyncio.get_running_loop()
        self._is_shaken = False
        self._readable: Callable[[], None] | None = None
        self._piece: bytes | memoryview | None = None  # given to OpenSSL, which wants to be given it again

    @classmethod
    def accepted(cls, sock: socket.socket, peer: Address, tls: ServerTls) -> TlsStream:
        """Takes the socket over, also when it fails."""
        return cls(tls.context().wrap_socket(sock, server_side=True, do_handshake_on_connect=False), peer)

    @classmethod
    async def connected(cls, sock: socket.socket, peer: Address, tls: ClientTls, host: str) -> TlsStream:
        """Takes the socket over, also when it fails."""
        wrapped = tls.context().wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
        stream = cls(wrapped, peer)
        try:
            await stream._shake_hands()
        except (OSError, asyncio.CancelledError):
            stream.close()
            raise
        return stream

    @property
    def local(self) -> Address:
        return Address(*self._socket.getsockname()[:2])

    def receive(self, spaces: list[memoryview]) -> int:
        total = 0
        try:
            if not self._is_shaken:
                self._socket.do_handshake()
                self._is_shaken = True
            for space in spaces:
                at = 0
                while at < len(space):
                    count = self._socket.recv_into(space[at:])
                    if count == 0:  # the end; if something came before it, it is told next time
                        if total:
                            self._loop.call_soon(self._read_on)
                        return total
                    at += count
                    total += count
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            if total == 0:
                raise BlockingIOError from None
            return total
        if self._socket.pending():
            # These bytes are here already: the socket will not become readable for them.
            self._loop.call_soon(self._read_on)
        return total

    def send(self, parts: list[Part], size_max: int) -> int:
        total = 0
        try:
            while parts and total < size_max:
                piece = self._piece if self._piece is not None else _piece(parts)
                self._piece = piece
                count = self._socket.send(piece) if piece else 0
                self._piece = None
                take(parts, count)
                total += count
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        return total

    def when_readable(self, callback: Callable[[], None] | None) -> None:
        self._readable = callback
        if callback is None:
            self._loop.remove_reader(self._fd)
        else:
            self._loop.add_reader(self._fd, callback)
            if self._socket.pending():
                self._loop.call_soon(self._read_on)

    def when_writable(self, callback: Callable[[], None] | None) -> None:
        if callback is None:
            self._loop.remove_writer(self._fd)
        else:
            self._loop.add_writer(self._fd, callback)

    def end(self) -> None:
        with contextlib.suppress(ssl.SSLWantReadError):  # it would wait for the peer's word of farewell
            self._socket.unwrap()
        self._socket.shutdown(socket.SHUT_WR)

    def peer_name(self) -> str | None:
        certificate = self._socket.getpeercert() if self._is_shaken else None
        return distinguished_name(cast("Subject", certificate["subject"])) if certificate else None

    def close(self) -> None:
        self._readable = None
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._socket.close()

    def _read_on(self) -> None:
        if self._readable is not None:
            self._readable()

    async def _shake_hands(self) -> None:
        while not self._is_shaken:
            is_ready = asyncio.Event()
            try:
                self._socket.do_handshake()
                self._is_shaken = True
            except ssl.SSLWantReadError:
                self.when_readable(is_ready.set)
                await is_ready.wait()
                self.when_readable(None)
            except ssl.SSLWantWriteError:
                self.when_writable(is_ready.set)
                await is_ready.wait()
                self.when_writable(None)


def _piece(parts: list[Part]) -> bytes | memoryview:
    """What is sent next: a piece of a slice, or small parts put together."""
    head = parts[0]
    if isinstance(head, FileSlice):
        size = min(head.size, PIECE_SIZE)
        read = head.file.read(head.position, size)
        if len(read) < size:
            raise OSError(errno.EIO, f"the file ends {head.size - len(read)} bytes before its slice does")
        return read
    if len(head) >= PIECE_SIZE:
        return memoryview(head)[:PIECE_SIZE]
    gathered: list[bytes | bytearray | memoryview] = []
    size = 0
    for part in parts:
        if isinstance(part, FileSlice) or size + len(part) > PIECE_SIZE:
            break
        gathered.append(part)
        size += len(part)
    return b"".join(gathered)
