"""The controller's way to every broker. To itself it is a call, taken in the loop's next turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from odradek.broker.handlers.cluster import lead_and_follow, stop_hosting, take_in

if TYPE_CHECKING:
    from odradek.broker.services import Services
    from odradek.model.ids import BrokerId
    from odradek.wire.messages.cluster import (
        LeaderAndIsrRequest,
        StopReplicaRequest,
        StopReplicaResponse,
        UpdateMetadataRequest,
    )


class Channels:
    """Of a cluster of one broker."""

    def __init__(self, services: Callable[[], Services]) -> None:
        self._services = services

    def lead_and_follow(self, broker: BrokerId, request: LeaderAndIsrRequest) -> None:
        assert broker == self._services().node_id
        lead_and_follow(self._services(), request)

    def update_metadata(self, broker: BrokerId, request: UpdateMetadataRequest) -> None:
        assert broker == self._services().node_id
        take_in(self._services(), request)

    def stop_replica(
        self,
        broker: BrokerId,
        request: StopReplicaRequest,
        answered: Callable[[StopReplicaResponse], None],
    ) -> None:
        assert broker == self._services().node_id
        answered(stop_hosting(self._services(), request))
