from __future__ import annotations

import asyncio

from odradek.broker.partition import ACKS_LEADER, HostedPartition
from odradek.log.log import Origin
from odradek.model.ids import NO_TOPIC_ID, Partition
from odradek.model.image import ConfigEntity
from odradek.replication.replica import Order
from odradek.testing.batches import batch_of
from odradek.testing.kept_logs import SELF, KeptLogs
from odradek.testing.sim_clock import SimClock, run
from odradek.testing.sim_workers import HeldWorkers


def led(kept: KeptLogs, topic: str, number: int = 0) -> HostedPartition:
    """A partition of a topic that flushes every message before it acknowledges it."""
    kept.configure(ConfigEntity.topic(topic), flush_messages=1)
    order = Order(SELF, 0, 0, frozenset({SELF}), (SELF,))
    return kept.replicas.obey(Partition(topic, number), NO_TOPIC_ID, order)


def append(partition: HostedPartition) -> None:
    partition.append(batch_of(), ACKS_LEADER, Origin.CLIENT)


def test_what_comes_while_a_sync_is_under_way_shares_the_next_one() -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), workers=workers)
        first, *others = (led(kept, "orders", number) for number in range(5))
        append(first)
        await asyncio.sleep(1)
        for partition in (first, *others):
            append(partition)
        await asyncio.sleep(1)
        assert workers.started == ["run_flushes"]
        assert [each.log.recovery_point for each in (first, *others)] == [0] * 5
        workers.gate.set()
        await asyncio.sleep(1)
        assert workers.started == ["run_flushes"] * 2
        assert first.log.recovery_point == 2
        assert [each.log.recovery_point for each in others] == [1] * 4

    run(main())


def test_an_append_is_acknowledged_when_it_is_durable() -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), workers=workers)
        partition = led(kept, "orders")
        append(partition)
        await asyncio.sleep(1)
        assert not partition.is_acknowledged(1, ACKS_LEADER)
        workers.gate.set()
        await asyncio.sleep(1)
        assert partition.is_acknowledged(1, ACKS_LEADER)
        assert kept.flush_times.count == 1

    run(main())


def test_a_disk_that_fails_takes_its_own_directory_offline_and_no_more() -> None:
    async def main() -> None:
        workers = HeldWorkers()
        kept = KeptLogs(SimClock(), data_dirs=("/one", "/two"), workers=workers)
        bad, good = led(kept, "bad"), led(kept, "good")
        append(bad)
        append(good)
        kept.disk.broken.add("/one")
        workers.gate.set()
        await asyncio.sleep(1)
        assert good.log.recovery_point == 1
        one, two = kept.directories
        assert (one.failure is not None, two.failure) == (True, None)
        assert [each.name.topic for each in kept.replicas] == ["good"]

    run(main())
