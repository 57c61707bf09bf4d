"""While elected: store changes in, znode writes and broker calls out.

One task runs for election, loads all that is written, and then takes one thing at a time from a queue: a look
at what changed in the store, or a question somebody asks. Each leads to effects, carried out in order before
the next thing is taken. A write that the fence refuses ends the controllership; any other failed write means
that what this controller believes may not be what is written, so it starts over from what is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, assert_never, cast

from odradek.broker import orders
from odradek.broker.cluster_store import ClusterStore
from odradek.controller.effects import (
    DropDeletionRequests,
    Effect,
    RemoveTopics,
    StopReplicas,
    TellEverybody,
    TellReplicas,
    WriteAssignments,
    WriteStates,
)
from odradek.controller.events import BrokersSeen, DeletionWanted, ReplicasStopped, TopicsSeen
from odradek.controller.machine import Controller
from odradek.coordination.store import SessionExpired, StoreError, VersionConflict
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import BrokerId, Partition

if TYPE_CHECKING:
    from odradek.runtime.tasks import Tasks
    from odradek.wire.messages.cluster import (
        LeaderAndIsrRequest,
        StopReplicaRequest,
        StopReplicaResponse,
        UpdateMetadataRequest,
    )

_logger = logging.getLogger("odradek.broker.controller")

Result = TypeVar("Result")
Question: TypeAlias = Callable[[Controller], tuple[list[Effect], Result]]
Look: TypeAlias = Callable[[Controller], Awaitable[list[Effect]]]


class Channels(Protocol):
    """The way to every broker, ourselves included. Telling does not wait; answers come back as calls."""

    def lead_and_follow(self, broker: BrokerId, request: LeaderAndIsrRequest) -> None: ...
    def update_metadata(self, broker: BrokerId, request: UpdateMetadataRequest) -> None: ...
    def stop_replica(
        self,
        broker: BrokerId,
        request: StopReplicaRequest,
        answered: Callable[[StopReplicaResponse], None],
    ) -> None: ...


class ControllerShell:
    def __init__(
        self,
        self_id: BrokerId,
        store: ClusterStore,
        channels: Channels,
        tasks: Tasks,
        allows_unclean: Callable[[str], bool],
        learn_configs: Callable[[Sequence[str]], Awaitable[None]],
    ) -> None:
        self._self_id = self_id
        self._store = store
        self._channels = channels
        self._tasks = tasks
        self._allows_unclean = allows_unclean
        self._learn_configs = learn_configs
        self._machine: Controller | None = None
        self._fence = -1
        self._queue: asyncio.Queue[Callable[[Controller], Awaitable[None]]] = asyncio.Queue()
        self._waiting: set[asyncio.Future[object]] = set()  # who asked and has no answer yet
        self.elections_won = 0

    @property
    def is_active(self) -> bool:
        return self._machine is not None

    @property
    def machine(self) -> Controller | None:
        """For those who only look."""
        return self._machine

    def start(self) -> None:
        self._tasks.start(self._run(), name="controller")

    async def ask(self, question: Question[Result]) -> Result:
        """Put a question to the machine; the answer comes when its effects have been carried out."""
        if self._machine is None:
            raise ApiError(ErrorCode.NOT_CONTROLLER, "This is not the correct controller for this cluster.")
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        waiting = cast("asyncio.Future[object]", answer)
        self._waiting.add(waiting)
        waiting.add_done_callback(self._waiting.discard)

        async def act(machine: Controller) -> None:
            try:
                effects, result = question(machine)
                await self._carry_out(machine, effects)
            except (ApiError, StoreError) as failure:
                if not answer.done():
                    answer.set_exception(failure if isinstance(failure, ApiError) else _not_controller())
                if isinstance(failure, StoreError):
                    raise
            else:
                if not answer.done():
                    answer.set_result(result)

        self._queue.put_nowait(act)
        return await answer

    # -- the race, and what follows from winning it --------------------------------------------------------

    async def _run(self) -> None:
        while True:
            try:
                vacant = asyncio.Event()
                self._fence = await self._store.elect(self._self_id, vacant.set)
                if self._fence < 0:
                    await vacant.wait()
                    continue
                await self._serve()
            except SessionExpired:
                return
            except VersionConflict as lost:
                _logger.warning("no longer controller: %s", lost)
            except StoreError as failure:
                _logger.error("the controller starts over: %s", failure)
                await self._store.resign(self._self_id)
            finally:
                self._machine = None
                self._refuse_waiting()

    async def _serve(self) -> None:
        image = await self._store.load(
            self._self_id,
            brokers=self._look_at(self._brokers),
            topics=self._look_at(self._topics),
            grown=self._grown,
        )
        machine = Controller(image, self._allows_unclean)
        await self._carry_out(machine, machine.begin())
        await self._carry_out(machine, await self._deletions(machine))
        self._machine = machine
        self.elections_won += 1
        _logger.info("controller with epoch %d", image.controller_epoch)
        while True:
            act = await self._queue.get()
            await act(machine)

    def _look_at(self, look: Look) -> Callable[[], None]:
        """A watch that puts one look into the queue."""

        async def act(machine: Controller) -> None:
            await self._carry_out(machine, await look(machine))

        return lambda: self._queue.put_nowait(act)

    def _refuse_waiting(self) -> None:
        """Whoever asked too late is told so; what the queue's next owner finds in it is its own."""
        self._queue = asyncio.Queue()
        for answer in list(self._waiting):
            if not answer.done():
                answer.set_exception(_not_controller())

    # -- looks ----------------------------------------------------------------------------------------------

    async def _brokers(self, machine: Controller) -> list[Effect]:
        seen = await self._store.brokers(self._look_at(self._brokers))
        return machine.handle(BrokersSeen(seen))

    async def _topics(self, machine: Controller) -> list[Effect]:
        """Topics that came. Those whose assignment changes are looked at one by one."""
        names = await self._store.topic_names(self._look_at(self._topics))
        fresh = [name for name in names if name not in machine.image.topics]
        await self._learn_configs(fresh)  # before anything is made of them
        topics = await self._store.topics(fresh, self._grown)
        return machine.handle(TopicsSeen(tuple(topics))) if topics else []

    def _grown(self, topic: str) -> Callable[[], None]:
        async def look(machine: Controller) -> list[Effect]:
            await self._learn_configs([topic])  # it may be another one of the same name by now
            topics = await self._store.topics([topic], self._grown)
            return machine.handle(TopicsSeen(tuple(topics))) if topics else []

        return self._look_at(look)

    async def _deletions(self, machine: Controller) -> list[Effect]:
        wanted = await self._store.deletions(self._look_at(self._deletions))
        return machine.handle(DeletionWanted(frozenset(wanted))) if wanted else []

    # -- effects --------------------------------------------------------------------------------------------

    async def _carry_out(self, machine: Controller, effects: Iterable[Effect]) -> None:
        image = machine.image
        for effect in effects:
            match effect:
                case WriteStates(states):
                    await self._store.write_states(self._fence, image.controller_epoch, states)
                case WriteAssignments(topics):
                    await self._store.write_assignments(self._fence, topics)
                case RemoveTopics(topics) | DropDeletionRequests(topics):
                    await self._store.remove_topics(self._fence, topics)
                case TellReplicas():
                    request = orders.leader_and_isr(image, self._self_id, effect)
                    self._channels.lead_and_follow(effect.broker, request)
                case TellEverybody():
                    for broker in sorted(effect.brokers & set(image.brokers)):
                        update = orders.update_metadata(image, self._self_id, broker, effect)
                        self._channels.update_metadata(broker, update)
                case StopReplicas():
                    self._stop_replicas(machine, effect)
                case _:
                    assert_never(effect)

    def _stop_replicas(self, machine: Controller, effect: StopReplicas) -> None:
        def answered(response: StopReplicaResponse) -> None:
            done = frozenset(
                Partition(each.topic_name, each.partition_index)
                for each in response.partition_errors
                if each.error_code == 0
            )

            async def act(machine: Controller) -> None:
                await self._carry_out(machine, machine.handle(ReplicasStopped(effect.broker, done)))

            if effect.delete and response.error_code == 0:
                self._queue.put_nowait(act)

        request = orders.stop_replica(machine.image, self._self_id, effect)
        self._channels.stop_replica(effect.broker, request, answered)


def _not_controller() -> ApiError:
    return ApiError(ErrorCode.NOT_CONTROLLER, "The controller lost its place before this was done.")
