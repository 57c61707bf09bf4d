"""What goes on beside serving: the chores, and the listener for those who watch."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from odradek.observe.metrics import Histogram

if TYPE_CHECKING:
    from odradek.broker.compaction import Compaction
    from odradek.broker.housekeeping import Housekeeping
    from odradek.broker.node import Node, World
    from odradek.broker.watch import Watch
    from odradek.model.image import ClusterImage
    from odradek.runtime.tasks import Tasks

_logger = logging.getLogger("odradek.broker.upkeep")


class Upkeep:
    def __init__(self, node: Node, world: World, tasks: Tasks) -> None:
        self._node = node
        self._world = world
        self._tasks = tasks
        self.housekeeping: Housekeeping | None = None
        self._watch: Watch | None = None
        self.compaction: Compaction | None = None
        self.flush_times = Histogram()

    async def open_for_watchers(self) -> None:
        """Listen for them, if the settings say where. OSError when that address cannot be had."""
        where = self._node.configs.broker.optional_string("odradek.metrics.listen")
        if where is not None:
            from odradek.broker.watch import Watch, address_of

            self._watch = Watch(self._node, self, self._tasks)
            address = await self._watch.listen(address_of(where))
            shown = address._replace(host=address.host or "localhost")
            _logger.info("metrics and health are told at http://%s", shown)

    def start(self) -> None:
        """The broker serves."""
        from odradek.broker.compaction import Compaction
        from odradek.broker.housekeeping import Housekeeping

        node, world = self._node, self._world
        self.compaction = Compaction(
            world.clock,
            node.configs,
            node.directories,
            world.disk,
            processes=world.processes,
            random_bytes=world.entropy.random_bytes,
        )
        self.housekeeping = Housekeeping(
            self._tasks,
            world.clock,
            node.configs,
            node.directories,
            node.replicas,
            threads=world.threads,
            compaction=self.compaction,
            flush_times=self.flush_times,
        )
        self.housekeeping.start()
        self.housekeeping.add(node.services.groups.expiring())
        for chore in node.services.transactions.chores():
            self.housekeeping.add(chore)
        node.metadata.on_change(self._forget_topics)
        if self._watch is not None:
            self.housekeeping.add(self._watch.ticking())

    async def run_due(self) -> None:
        """Time was pushed on: come back when everything that is due by now has been done."""
        if self.housekeeping is not None:
            await self.housekeeping.run_due()

    async def stop(self) -> None:
        if self.housekeeping is not None:
            await self.housekeeping.stop()
        if self._watch is not None:
            self._watch.close()

    def _forget_topics(self, old: ClusterImage, new: ClusterImage) -> None:
        if new.topics is not old.topics:
            for topic in old.topics.keys() - new.topics.keys():
                self._node.services.topic_metrics.forget(topic)
