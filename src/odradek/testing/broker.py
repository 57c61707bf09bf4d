"""A broker for tests: the real one, on a free port of this machine, with time that can be moved.

    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        broker.clock.advance(days=8)

It lives on a thread of its own, so it serves synchronous and asynchronous tests alike (`async with` waits
without blocking the test's loop). Its data lies in memory unless a directory is given.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING

from odradek.broker.node import Node, World
from odradek.coordination.embedded import EmbeddedStore
from odradek.log.disk import OsDisk
from odradek.model.config.broker_config import BrokerConfig
from odradek.model.errors import ApiError, ErrorCode
from odradek.net.sockets import SocketNetwork
from odradek.runtime.entropy import SystemEntropy
from odradek.runtime.loop_thread import LoopThread
from odradek.runtime.workers import Processes, Threads
from odradek.testing.conversation import Conversation
from odradek.testing.sim_clock import MovableClock, MovableLoop
from odradek.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    from odradek.coordination.store import Session
    from odradek.net.port import Address

MEMORY = "/dev/shm"
_SETTINGS = {
    "broker.id": "0",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}


class BrokerFailed(Exception):
    """The broker met a bug while the test ran. Its cause is what was raised."""


class BrokerClock:
    """The broker's time."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.movable = MovableClock()

    def advance(
        self,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        milliseconds: float = 0,
    ) -> None:
        """Later, all at once: what was due in between is done when this returns."""
        span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
        self._broker.advance(round(span / timedelta(milliseconds=1)))


class Broker:
    def __init__(self, settings: Mapping[str, str] | None = None, *, directory: str | None = None) -> None:
        """`settings` are Kafka's; `directory` is kept when the broker stops, memory is not."""
        self.clock = BrokerClock(self)
        self._settings = {**_SETTINGS, **(settings or {})}
        self._own_directory = directory is None
        self._directory = directory
        self.addresses: list[Address] = []  # of its listeners, in their order
        self._port = 0
        self._loop_thread = LoopThread(self._make_loop, "odradek broker")
        self._loop: MovableLoop | None = None
        self._store: EmbeddedStore | None = None
        self._threads: Threads | None = None
        self._processes: Processes | None = None
        self._node: Node | None = None

    @property
    def bootstrap(self) -> str:
        """What clients call bootstrap.servers."""
        assert self._port, "the broker has not been started"
        return f"127.0.0.1:{self._port}"

    @property
    def directory(self) -> str:
        assert self._directory is not None, "the broker has not been started"
        return self._directory

    @property
    def node(self) -> Node:
        assert self._node is not None, "the broker does not run"
        return self._node

    def start(self) -> None:
        if self._directory is None:
            self._directory = tempfile.mkdtemp(
                prefix="odradek-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None
            )
        self._loop_thread.start()
        with ExitStack() as undo:
            undo.callback(self.stop)
            self._loop_thread.run(self._start())
            undo.pop_all()

    def stop(self) -> None:
        """As SIGTERM would. What its data is kept in memory is gone then."""
        self._end()
        if self._own_directory and self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def restart(self) -> None:
        """Stop and start again: the same data, the same port."""
        self._end()
        self.start()

    def create_topic(self, name: str, *, partitions: int = 1, **settings: str) -> None:
        """There when this returns. Settings are a topic's, with underscores for dots: retention_ms="1000"."""
        configs = tuple(
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in settings.items()
        )
        wanted = CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1, assignments=(), configs=configs
        )
        response = self._ask(CreateTopicsRequest(topics=(wanted,)), 7)
        assert isinstance(response, CreateTopicsResponse)
        _raise_refusal(response.topics[0].error_code, response.topics[0].error_message)

    def delete_topic(self, name: str) -> None:
        """Gone when this returns."""
        response = self._ask(DeleteTopicsRequest(topic_names=(name,), timeout_ms=10_000), 5)
        assert isinstance(response, DeleteTopicsResponse)
        _raise_refusal(response.responses[0].error_code, response.responses[0].error_message)

    def advance(self, milliseconds: int) -> None:
        """See `BrokerClock.advance`."""
        assert self._loop is not None
        self.clock.movable.push(milliseconds)
        self._loop.wake()
        self._loop_thread.run(self._catch_up())

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Broker:
        await asyncio.get_running_loop().run_in_executor(None, self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.stop)

    def _ask(self, request: object, version: int) -> object:
        with Conversation(self.bootstrap) as conversation:
            return conversation.ask(request, version)

    # -- on the broker's own thread ------------------------------------------------------------------------

    def _make_loop(self) -> MovableLoop:
        self._loop = MovableLoop(self.clock.movable)
        return self._loop

    async def _start(self) -> None:
        self._threads = Threads(2, waiting_max=1000, name="odradek worker")
        self._processes = Processes(1, waiting_max=100, name="odradek process")
        world = World(
            self.clock.movable, SystemEntropy(), OsDisk(), SocketNetwork(), self._threads, self._processes
        )
        settings = {
            "listeners": f"PLAINTEXT://127.0.0.1:{self._port}",
            "log.dirs": self.directory,
            **self._settings,
        }
        self._node = Node(BrokerConfig.of(settings), world, self._open_session)
        asyncio.get_running_loop().set_exception_handler(self._node.loop_failed)
        self.addresses = await self._node.start()
        self._port = self.addresses[0].port

    async def _open_session(self) -> Session:
        if self._store is None:
            self._store = EmbeddedStore.in_memory(self.clock.movable.wall_ms)
        return self._store.session()

    async def _catch_up(self) -> None:
        """Let everything that is due now run, and wait for the chores among it."""
        await asyncio.sleep(0)
        if self._node is not None:
            await self._node.upkeep.run_due()

    async def _stop(self) -> BaseException | None:
        assert self._threads is not None
        fault = None
        if self._node is not None:
            await self._node.stop()
            fault = self._node.fault.result() if self._node.fault.done() else None
        if self._processes is not None:
            await self._processes.stop()
        await self._threads.stop()
        return fault

    def _end(self) -> None:
        if self._threads is None:
            return
        fault = self._loop_thread.run(self._stop())
        self._loop_thread.stop()
        self._node = self._threads = None
        if fault is not None:
            raise BrokerFailed(str(fault)) from fault.__cause__


def _raise_refusal(code: int, detail: str | None) -> None:
    error = ErrorCode.of(code)
    if error is not ErrorCode.NONE:
        raise ApiError(error, detail or "")
