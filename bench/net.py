"""Which way of serving sockets costs least: the project's own, or asyncio's transports?

`ours` is `odradek.net` as a broker runs it; `ours, TLS` shows what TLS adds. `transport` is the same
connection on an asyncio transport with a `BufferedProtocol`, `writelines` and `loop.sendfile`. Client and
server are two processes; the server's CPU time is read from /proc.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from _report import report
from odradek.net.connection import Connection, ConnectionSettings
from odradek.net.port import Address, ListenerSettings, SocketSettings
from odradek.net.server import Server, ServerSettings
from odradek.net.sockets import RECEIVE_BUFFER_SIZE, SocketNetwork
from odradek.net.tls import Keystore, ServerTls, TlsSettings
from odradek.testing.certificates import identity
from odradek.wire.parts import FileSlice, Part, size_of

MIB = 1024 * 1024
KAFKA_BUFFERS = 100 * 1024  # socket.send.buffer.bytes and socket.receive.buffer.bytes by default
SLICE_SIZE = MIB
FILE_SIZE = 64 * MIB
PRODUCE, FETCH = b"P", b"F"
ACKNOWLEDGED = struct.pack(">i", 60) + bytes(60)
FETCHED = struct.pack(">i", 100 + SLICE_SIZE) + bytes(100)


# -- the server's process ----------------------------------------------------------------------------------


class CachedFile:
    def __init__(self, opened: BinaryIO) -> None:
        self.opened = opened

    def fileno(self) -> int:
        return self.opened.fileno()

    def read(self, position: int, size: int) -> bytes:
        return os.pread(self.opened.fileno(), size, position)


class Echoing:
    """Answers a produce with a few bytes, a fetch with a slice of a file."""

    def __init__(self, file: CachedFile) -> None:
        self._file = file
        self._at = 0

    def request(self, connection: object, ticket: int, frame: memoryview) -> Sequence[Part] | None:
        del connection, ticket
        if frame[0] == FETCH[0]:
            self._at = (self._at + SLICE_SIZE) % FILE_SIZE
            return (FETCHED, FileSlice(self._file, self._at, SLICE_SIZE))
        return (ACKNOWLEDGED,)

    def closed(self, connection: Connection) -> None:
        del connection


async def serve_ours(handler: Echoing, tls: ServerTls | None = None) -> None:
    server = Server(SocketNetwork(), handler, ServerSettings())
    sockets = SocketSettings(KAFKA_BUFFERS, KAFKA_BUFFERS)
    listener = ListenerSettings("BENCH", Address("127.0.0.1", 0), tls=tls, sockets=sockets)
    print(server.listen(listener).port, flush=True)
    await asyncio.Event().wait()


async def serve_tls(handler: Echoing) -> None:
    broker = identity("broker")
    keystore = Keystore("PEM", chain=broker.certificate_pem, key=broker.key_pem)
    await serve_ours(handler, ServerTls(TlsSettings(keystore)))


class TransportStream(asyncio.BufferedProtocol):
    """The other way: asyncio receives into the buffer and writes, its own `sendfile` sends slices."""

    def __init__(self, handler: Echoing, receive_buffer: memoryview) -> None:
        self._handler = handler
        self._receive_buffer = receive_buffer
        self._came = 0
        self._slices: asyncio.Queue[list[Part]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.peer = self.local = Address("client", 0)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = Connection(
            self,
            self._receive_buffer,
            self._handler,
            ConnectionSettings(),
            listener="BENCH",
            number=0,
            forget=self._handler.closed,
        )

    def get_buffer(self, sizehint: int) -> memoryview:
        del sizehint
        return self._connection._channel.reader.spaces()[0]

    def buffer_updated(self, count: int) -> None:
        self._came = count
        self._readable()

    def receive(self, spaces: list[memoryview]) -> int:
        del spaces  # filled already
        return self._came

    def when_readable(self, callback: Callable[[], None] | None) -> None:
        if callback is None:
            self._transport.pause_reading()
        else:
            self._readable = callback
            self._transport.resume_reading()

    def when_writable(self, callback: Callable[[], None] | None) -> None:
        assert callback is None, "a transport takes everything"

    def send(self, parts: list[Part], size_max: int) -> int:
        del size_max
        size = size_of(parts)
        plain = [part for part in parts if not isinstance(part, FileSlice)]
        if len(plain) == len(parts):
            self._transport.writelines(plain)
        else:
            self._queue().put_nowait(parts.copy())
        parts.clear()
        return size

    def end(self) -> None:
        self._transport.write_eof()

    def peer_name(self) -> None:
        return None

    def close(self) -> None:
        self._transport.close()

    def eof_received(self) -> None:
        self._transport.close()

    def _queue(self) -> asyncio.Queue[list[Part]]:
        if self._slices is None:
            self._slices = asyncio.Queue()
            self._sender = asyncio.ensure_future(self._send_slices(self._slices))
        return self._slices

    async def _send_slices(self, queue: asyncio.Queue[list[Part]]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            for part in await queue.get():
                if isinstance(part, FileSlice):
                    assert isinstance(part.file, CachedFile)
                    await loop.sendfile(self._transport, part.file.opened, part.position, part.size)
                else:
                    self._transport.write(part)


async def serve_transport(handler: Echoing) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KAFKA_BUFFERS)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KAFKA_BUFFERS)
    receive_buffer = memoryview(bytearray(RECEIVE_BUFFER_SIZE))
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: TransportStream(handler, receive_buffer), sock=listening)
    print(listening.getsockname()[1], flush=True)
    await asyncio.Event().wait()


SERVERS = {"ours": serve_ours, "transport": serve_transport, "ours, TLS": serve_tls}


# -- the client's process ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    port: int
    pid: int

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(way: str, path: str) -> Iterator[Served]:
    process = subprocess.Popen([sys.executable, __file__, way, path], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Served(int(process.stdout.readline()), process.pid)
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True)
class Work:
    name: str
    request: bytes
    reply_size: int
    connections: int
    in_flight: int
    requests: int


class Client:
    """One blocking connection, or many that keep `in_flight` requests each."""

    def __init__(self, port: int, work: Work, *, is_tls: bool) -> None:
        self._wire = struct.pack(">i", len(work.request)) + work.request
        self._reply_size = work.reply_size
        self._sockets = [self._connected(port, is_tls=is_tls) for _ in range(work.connections)]
        self._space = memoryview(bytearray(MIB))

    def run(self, requests: int, in_flight: int) -> float:
        """Seconds until all are answered."""
        began = time.perf_counter()
        if len(self._sockets) == 1:
            self._run_one(self._sockets[0], requests, in_flight)
        else:
            self._run_many(requests, in_flight)
        return time.perf_counter() - began

    def close(self) -> None:
        for sock in self._sockets:
            sock.close()

    def _connected(self, port: int, *, is_tls: bool) -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not is_tls:
            return sock
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(sock)

    def _run_one(self, sock: socket.socket, requests: int, in_flight: int) -> None:
        sent = answered = came = 0
        while answered < requests:
            while sent < requests and sent - answered < in_flight:
                sock.sendall(self._wire)
                sent += 1
            came += sock.recv_into(self._space)
            answered = came // self._reply_size

    def _run_many(self, requests: int, in_flight: int) -> None:
        selector = selectors.DefaultSelector()
        came = dict.fromkeys(self._sockets, 0)
        by_number = {sock.fileno(): sock for sock in self._sockets}
        for sock in self._sockets:
            selector.register(sock, selectors.EVENT_READ)
            sock.sendall(self._wire * in_flight)
        answered = 0
        while answered < requests:
            for key, _ in selector.select():
                sock = by_number[key.fd]
                before = came[sock]
                came[sock] = before + sock.recv_into(self._space)
                new = came[sock] // self._reply_size - before // self._reply_size
                answered += new
                sock.sendall(self._wire * new)
        selector.close()


WORK = (
    Work("produce 16 KiB", PRODUCE + bytes(16 * 1024), 64, 1, 5, 100_000),
    Work("produce 128 KiB", PRODUCE + bytes(128 * 1024), 64, 1, 5, 20_000),
    Work("produce 1 MiB", PRODUCE + bytes(MIB), 64, 1, 5, 2_500),
    Work("produce 128 KiB", PRODUCE + bytes(128 * 1024), 64, 20, 2, 20_000),
    Work("small", PRODUCE + bytes(100), 64, 1, 1, 60_000),
    Work("small, pipelined", PRODUCE + bytes(100), 64, 1, 50, 300_000),
    Work("small", PRODUCE + bytes(100), 64, 50, 1, 100_000),
    Work("fetch 1 MiB", FETCH, 104 + SLICE_SIZE, 1, 1, 5_000),
    Work("fetch 1 MiB", FETCH, 104 + SLICE_SIZE, 20, 1, 5_000),
)
ROUNDS = 3
COLUMNS = ("work", "connections", "way", "requests/s", "GB/s", "server CPU s/GB", "server CPU us/request")


def measured(way: str, work: Work, path: str) -> list[str | int | float]:
    """The round with the least CPU."""
    with served(way, path) as server:
        client = Client(server.port, work, is_tls=way.endswith("TLS"))
        client.run(work.requests // 10, work.in_flight)
        best = (float("inf"), 0.0)
        for _ in range(ROUNDS):
            before = server.cpu_s()
            took_s = client.run(work.requests, work.in_flight)
            best = min(best, (server.cpu_s() - before, took_s))
        client.close()
    cpu_s, took_s = best
    size = work.requests * (size_of([work.request]) + work.reply_size) / 1e9
    return [
        work.name,
        work.connections,
        way,
        int(work.requests / took_s),
        size / took_s,
        cpu_s / size,
        cpu_s / work.requests * 1e6,
    ]


def main() -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(os.urandom(MIB) * ((FILE_SIZE + SLICE_SIZE) // MIB))
        file.flush()
        rows = [measured(way, work, file.name) for work in WORK for way in SERVERS]
    report("net", COLUMNS, rows)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        with open(sys.argv[2], "rb") as file:
            asyncio.run(SERVERS[sys.argv[1]](Echoing(CachedFile(file))))
    else:
        main()
