"""A cluster whose answers a test writes: what each broker says to each kind of request, or that it is lost.

    cluster = ScriptedCluster(Broker(0), Broker(1), controller=1)
    cluster.says(1, "CreateTopics", lambda request: CreateTopicsResponse(...))
    cluster.asked                           # [(0, "Metadata"), (1, "CreateTopics")]

Every broker answers about versions and metadata by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from odradek.net.peer import PeerLost
from odradek.net.port import Address
from odradek.wire.apis import API_BY_KEY
from odradek.wire.messages.metadata import (
    ApiVersion,
    ApiVersionsResponse,
    MetadataBroker,
    MetadataRequest,
    MetadataResponse,
    MetadataTopic,
)

if TYPE_CHECKING:
    from odradek.client.connections import Connection
    from odradek.wire.apis import Api

Answers: TypeAlias = Callable[[object], object]

FIRST_PORT = 9092


class Broker(NamedTuple):
    id: int
    versions: Mapping[str, range] = {}  # where it offers others than we speak; an empty range: none

    @property
    def address(self) -> Address:
        return Address("broker", FIRST_PORT + self.id)


class ScriptedCluster:
    """Connects to the brokers of a script."""

    def __init__(self, *brokers: Broker, controller: int = 0) -> None:
        self.controller = controller
        self.topics: tuple[MetadataTopic, ...] = ()
        self.asked: list[tuple[int, str]] = []
        self.unreachable: set[int] = set()
        self.bootstrap = ",".join(str(broker.address) for broker in brokers)
        self._brokers = {broker.address: broker for broker in brokers}
        self._says: dict[tuple[int, str], Answers] = {}

    def says(self, broker: int, api: str, answers: Answers) -> None:
        self._says[broker, api] = answers

    async def connect(self, address: Address) -> Connection:
        broker = self._brokers[address]
        if broker.id in self.unreachable:
            raise PeerLost(f"{address} cannot be reached: it is told so")
        return _Scripted(self, broker)

    def answer(self, broker: Broker, api: Api, request: object) -> object:
        self.asked.append((broker.id, api.name))
        if broker.id in self.unreachable:
            raise PeerLost(f"{broker.address}: it is told so")
        said = self._says.get((broker.id, api.name))
        if said is not None:
            return said(request)
        if api.name == "ApiVersions":
            return self._versions(broker)
        assert isinstance(request, MetadataRequest), f"broker {broker.id} has nothing to say to {api.name}"
        return self._metadata(request)

    def _versions(self, broker: Broker) -> ApiVersionsResponse:
        offers = ((api, broker.versions.get(api.name, api.versions)) for api in API_BY_KEY.values())
        return ApiVersionsResponse(
            error_code=0,
            api_keys=tuple(
                ApiVersion(api_key=api.key, min_version=versions[0], max_version=versions[-1])
                for api, versions in offers
                if versions
            ),
        )

    def _metadata(self, request: MetadataRequest) -> MetadataResponse:
        names = None if request.topics is None else {each.name for each in request.topics}
        return MetadataResponse(
            brokers=tuple(
                MetadataBroker(node_id=each.id, host=each.address.host, port=each.address.port)
                for each in self._brokers.values()
            ),
            controller_id=self.controller,
            topics=tuple(each for each in self.topics if names is None or each.name in names),
        )


class _Scripted:
    closed: str | None = None

    def __init__(self, cluster: ScriptedCluster, broker: Broker) -> None:
        self._cluster = cluster
        self._broker = broker

    async def ask(self, api: Api, version: int, request: object) -> object:
        del version
        try:
            return self._cluster.answer(self._broker, api, request)
        except PeerLost as lost:
            self.closed = str(lost)
            raise

    def close(self) -> None:
        self.closed = "no longer needed"
