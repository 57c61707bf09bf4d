"""Configurations in the store: written with a notice to every broker, and read again when there is one.

What is noticed is never believed, only read: a notice says of which entity, the entity's node says what.
Notices are numbered and stay for a quarter of an hour, so a broker that was slow finds what it missed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from odradek.coordination.json import BadZnode
from odradek.coordination.store import (
    Create,
    Delete,
    NodeExists,
    NoNode,
    Operation,
    SessionExpired,
    StoreError,
    VersionConflict,
    Write,
)
from odradek.coordination.znodes import ConfigChangeZnode, ConfigZnode
from odradek.model.image import CLIENT_METRICS, ConfigEntity

if TYPE_CHECKING:
    from odradek.broker.configs import Configs
    from odradek.broker.metadata import Metadata
    from odradek.coordination.store import Session
    from odradek.model.ids import BrokerId
    from odradek.runtime.clock import Clock
    from odradek.runtime.tasks import Tasks

_logger = logging.getLogger("odradek.broker.config_changes")

NOTICE_KEPT_MS = 15 * 60 * 1000
AFTER_A_FAILURE_S = 1.0
KINDS = ("topics", "brokers", "clients", "users", "ips", CLIENT_METRICS)

Texts: TypeAlias = Mapping[str, str]
Change: TypeAlias = Callable[[Texts], Texts]


class ConfigChanges:
    def __init__(
        self, broker_id: BrokerId, session: Session, metadata: Metadata, configs: Configs, clock: Clock
    ) -> None:
        self._broker_id = broker_id
        self._session = session
        self._metadata = metadata
        self._configs = configs
        self._clock = clock
        self._notices: dict[str, int] = {}  # those that were heeded: when each was written
        self._newest = ""  # names are of one length, so they sort as they are numbered

    # -- knowing -----------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Everything there is. Whatever changes from now on is noticed."""
        self._newest = max(await self._session.children(ConfigChangeZnode.PARENT), default="")
        entities = [ConfigEntity(kind, name) for kind in KINDS for name in await self.names(kind)]
        await self.read_again([*entities, *self._metadata.image.configs])

    def start(self, tasks: Tasks) -> None:
        tasks.start(self._follow(), name="config changes")

    async def names(self, kind: str) -> list[str]:
        """Everything of this kind that something was set for."""
        try:
            return await self._session.children(f"/config/{kind}")
        except NoNode:
            return []

    async def read(self, entities: Sequence[ConfigEntity]) -> list[Texts | None]:
        """What is written of each now; None where nothing is."""
        paths = [ConfigZnode.path(each) for each in entities]
        nodes = await self._session.get_many(paths)
        return [
            None if node is None else _decoded(path, node.data)
            for path, node in zip(paths, nodes, strict=True)
        ]

    async def read_again(self, entities: Iterable[ConfigEntity]) -> None:
        """Let what is written of these hold from now on."""
        wanted = list(dict.fromkeys(entities))
        written = dict(zip(wanted, await self.read(wanted), strict=True))
        image = self._metadata.image
        changed = {each: texts for each, texts in written.items() if image.configs.get(each) != texts}
        if changed:
            self._metadata.swap(image.with_configs(changed))
        for entity in changed:
            self._configs.changed(entity, self._broker_id)

    # -- changing ----------------------------------------------------------------------------------------

    async def change(self, entity: ConfigEntity, change: Change) -> None:
        """Make what is written of this entity what `change` makes of it, and tell everybody. When this
        returns it holds here."""
        path = ConfigZnode.path(entity)
        while True:
            (node,) = await self._session.get_many([path])
            texts = change({} if node is None else _decoded(path, node.data))
            try:
                await self._session.commit(*await self._written(entity, texts, node and node.stat.version))
            except (NodeExists, NoNode, VersionConflict):
                continue  # somebody changed it meanwhile: change what is there now
            await self.read_again([entity])
            return

    async def _written(self, entity: ConfigEntity, texts: Texts, version: int | None) -> list[Operation]:
        path, data = ConfigZnode.path(entity), ConfigZnode(texts).encode()
        notice = Create(ConfigChangeZnode.PREFIX, ConfigChangeZnode(entity).encode(), sequential=True)
        if version is None:
            parent = path.rpartition("/")[0]
            is_known = await self._session.get_many([parent]) != [None]
            return [*([] if is_known else [Create(parent)]), Create(path, data), notice]
        if not texts and entity.kind == CLIENT_METRICS:  # a subscription is what was set of it, and no more
            return [Delete(path, version), notice]
        return [Write(path, data, version), notice]

    # -- following ---------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        while True:
            changed = asyncio.Event()
            try:
                await self._heed(await self._session.children(ConfigChangeZnode.PARENT, changed.set))
                await self._forget_old_notices()
            except SessionExpired:
                return
            except StoreError as failure:
                _logger.warning("what changed of the configuration is not known yet: %s", failure)
                await asyncio.sleep(AFTER_A_FAILURE_S)
                continue
            await changed.wait()

    async def _heed(self, names: Sequence[str]) -> None:
        fresh = [name for name in names if name > self._newest]
        paths = [f"{ConfigChangeZnode.PARENT}/{name}" for name in fresh]
        entities = []
        for name, path, node in zip(fresh, paths, await self._session.get_many(paths), strict=True):
            if node is None:
                continue
            self._notices[name] = node.stat.created_ms
            try:
                entities.append(ConfigChangeZnode.decode(path, node.data).entity)
            except BadZnode as bad:
                _logger.error("a notice that cannot be read is passed over: %s", bad)
        await self.read_again(entities)
        self._newest = max(fresh, default=self._newest)

    async def _forget_old_notices(self) -> None:
        expired_ms = self._clock.wall_ms() - NOTICE_KEPT_MS
        for name in [name for name, written_ms in self._notices.items() if written_ms < expired_ms]:
            with suppress(NoNode):  # another broker was faster
                await self._session.commit(Delete(f"{ConfigChangeZnode.PARENT}/{name}"))
            del self._notices[name]


def _decoded(path: str, data: bytes) -> Texts:
    try:
        return ConfigZnode.decode(path, data).config
    except BadZnode as bad:
        _logger.error("a configuration that cannot be read is taken for an empty one: %s", bad)
        return {}
