"""The controller's way to every broker. Orders to one broker are obeyed one by one, as they were given."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from odradek.broker.handlers.cluster import lead_and_follow, stop_hosting, take_in
from odradek.model.errors import ApiError

if TYPE_CHECKING:
    from odradek.broker.services import Services
    from odradek.model.ids import BrokerId
    from odradek.wire.messages.cluster import (
        LeaderAndIsrRequest,
        StopReplicaRequest,
        StopReplicaResponse,
        UpdateMetadataRequest,
    )

_logger = logging.getLogger("odradek.broker.channels")


class Channels:
    """Of a cluster of one broker: all orders are to ourselves."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services
        self._orders: deque[Callable[[Services], Awaitable[None]]] = deque()
        self._is_obeying = False

    def lead_and_follow(self, broker: BrokerId, request: LeaderAndIsrRequest) -> None:
        async def obey(services: Services) -> None:
            await lead_and_follow(services, request)

        self._give(broker, obey)

    def update_metadata(self, broker: BrokerId, request: UpdateMetadataRequest) -> None:
        async def obey(services: Services) -> None:
            take_in(services, request)

        self._give(broker, obey)

    def stop_replica(
        self,
        broker: BrokerId,
        request: StopReplicaRequest,
        answered: Callable[[StopReplicaResponse], None],
    ) -> None:
        async def obey(services: Services) -> None:
            answered(stop_hosting(services, request))

        self._give(broker, obey)

    # -- inside ------------------------------------------------------------------------------------------

    def _give(self, broker: BrokerId, order: Callable[[Services], Awaitable[None]]) -> None:
        assert broker == self._services().node_id
        self._orders.append(order)
        if not self._is_obeying:
            self._is_obeying = True
            self._services().tasks.start(self._obey(), name="orders to ourselves")

    async def _obey(self) -> None:
        while self._orders:
            try:
                await self._orders.popleft()(self._services())
            except ApiError as refusal:  # of a controller that was replaced meanwhile
                _logger.warning("an order is not obeyed: %s", refusal)
        self._is_obeying = False
