"""A connection to one broker as a port, and the real one over the network.

`testing/recorded_cluster.py` has the twin that gives recorded answers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from odradek.net.peer import Answer, Peer, PeerLost, PeerSettings, connect
from odradek.net.sockets import SocketNetwork
from odradek.net.tls import ClientTls
from odradek.wire.apis import API_BY_KEY
from odradek.wire.frame import read_response, request_frame
from odradek.wire.primitives import Malformed

if TYPE_CHECKING:
    from odradek.client.settings import ClientSettings
    from odradek.net.port import Address
    from odradek.wire.apis import Api

API_VERSIONS = API_BY_KEY[18]
_ERROR_CODE_AT = 4  # behind the correlation id, in every version
_UNSUPPORTED_VERSION = 35


class Connection(Protocol):
    @property
    def closed(self) -> str | None:
        """Why it is closed, if it is."""
        ...

    async def ask(self, api: Api, version: int, request: object) -> object:
        """The response. `PeerLost` when there is none."""
        ...

    def close(self) -> None: ...


class Connector(Protocol):
    async def connect(self, address: Address) -> Connection:
        """`PeerLost` when nobody is there, or nobody trusted."""
        ...


class PeerConnector:
    """Connects over the machine's network."""

    def __init__(self, settings: ClientSettings) -> None:
        self._network = SocketNetwork()
        self._tls = None if settings.tls is None else ClientTls(settings.tls)
        self._settings = PeerSettings(
            client_id=settings.client_id,
            connect_timeout_ms=settings.connect_timeout_ms,
            request_timeout_ms=settings.request_timeout_ms,
        )

    async def connect(self, address: Address) -> Connection:
        peer = await connect(self._network, address, self._settings, self._tls)
        return PeerConnection(peer, self._settings.client_id)


class PeerConnection:
    def __init__(self, peer: Peer, client_id: str | None) -> None:
        self._peer = peer
        self._client_id = client_id

    @property
    def closed(self) -> str | None:
        return self._peer.closed

    async def ask(self, api: Api, version: int, request: object) -> object:
        if api is API_VERSIONS:
            return await self._ask_versions(version, request)
        return await self._peer.request(api, version, request)

    def close(self) -> None:
        self._peer.close()

    async def _ask_versions(self, version: int, request: object) -> object:
        """Whoever does not speak the version of this question answers it in version 0."""
        done: asyncio.Future[object] = asyncio.get_running_loop().create_future()

        def answered(answer: Answer) -> None:
            if done.cancelled():
                return
            if isinstance(answer, PeerLost):
                done.set_exception(answer)
                return
            error_code = int.from_bytes(answer[_ERROR_CODE_AT : _ERROR_CODE_AT + 2], "big", signed=True)
            spoken = 0 if error_code == _UNSUPPORTED_VERSION else version
            try:
                done.set_result(read_response(API_VERSIONS, spoken, answer))
            except Malformed as bad:
                done.set_exception(PeerLost(f"{self._peer.address}: {bad}"))
                raise

        self._peer.ask(
            lambda number: request_frame(API_VERSIONS, version, number, self._client_id, request), answered
        )
        return await done
