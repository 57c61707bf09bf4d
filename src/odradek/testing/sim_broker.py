"""A whole broker, the real code, in a world that is all simulated: nothing waits, nothing is left behind.

    async with sim_broker({"group.initial.rebalance.delay.ms": "0"}) as broker: ...

To be run by `sim_clock.run`, so that time jumps to whatever is due next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from odradek.broker.node import Node, World
from odradek.coordination.embedded import EmbeddedStore
from odradek.coordination.store import Session
from odradek.model.config.broker_config import BrokerConfig
from odradek.net.peer import Peer, PeerSettings, connect
from odradek.net.port import Address
from odradek.testing.sim_clock import SimLoop
from odradek.testing.sim_disk import SimDisk
from odradek.testing.sim_entropy import SeededEntropy
from odradek.testing.sim_net import SimNet
from odradek.testing.sim_workers import SimWorkers

_HOST = "broker"
_SETTINGS = {
    "broker.id": "0",
    "listeners": f"PLAINTEXT://{_HOST}:9092",
    "log.dirs": "/data",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
}


@dataclass(frozen=True, slots=True)
class SimBroker:
    node: Node
    net: SimNet

    async def connect(self, client_id: str) -> Peer:
        """From another machine."""
        settings = PeerSettings(client_id=client_id, request_timeout_ms=3_600_000)
        return await connect(self.net.host("client"), Address(_HOST, 9092), settings)


@asynccontextmanager
async def sim_broker(settings: Mapping[str, str] | None = None, seed: int = 0) -> AsyncIterator[SimBroker]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimLoop)
    entropy = SeededEntropy(seed)
    net = SimNet(entropy)
    store = EmbeddedStore.in_memory(loop.clock.wall_ms)

    async def open_session() -> Session:
        return store.session()

    disk = SimDisk(Random(seed))
    disk.make_directory("/data")
    world = World(loop.clock, entropy, disk, net.host(_HOST), SimWorkers(), SimWorkers())
    node = Node(BrokerConfig.of({**_SETTINGS, **(settings or {})}), world, open_session)
    try:
        await node.start()
        yield SimBroker(node, net)
    finally:
        await node.stop()
        if node.fault.done():
            raise node.fault.result()
