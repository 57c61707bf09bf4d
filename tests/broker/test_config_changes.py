"""How configurations come from the store, and what tells a broker that they changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from odradek.broker.config_changes import NOTICE_KEPT_MS, ConfigChanges
from odradek.broker.configs import Configs
from odradek.broker.metadata import Metadata
from odradek.coordination import znodes
from odradek.coordination.embedded import EmbeddedStore
from odradek.coordination.store import Create, Session, Write
from odradek.coordination.znodes import ConfigChangeZnode, ConfigZnode
from odradek.model.config.broker_config import BrokerConfig
from odradek.model.ids import BrokerId
from odradek.model.image import ClusterImage, ConfigEntity
from odradek.runtime.tasks import Tasks
from odradek.testing.sim_clock import SimClock

TOPIC = ConfigEntity.topic("t")


class Side(NamedTuple):
    """One broker's."""

    changes: ConfigChanges
    metadata: Metadata
    configs: Configs
    session: Session
    tasks: Tasks

    @property
    def texts(self) -> Mapping[str, str] | None:
        return self.metadata.image.configs.get(TOPIC)


def fail(task: str, error: BaseException) -> None:
    raise AssertionError(task) from error


async def stored(clock: SimClock) -> EmbeddedStore:
    store = EmbeddedStore.in_memory(clock.wall_ms)
    await store.session().commit(*(Create(path) for path in znodes.PERSISTENT))
    return store


async def side(store: EmbeddedStore, clock: SimClock, id: int = 0) -> Side:
    session, metadata = store.session(), Metadata(ClusterImage(cluster_id="c"))
    config = BrokerConfig.of({"broker.id": str(id)})
    configs = Configs(config, lambda: metadata.image)
    changes = ConfigChanges(BrokerId(id), session, metadata, configs, clock)
    tasks = Tasks(fail)
    await changes.load()
    changes.start(tasks)
    await asyncio.sleep(0)
    return Side(changes, metadata, configs, session, tasks)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_what_is_written_holds_here_at_once_and_elsewhere_soon() -> None:
    clock = SimClock()
    store = await stored(clock)
    one, other = await side(store, clock, 0), await side(store, clock, 1)
    await one.changes.change(TOPIC, lambda texts: {**texts, "retention.ms": "5"})
    assert one.texts == {"retention.ms": "5"}
    assert one.configs.topic("t").integer("retention.ms") == 5
    await settle()
    assert other.texts == {"retention.ms": "5"}
    assert other.configs.topic("t").integer("retention.ms") == 5
    await one.tasks.stop()
    await other.tasks.stop()


async def test_a_broker_that_starts_finds_what_was_set_before() -> None:
    clock = SimClock()
    store = await stored(clock)
    first = await side(store, clock)
    await first.changes.change(TOPIC, lambda _: {"retention.ms": "5"})
    await first.changes.change(ConfigEntity.broker(BrokerId(0)), lambda _: {"log.retention.ms": "7"})
    await first.tasks.stop()
    later = await side(store, clock)
    assert later.texts == {"retention.ms": "5"}
    assert later.configs.broker.integer("log.retention.ms") == 7
    await later.tasks.stop()


async def test_changes_at_once_all_count() -> None:
    clock = SimClock()
    store = await stored(clock)
    sides = [await side(store, clock, id) for id in range(3)]

    def count(texts: Mapping[str, str]) -> Mapping[str, str]:
        return {"retention.ms": str(int(texts.get("retention.ms", "0")) + 1)}

    await asyncio.gather(*(each.changes.change(TOPIC, count) for each in sides for _ in range(20)))
    await settle()
    assert [each.texts for each in sides] == [{"retention.ms": "60"}] * 3
    for each in sides:
        await each.tasks.stop()


async def test_a_topic_made_anew_is_read_anew() -> None:
    """Its name was known, with what had been set for the one before."""
    clock = SimClock()
    store = await stored(clock)
    one = await side(store, clock)
    await one.changes.change(TOPIC, lambda _: {"retention.ms": "5"})
    assert one.configs.topic("t").integer("retention.ms") == 5
    await one.session.commit(Write(ConfigZnode.path(TOPIC), ConfigZnode({}).encode()))  # without a notice
    await one.changes.read_again([TOPIC])
    assert one.texts == {}
    assert not one.configs.topic("t").is_set("retention.ms")
    await one.tasks.stop()


async def test_a_kind_that_the_store_has_not_known_is_made_room_for() -> None:
    clock = SimClock()
    one = await side(await stored(clock), clock)
    assert await one.changes.names("client-metrics") == []
    entity = ConfigEntity.client_metrics("all")
    await one.changes.change(entity, lambda _: {"interval.ms": "1000"})
    assert await one.changes.names("client-metrics") == ["all"]
    assert await one.changes.read([entity, TOPIC]) == [{"interval.ms": "1000"}, None]
    await one.tasks.stop()


async def test_notices_go_when_everybody_has_had_time_to_read_them() -> None:
    clock = SimClock()
    store = await stored(clock)
    one, other = await side(store, clock, 0), await side(store, clock, 1)
    await one.changes.change(TOPIC, lambda _: {"retention.ms": "1"})
    await settle()
    clock.advance(NOTICE_KEPT_MS / 1000 + 1)
    await one.changes.change(TOPIC, lambda _: {"retention.ms": "2"})
    await settle()
    assert len(await one.session.children(ConfigChangeZnode.PARENT)) == 1
    assert other.texts == {"retention.ms": "2"}
    await one.tasks.stop()
    await other.tasks.stop()


async def test_what_cannot_be_read_stops_nobody() -> None:
    clock = SimClock()
    store = await stored(clock)
    one = await side(store, clock)
    await one.session.commit(Create(ConfigChangeZnode.PREFIX, b"not json", sequential=True))
    await one.session.commit(Create(ConfigZnode.path(ConfigEntity.topic("odd")), b"not json"))
    await one.session.commit(
        Create(
            ConfigChangeZnode.PREFIX, ConfigChangeZnode(ConfigEntity.topic("odd")).encode(), sequential=True
        )
    )
    await settle()
    assert one.metadata.image.configs[ConfigEntity.topic("odd")] == {}
    await one.changes.change(TOPIC, lambda _: {"retention.ms": "5"})
    assert one.texts == {"retention.ms": "5"}
    await one.tasks.stop()
