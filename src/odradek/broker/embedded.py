"""A broker on the real machine with the embedded store beside its data: what `odradek start` runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from odradek.broker.node import Node, World
from odradek.coordination.embedded import EmbeddedStore
from odradek.log.disk import OsDisk
from odradek.net.sockets import SocketNetwork
from odradek.runtime.clock import SystemClock
from odradek.runtime.entropy import SystemEntropy
from odradek.runtime.workers import Processes, Threads

if TYPE_CHECKING:
    from odradek.coordination.store import Session
    from odradek.model.config.broker_config import BrokerConfig
    from odradek.net.port import Address

STORE_FILE = "odradek-cluster.db"
THREADS = 4
WORK_WAITING_MAX = 10_000
COMPACTIONS_MAX = 16  # at once, whatever log.cleaner.threads says


class EmbeddedBroker:
    def __init__(self, config: BrokerConfig) -> None:
        self._clock = SystemClock()
        self._threads = Threads(THREADS, waiting_max=WORK_WAITING_MAX, name="odradek")
        self._processes = Processes(COMPACTIONS_MAX, waiting_max=WORK_WAITING_MAX, name="odradek process")
        self._store: EmbeddedStore | None = None
        self._store_path = f"{config.data_dirs[0]}/{STORE_FILE}"
        world = World(self._clock, SystemEntropy(), OsDisk(), SocketNetwork(), self._threads, self._processes)
        self.node = Node(config, world, self._open_session)

    async def start(self) -> list[Address]:
        asyncio.get_running_loop().set_exception_handler(self.node.loop_failed)
        return await self.node.start()

    async def stop(self) -> None:
        await self.node.stop()
        if self._store is not None:
            self._store.close()
        await self._processes.stop()
        await self._threads.stop()

    async def _open_session(self) -> Session:
        self._store = EmbeddedStore.open(self._store_path, self._clock.wall_ms, self._threads.start)
        return self._store.session()
