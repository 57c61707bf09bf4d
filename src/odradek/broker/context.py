"""What a handler is given: who asks, and the services of the broker that it may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from odradek.broker.parked import Parked
from odradek.model.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from odradek.broker.services import Services
    from odradek.net.connection import Connection

Reply = TypeVar("Reply")


class ClientSoftware(NamedTuple):
    """What a client said that it is, when it asked what we speak."""

    name: str = ""
    version: str = ""


class RequestContext:
    """One request's surroundings. A handler that waits may keep it: it outlives the frame."""

    __slots__ = ("client_id", "connection", "services", "version")

    def __init__(
        self, services: Services, connection: Connection, version: int, client_id: str | None
    ) -> None:
        self.services = services
        self.connection = connection
        self.version = version
        self.client_id = client_id

    @property
    def listener(self) -> str:
        return self.connection.listener

    @property
    def software(self) -> ClientSoftware:
        session = self.connection.session
        return session if isinstance(session, ClientSoftware) else ClientSoftware()

    def park(
        self, wait_ms: int | None, *, ready: Callable[[], Reply | None], at_deadline: Callable[[], Reply]
    ) -> Parked[Reply]:
        wait_s = None if wait_ms is None else wait_ms / 1000
        return Parked(self.services.loop, wait_s, ready=ready, at_deadline=at_deadline)

    def require_controller(self) -> None:
        if not self.services.controller.is_active:
            raise ApiError(ErrorCode.NOT_CONTROLLER, "This is not the correct controller for this cluster.")

    def close_connection(self, reason: str) -> None:
        self.connection.close(reason)
