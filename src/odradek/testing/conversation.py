"""A client's side of one connection, as plain as can be: a request out, its answer in, bytes if need be."""

from __future__ import annotations

import socket
import ssl
import struct
from types import TracebackType
from typing import TypeVar

from odradek.wire.apis import API_BY_KEY, Api
from odradek.wire.frame import read_correlation_id, read_response, request_frame
from odradek.wire.parts import FileSlice

Response = TypeVar("Response")

_BY_NAME = {api.name: api for api in API_BY_KEY.values()}
TIMEOUT_S = 10.0


class Conversation:
    """Blocking, for tests. `bootstrap` is HOST:PORT."""

    def __init__(
        self, bootstrap: str, client_id: str | None = "test", tls: ssl.SSLContext | None = None
    ) -> None:
        host, _, port = bootstrap.rpartition(":")
        host = host.strip("[]")
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_S)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname=host)
        self._client_id = client_id
        self._sent = 0

    def ask(self, request: object, version: int) -> object:
        """The answer to a request."""
        return self.answer(self.send(request, version), version)

    def get(self, kind: type[Response], request: object, version: int) -> Response:
        """The answer, which is to be of this kind."""
        answer = self.ask(request, version)
        assert isinstance(answer, kind)
        return answer

    def send(self, request: object, version: int) -> Api:
        """Without waiting for the answer, which `answer` takes in its turn."""
        api = _BY_NAME[type(request).__name__.removesuffix("Request")]
        self._sent += 1
        parts = request_frame(api, version, self._sent, self._client_id, request)
        self.send_bytes(b"".join(part.read() if isinstance(part, FileSlice) else part for part in parts))
        return api

    def answer(self, api: Api, version: int) -> object:
        frame = memoryview(self.receive_frame())
        assert read_correlation_id(frame) <= self._sent
        return read_response(api, version, frame)

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive_frame(self) -> bytearray:
        """The next frame, without its size. EOFError when the broker has closed."""
        (size,) = struct.unpack(">i", self._receive(4))
        return self._receive(size)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, size: int) -> bytearray:
        received = bytearray()
        while len(received) < size:
            some = self._socket.recv(size - len(received))
            if not some:
                raise EOFError(f"the broker closed after {len(received)} of {size} bytes")
            received += some
        return received
