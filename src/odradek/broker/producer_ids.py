"""Where this broker's producer ids come from: blocks out of the cluster's store, taken by compare-and-set."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from odradek.coordination.store import VersionConflict, Write
from odradek.coordination.znodes import ProducerIdBlockZnode
from odradek.transactions.producer_ids import Block, ProducerIds, block_after

if TYPE_CHECKING:
    from odradek.coordination.store import Session
    from odradek.model.ids import BrokerId


class ProducerIdSource:
    def __init__(self, broker_id: BrokerId, session: Session) -> None:
        self._broker_id = broker_id
        self._session = session
        self._ids = ProducerIds()
        self._fetching = asyncio.Lock()

    def at_hand(self) -> int | None:
        """An id, if there is one without asking the store."""
        return self._ids.take()

    async def take(self) -> int:
        async with self._fetching:  # of many who wait, one takes a block for all
            while (id := self._ids.take()) is None:
                self._ids.supply(await self._next_block())
            return id

    async def _next_block(self) -> Block:
        path = ProducerIdBlockZnode.PATH
        while True:
            node = await self._session.get(path)
            written = ProducerIdBlockZnode.decode(path, node.data) if node.data else None
            block = block_after(None if written is None else written.last)
            znode = ProducerIdBlockZnode(self._broker_id, block.first, block.last)
            try:
                await self._session.commit(Write(path, znode.encode(), node.stat.version))
            except VersionConflict:
                continue  # another broker took it
            return block
