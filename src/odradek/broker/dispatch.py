"""Frame -> header -> handler -> frame; the one place where errors become answers.

A request is handled inside the callback that received its bytes. A handler returns its response, a `Parked`
one that comes later, a coroutine where the way is slow, or None for a request that gets no answer. What it
refuses as a whole (`ApiError`) is answered in the API's own shape, by its route.
"""

from __future__ import annotations

import logging
from collections import Counter
from types import CoroutineType
from typing import TYPE_CHECKING, NamedTuple, cast

from odradek.broker.context import RequestContext
from odradek.broker.handlers.metadata import refuse_version
from odradek.broker.parked import Parked
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.observe import request_log
from odradek.wire.connection import BadFrame
from odradek.wire.frame import read_request_header, response_frame
from odradek.wire.parts import size_of
from odradek.wire.primitives import Malformed

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from odradek.broker.registry import Route
    from odradek.broker.services import Services
    from odradek.net.connection import Connection
    from odradek.wire.frame import RequestHeader
    from odradek.wire.messages.fetch import FetchRequest
    from odradek.wire.parts import Part

_logger = logging.getLogger("odradek.broker.dispatch")

FETCH = 1
API_VERSIONS = 18
# Topics, partitions and whatever else has a number of its own. A request is handled without a pause, and some
# take 20 us for each: nobody else should notice. No client asks one broker for more.
REQUEST_ITEMS_MAX = 100_000


class _Call(NamedTuple):
    """A request on its way: what its answer needs."""

    route: Route
    header: RequestHeader
    connection: Connection
    ticket: int
    request: object
    size: int
    began: float


class Dispatcher:
    """The handler of all connections (`net.connection.Handler`)."""

    def __init__(self, routes: Mapping[int, Route], services: Services) -> None:
        self._routes = routes
        self._services = services
        self._parked: dict[Connection, dict[Parked[object], str]] = {}  # with the names of their APIs

    # -- for the connections -----------------------------------------------------------------------------

    def request(self, connection: Connection, ticket: int, frame: memoryview) -> Sequence[Part] | None:
        began = self._services.clock.monotonic()
        try:
            header = read_request_header(frame)
            route = self._routes.get(header.api.key)
            if route is None or header.version not in route.versions:
                return self._unsupported(header)
            request, _ = header.api.request_decoders[header.version](frame, header.body_at, REQUEST_ITEMS_MAX)
        except Malformed as malformed:
            raise BadFrame(str(malformed)) from None
        call = _Call(route, header, connection, ticket, request, len(frame), began)
        ctx = RequestContext(self._services, connection, header.version, header.client_id)
        try:
            result = route.handle(ctx, request)
        except (ApiError, StorageError) as failure:
            result = self._refusal(call, failure)
        if type(result) is Parked:
            self._park(call, result)
            return None
        if type(result) is CoroutineType:
            self._services.tasks.start(self._finish(call, result), name=f"{header.api} of {connection.peer}")
            return None
        return self._frame(call, result)

    def closed(self, connection: Connection) -> None:
        for parked in self._parked.pop(connection, ()):
            parked.abandon()

    def stop(self) -> None:
        """Answer whatever waits, as at its deadline."""
        for waiting in list(self._parked.values()):
            for parked in list(waiting):
                parked.expire_now()

    def parked_by_api(self) -> Mapping[str, int]:
        return Counter(api for waiting in self._parked.values() for api in waiting.values())

    # -- answers -----------------------------------------------------------------------------------------

    def _frame(
        self, call: _Call, response: object | None, waited_since: float | None = None
    ) -> Sequence[Part]:
        header = call.header
        now = self._services.clock.monotonic()
        seconds, waited_s = now - call.began, None if waited_since is None else now - waited_since
        self._services.request_metrics.answered(_counted_as(call), header.version, seconds, waited_s)
        parts = (
            ()
            if response is None
            else response_frame(header.api, header.version, header.correlation_id, response)
        )
        if request_log.is_on():
            _tell(call, parts, seconds)
        return parts

    def _park(self, call: _Call, parked: Parked[object]) -> None:
        waiting = self._parked.setdefault(call.connection, {})
        waiting[parked] = call.header.api.name
        since = self._services.clock.monotonic()

        def deliver(response: object) -> None:
            waiting.pop(parked, None)
            call.connection.reply(call.ticket, self._frame(call, response, since))

        parked.deliver_to(deliver)

    async def _finish(self, call: _Call, result: Coroutine[object, object, object]) -> None:
        since = self._services.clock.monotonic()
        try:
            response = await result
        except (ApiError, StorageError) as failure:
            response = self._refusal(call, failure)
        if type(response) is Parked:
            self._park(call, response)
        else:
            call.connection.reply(call.ticket, self._frame(call, response, since))

    def _refusal(self, call: _Call, failure: ApiError | StorageError) -> object:
        if isinstance(failure, StorageError):
            _logger.error("%s could not be served: %s", call.header.api, failure)
            failure = ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(failure))
        self._services.request_metrics.refused(call.header.api.name, failure.error.name)
        return call.route.refuse(call.request, failure)

    def _unsupported(self, header: RequestHeader) -> Sequence[Part]:
        """Only who asks what we speak is told; to everybody else this is no conversation."""
        if header.api.key == API_VERSIONS:
            return response_frame(header.api, 0, header.correlation_id, refuse_version(self._services))
        raise BadFrame(f"{header.api} v{header.version} is not served")


def _counted_as(call: _Call) -> str:
    """Dashboards tell what consumers fetch from what followers do."""
    if call.header.api.key != FETCH:
        return call.header.api.name
    request = cast("FetchRequest", call.request)
    is_follower = request.replica_id >= 0 or request.replica_state.replica_id >= 0
    return "FetchFollower" if is_follower else "FetchConsumer"


def _tell(call: _Call, parts: Sequence[Part], seconds: float) -> None:
    header = call.header
    request_log.answered(
        header.api.name,
        header.version,
        client=header.client_id,
        peer=call.connection.peer,
        size=call.size,
        answer_size=size_of(parts),
        ms=seconds * 1000,
    )
