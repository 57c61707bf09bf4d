"""What the source of producer ids promises."""

from __future__ import annotations

import asyncio

from odradek.broker.producer_ids import ProducerIdSource
from odradek.coordination.embedded import EmbeddedStore
from odradek.coordination.store import Create, Write
from odradek.coordination.znodes import ProducerIdBlockZnode
from odradek.model.ids import BrokerId
from odradek.transactions.producer_ids import BLOCK_SIZE


async def store_with_path() -> EmbeddedStore:
    store = EmbeddedStore.in_memory(lambda: 5)
    await store.session().commit(Create(ProducerIdBlockZnode.PATH))
    return store


async def test_brokers_that_ask_at_once_get_different_ids() -> None:
    store = await store_with_path()
    sources = [ProducerIdSource(BrokerId(id), store.session()) for id in range(3)]
    taken = await asyncio.gather(*(source.take() for _ in range(500) for source in sources))
    assert len(set(taken)) == 1500


async def test_many_who_wait_share_one_block() -> None:
    store = await store_with_path()
    source = ProducerIdSource(BrokerId(1), store.session())
    assert sorted(await asyncio.gather(*(source.take() for _ in range(BLOCK_SIZE)))) == list(
        range(BLOCK_SIZE)
    )
    node = await store.session().get(ProducerIdBlockZnode.PATH)
    written = ProducerIdBlockZnode.decode(ProducerIdBlockZnode.PATH, node.data)
    assert written == ProducerIdBlockZnode(BrokerId(1), 0, BLOCK_SIZE - 1)
    assert node.stat.version == 1


async def test_a_block_that_kafka_took_is_passed_over() -> None:
    store = await store_with_path()
    session = store.session()
    kafkas = ProducerIdBlockZnode(BrokerId(7), 4000, 4999)
    await session.commit(Write(ProducerIdBlockZnode.PATH, kafkas.encode()))
    assert await ProducerIdSource(BrokerId(1), session).take() == 5000


async def test_an_id_is_at_hand_once_a_block_is() -> None:
    source = ProducerIdSource(BrokerId(1), (await store_with_path()).session())
    assert source.at_hand() is None
    assert await source.take() == 0
    assert source.at_hand() == 1
