"""Our place in the cluster: its id, ours, and the ephemeral node that says we are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from odradek.coordination import znodes
from odradek.coordination.store import Create, NodeExists, NoNode, Write
from odradek.coordination.znodes import BrokerZnode, ClusterIdZnode
from odradek.model.ids import BrokerId, id_text

if TYPE_CHECKING:
    from odradek.coordination.store import Session
    from odradek.model.listeners import Endpoint


class BrokerIdTaken(Exception):
    """Another broker that lives has our id. The message says what to do."""


async def make_paths(session: Session) -> None:
    """What every cluster has from its first start on."""
    missing = [
        path
        for path, node in zip(znodes.PERSISTENT, await session.get_many(znodes.PERSISTENT), strict=True)
        if node is None
    ]
    try:
        if missing:
            await session.commit(*(Create(path) for path in missing))
    except NodeExists:
        await make_paths(session)  # another broker starts at the same moment


async def cluster_id(session: Session, random_bytes: Callable[[int], bytes]) -> str:
    """The cluster's id, given to it by whichever broker came first."""
    path = ClusterIdZnode.PATH
    try:
        return ClusterIdZnode.decode(path, (await session.get(path)).data).id
    except NoNode:
        fresh = ClusterIdZnode(id_text(random_bytes(16)))
    try:
        await session.commit(Create(path, fresh.encode()))
    except NodeExists:
        return await cluster_id(session, random_bytes)
    return fresh.id


async def next_broker_id(session: Session, reserved_max: int) -> BrokerId:
    """An id above all that people give out by hand."""
    done = await session.commit(Write(znodes.BROKER_SEQUENCE, b""))
    return BrokerId(reserved_max + done[0].version)


async def register(
    session: Session, id: BrokerId, endpoints: Iterable[Endpoint], rack: str | None, now_ms: int
) -> int:
    """Say that we are there, for as long as the session lasts. Our broker epoch."""
    path = BrokerZnode.path(id)
    znode = BrokerZnode(tuple(endpoints), rack, now_ms)
    try:
        await session.commit(Create(path, znode.encode(), ephemeral=True))
    except NodeExists:
        raise BrokerIdTaken(
            f"a broker with id {id} is registered already ({path}); give this one another broker.id, or wait "
            "until the session of the one before has expired"
        ) from None
    return (await session.get(path)).stat.created


async def advertise(
    session: Session, id: BrokerId, endpoints: Iterable[Endpoint], rack: str | None, now_ms: int
) -> None:
    """Say that we are to be found elsewhere now; our broker epoch stays."""
    znode = BrokerZnode(tuple(endpoints), rack, now_ms)
    await session.commit(Write(BrokerZnode.path(id), znode.encode()))
