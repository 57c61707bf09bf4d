"""A cluster as its administrators reach it: one connection a broker, and every request to whom it concerns.

Whom a request concerns is found in metadata: any broker, one of them, the controller, the leader of a
partition, the coordinator of a group. `ask` asks once. `settle` asks for many things until each has an answer
that will not change by itself or time is up; the files of this room that are named after what is administered
(`topics`, `configs`, ...) are made of the two.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import odradek
from odradek.client.attempts import WORTH_ASKING_AGAIN, pauses_s
from odradek.client.connections import API_VERSIONS, PeerConnector
from odradek.client.failures import Refused, Unreachable, Unsupported, check
from odradek.model.errors import ErrorCode
from odradek.model.ids import NO_BROKER, BrokerId
from odradek.net.peer import PeerLost
from odradek.net.port import Address
from odradek.runtime.entropy import SystemEntropy
from odradek.wire.apis import API_BY_KEY, Api
from odradek.wire.messages.metadata import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataBroker,
    MetadataRequest,
    MetadataResponse,
)

if TYPE_CHECKING:
    from odradek.client.connections import Connection, Connector
    from odradek.client.settings import ClientSettings
    from odradek.runtime.entropy import Entropy

Key = TypeVar("Key")
Value = TypeVar("Value")
Response = TypeVar("Response")

log = logging.getLogger("odradek.client")

_API_BY_NAME: Final = {api.name: api for api in API_BY_KEY.values()}
_VERSION_OF_VERSIONS = 4  # who does not speak it says so in version 0


class Anyone:
    """Any broker that answers."""


class Controller:
    """Whichever broker is the controller now."""


@dataclass(frozen=True, slots=True)
class Coordinator:
    """Whichever broker coordinates a group or a transactional id now."""

    key: str
    kind: int = 0  # as FindCoordinator numbers them: 0 group, 1 transactional id


ANYONE: Final = Anyone()
CONTROLLER: Final = Controller()
Target: TypeAlias = Anyone | Controller | Coordinator | BrokerId


@dataclass(slots=True)
class Reached:
    """A broker that is connected, and what it offers."""

    address: Address
    connection: Connection
    versions: ApiVersionsResponse

    def offer(self, api: Api) -> ApiVersion | None:
        return next((each for each in self.versions.api_keys if each.api_key == api.key), None)

    def version_of(self, api: Api, newest: int | None = None) -> int:
        """The newest version that both sides speak, or the `newest` that says what is meant."""
        offer = self.offer(api)
        if offer is None:
            raise Unsupported(f"the broker at {self.address} does not offer {api}")
        spoken = api.versions[-1] if newest is None else newest
        both = min(offer.max_version, spoken)
        if both < max(offer.min_version, api.versions[0]):
            raise Unsupported(
                f"the broker at {self.address} offers {api} in versions {offer.min_version} to "
                f"{offer.max_version}, this client speaks {api.versions[0]} to {spoken}"
            )
        return both


class Cluster:
    """`async with Cluster(settings) as cluster:` connects when it is first asked, and closes everything."""

    def __init__(
        self, settings: ClientSettings, connector: Connector | None = None, entropy: Entropy | None = None
    ) -> None:
        self.settings = settings
        self._connector = PeerConnector(settings) if connector is None else connector
        self.entropy = SystemEntropy() if entropy is None else entropy
        self._reached: dict[Address, Reached] = {}
        self._metadata: MetadataResponse | None = None

    async def __aenter__(self) -> Cluster:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for reached in self._reached.values():
            reached.connection.close()
        self._reached.clear()

    # -- asking --------------------------------------------------------------------------------------------

    async def ask(
        self, target: Target, request: object, response: type[Response], *, newest: int | None = None
    ) -> Response:
        """One attempt. `PeerLost` when there is no answer; what the answer says is the caller's to read.
        Never in a version above `newest`: newer ones may lack a field that matters."""
        return await self._ask(await self.reach(target), request, response, newest)

    async def settle(
        self,
        what: str,
        keys: Iterable[Key],
        attempt: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Value | Refused]]],
    ) -> dict[Key, Value | Refused]:
        """What was answered for each key, asked again while the answer may change or there is none.

        `Unreachable` when time is up before there was any answer for one of them.
        """
        settled: dict[Key, Value | Refused] = {}
        waiting = tuple(keys)
        failure: PeerLost | None = None
        try:
            async with asyncio.timeout(self.settings.timeout_ms / 1000):
                for pause in pauses_s(self.settings.pause_ms, self.settings.pause_ms_max, self.entropy):
                    try:
                        settled.update(await attempt(waiting))
                    except Refused as refused:
                        settled.update(dict.fromkeys(waiting, refused))
                    except PeerLost as lost:
                        failure = self._lost(lost, failure)
                    waiting = tuple(key for key in waiting if key not in settled or _may_pass(settled[key]))
                    if not waiting:
                        break
                    self._metadata = None
                    await asyncio.sleep(pause)
        except TimeoutError:
            if any(key not in settled for key in waiting):
                raise Unreachable(self._too_late(what, failure)) from failure
        return settled

    async def one(self, what: str, attempt: Callable[[], Awaitable[Value]]) -> Value:
        """The same for one thing: its answer, or `Refused`."""

        async def once(_: Sequence[None]) -> dict[None, Value | Refused]:
            return {None: await attempt()}

        answer = (await self.settle(what, [None], once))[None]
        if isinstance(answer, Refused):
            raise answer
        return answer

    # -- who is there --------------------------------------------------------------------------------------

    async def metadata(self) -> MetadataResponse:
        """Brokers and controller, as last heard; topics are not asked for."""
        if self._metadata is None:
            request = MetadataRequest(topics=(), allow_auto_topic_creation=False)
            answer = await self.ask(ANYONE, request, MetadataResponse)
            check(answer.error_code, asked=f"metadata of {self._names()}")
            self._metadata = answer
        return self._metadata

    async def brokers(self) -> tuple[MetadataBroker, ...]:
        return tuple(sorted((await self.metadata()).brokers, key=lambda broker: broker.node_id))

    async def reach(self, target: Target) -> Reached:
        """A connection to a broker, and what it offers."""
        if isinstance(target, Anyone):
            return await self._reach_any()
        if isinstance(target, Controller):
            return await self._reach_broker(BrokerId((await self.metadata()).controller_id), "controller")
        if isinstance(target, Coordinator):
            return await self._reach_broker(await self.coordinator(target), f"coordinator of {target.key}")
        return await self._reach_broker(target, "broker")

    async def _reach_any(self) -> Reached:
        for reached in self._reached.values():
            if reached.connection.closed is None:
                return reached
        known = () if self._metadata is None else (_address(each) for each in self._metadata.brokers)
        failures: list[str] = []
        for address in dict.fromkeys((*known, *self.settings.bootstrap)):
            try:
                return await self._connected(address)
            except PeerLost as lost:
                failures.append(str(lost))
        raise PeerLost("; ".join(failures))

    async def _reach_broker(self, id: BrokerId, role: str) -> Reached:
        if id == NO_BROKER:
            raise Refused(ErrorCode.BROKER_NOT_AVAILABLE, f"there is no {role} now", asked=self._names())
        for each in (await self.metadata()).brokers:
            if each.node_id == id:
                return await self._connected(_address(each))
        raise Refused(ErrorCode.BROKER_NOT_AVAILABLE, f"{role} {id} is not alive", asked=self._names())

    async def coordinator(self, target: Coordinator) -> BrokerId:
        reached = await self._reach_any()
        api = _API_BY_NAME["FindCoordinator"]
        asks_many = reached.version_of(api) >= 4
        request = FindCoordinatorRequest(
            key="" if asks_many else target.key,
            key_type=target.kind,
            coordinator_keys=(target.key,) if asks_many else (),
        )
        answer = await self._ask(reached, request, FindCoordinatorResponse)
        asked = f"coordinator of {target.key}"
        for found in answer.coordinators:
            check(found.error_code, found.error_message, asked=asked)
            return BrokerId(found.node_id)
        check(answer.error_code, answer.error_message, asked=asked)
        return BrokerId(answer.node_id)

    # -- connections ---------------------------------------------------------------------------------------

    async def _connected(self, address: Address) -> Reached:
        reached = self._reached.get(address)
        if reached is not None and reached.connection.closed is None:
            return reached
        connection = await self._connector.connect(address)
        request = ApiVersionsRequest(
            client_software_name="odradek", client_software_version=odradek.__version__
        )
        answer = await connection.ask(API_VERSIONS, _VERSION_OF_VERSIONS, request)
        assert isinstance(answer, ApiVersionsResponse)
        if ErrorCode.of(answer.error_code) is ErrorCode.UNSUPPORTED_VERSION:
            newest = Reached(address, connection, answer).version_of(API_VERSIONS)
            answer = await connection.ask(API_VERSIONS, newest, request)
            assert isinstance(answer, ApiVersionsResponse)
        check(answer.error_code, asked=f"API versions of {address}")
        reached = self._reached[address] = Reached(address, connection, answer)
        return reached

    async def _ask(
        self, reached: Reached, request: object, response: type[Response], newest: int | None = None
    ) -> Response:
        api = _API_BY_NAME[type(request).__name__.removesuffix("Request")]
        answer = await reached.connection.ask(api, reached.version_of(api, newest), request)
        assert isinstance(answer, response)
        return answer

    def _lost(self, lost: PeerLost, before: PeerLost | None) -> PeerLost:
        """What was known may be what led astray: keep only connections that still stand."""
        if before is None or str(before) != str(lost):
            log.warning("%s; trying again for %g s", lost, self.settings.timeout_ms / 1000)
        self._reached = {
            address: each for address, each in self._reached.items() if each.connection.closed is None
        }
        return lost

    def _names(self) -> str:
        return ",".join(str(each) for each in self.settings.bootstrap)

    def _too_late(self, what: str, failure: Exception | None) -> str:
        last = f": {failure}" if failure is not None else ""
        return f"{what} at {self._names()} had no answer within {self.settings.timeout_ms} ms{last}"


def _may_pass(answer: object) -> bool:
    return isinstance(answer, Refused) and answer.error in WORTH_ASKING_AGAIN


def _address(broker: MetadataBroker) -> Address:
    return Address(broker.host, broker.port)
