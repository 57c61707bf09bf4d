"""One pipelined connection to a broker: another one of the cluster, or any that a tool administers.

Requests leave at once, up to a bound; answers come in the order of the requests. A peer that does not answer
in time, or out of turn, or not in our language, is closed, and whoever still waits for it is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from odradek.net.channel import Channel
from odradek.net.port import SocketSettings
from odradek.wire.connection import BadFrame, ClientRequests, FrameReader
from odradek.wire.frame import read_correlation_id, read_response, request_frame
from odradek.wire.primitives import Malformed

if TYPE_CHECKING:
    from odradek.net.port import Address, Network, Stream
    from odradek.net.tls import ClientTls
    from odradek.wire.apis import Api
    from odradek.wire.parts import Part


class PeerLost(Exception):
    """No connection, or no answer. What was asked may have been done."""


class PeerBusy(Exception):
    """So many requests have no answer yet that no more are sent. This one was not."""


Answer: TypeAlias = memoryview | PeerLost
"""The frame of an answer without its size, gone when the callback returns; or why there is none."""


@dataclass(frozen=True, slots=True)
class PeerSettings:
    client_id: str | None = None
    connect_timeout_ms: int = 10_000  # socket.connection.setup.timeout.ms
    request_timeout_ms: int = 30_000  # request.timeout.ms
    frame_size_max: int = 100 * 1024 * 1024
    unanswered_max: int = 100  # requests
    sockets: SocketSettings = field(default_factory=SocketSettings)


@dataclass(slots=True)
class _Waiting:
    answered: Callable[[Answer], None]
    deadline: asyncio.TimerHandle


async def connect(
    network: Network, address: Address, settings: PeerSettings, tls: ClientTls | None = None
) -> Peer:
    """`PeerLost` when nobody is there in time, or nobody trusted."""
    try:
        async with asyncio.timeout(settings.connect_timeout_ms / 1000):
            stream = await network.connect(address, settings.sockets, tls)
    except TimeoutError:
        raise PeerLost(f"{address} did not answer within {settings.connect_timeout_ms} ms") from None
    except OSError as error:
        raise PeerLost(f"{address} cannot be reached: {error}") from error
    return Peer(stream, network.receive_buffer, settings)


class Peer:
    """Ask it things. `connect` makes one."""

    def __init__(self, stream: Stream, receive_buffer: memoryview, settings: PeerSettings) -> None:
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._requests = ClientRequests[_Waiting]()
        self._is_gone = asyncio.Event()
        self._channel = Channel(stream, FrameReader(receive_buffer, settings.frame_size_max), self)
        self._channel.read(True)

    @property
    def address(self) -> Address:
        return self._channel.stream.peer

    @property
    def closed(self) -> str | None:
        """Why it is closed, if it is."""
        return self._channel.closed

    @property
    def unanswered(self) -> int:
        return len(self._requests)

    async def request(self, api: Api, version: int, request: object) -> object:
        """Ask, and wait for the response. `PeerLost` when there is none, `PeerBusy` when too many wait."""
        done: asyncio.Future[object] = self._loop.create_future()

        def answered(answer: Answer) -> None:
            if done.cancelled():
                return  # whoever asked has gone; the answer is taken all the same, in its turn
            if isinstance(answer, PeerLost):
                done.set_exception(answer)
                return
            try:
                done.set_result(read_response(api, version, answer))
            except Malformed as bad:
                done.set_exception(PeerLost(f"{self.address}: {bad}"))
                raise

        def framed(correlation_id: int) -> Sequence[Part]:
            return request_frame(api, version, correlation_id, self._settings.client_id, request)

        self.ask(framed, answered)
        return await done

    def ask(
        self,
        framed: Callable[[int], Sequence[Part]],
        answered: Callable[[Answer], None],
        timeout_ms: int | None = None,
    ) -> None:
        """Send what `framed` makes of a correlation id. `answered` is called once, later, from the loop; when
        it raises BadFrame or Malformed, the peer is closed."""
        if len(self._requests) >= self._settings.unanswered_max:
            raise PeerBusy(f"{self.address} has {len(self._requests)} requests to answer")
        if self.closed is not None:
            raise PeerLost(f"{self.address}: {self.closed}")
        parts = framed(self._requests.next_id)
        within_ms = self._settings.request_timeout_ms if timeout_ms is None else timeout_ms
        deadline = self._loop.call_later(within_ms / 1000, self.close, f"no answer within {within_ms} ms")
        self._requests.sent(_Waiting(answered, deadline))
        self._channel.send(parts)

    def close(self, reason: str = "no longer needed") -> None:
        self._channel.close(reason)

    async def wait_closed(self) -> None:
        """Until it is closed, by either side, and all who waited have been told."""
        await self._is_gone.wait()

    # -- for the channel -------------------------------------------------------------------------------------

    def arrived(self) -> None:
        reader = self._channel.reader
        try:
            while self.closed is None and (frame := reader.next()) is not None:
                waiting = self._requests.answered(read_correlation_id(frame))
                waiting.deadline.cancel()
                waiting.answered(frame)
        except (BadFrame, Malformed) as bad:
            self.close(str(bad))
        finally:
            reader.keep()

    def sent(self) -> None:
        pass

    def gone(self, reason: str) -> None:
        for waiting in self._requests.abandoned():
            waiting.deadline.cancel()
            waiting.answered(PeerLost(f"{self.address}: {reason}"))
        self._is_gone.set()
