"""For how long do a broker's chores keep its loop from its clients, with thousands of partitions on a disk?

Each chore runs as the broker runs it, while a task that wants nothing but its turns notes the longest time it
had to wait for one. Beside it: what a scrape of all metrics costs, and how long that keeps the loop.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable

from _report import Cell, report
from odradek.broker.watch import Watch
from odradek.runtime.limits import raise_open_files
from odradek.runtime.tasks import Tasks
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

TOPICS = 20
PARTITIONS_A_TOPIC = 100
DAY_MS = 24 * 3600 * 1000


def create_topics(broker: Broker) -> None:
    """Every fifth compacted."""
    with Conversation(broker.bootstrap) as client:
        for number in range(TOPICS):
            policy = "compact" if number % 5 == 0 else "delete"
            topic = CreatableTopic(
                name=f"topic-{number}",
                num_partitions=PARTITIONS_A_TOPIC,
                replication_factor=1,
                assignments=(),
                configs=(CreatableTopicConfig(name="cleanup.policy", value=policy),),
            )
            client.ask(CreateTopicsRequest(topics=(topic,), timeout_ms=60_000), 7)


async def fill(broker: Broker) -> None:
    """A finished segment and an active one in each log, nothing of it flushed."""
    now_ms = broker.clock.movable.wall_ms()
    for partition in broker.node.replicas:
        partition.log.append(batch_of(now_ms), 0, now_ms)
        partition.log.roll(now_ms)
        partition.log.append(batch_of(now_ms), 0, now_ms)
        partition.log.advance_high_watermark(partition.log.log_end)
        await asyncio.sleep(0)


async def measured(name: str, work: Callable[[], Awaitable[object]]) -> list[Cell]:
    """Milliseconds in all, of this thread's processor time, and of the longest wait for a turn."""
    waited_s = 0.0

    async def want_turns() -> None:
        nonlocal waited_s
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            waited_s = max(waited_s, time.perf_counter() - before)

    other = asyncio.ensure_future(want_turns())
    await asyncio.sleep(0.01)
    waited_s = 0.0
    began = time.perf_counter()
    await work()
    took_s = time.perf_counter() - began
    await asyncio.sleep(0.01)  # so that the last wait is noted, too
    other.cancel()
    return [name, took_s * 1000, waited_s * 1000]


async def chores(broker: Broker) -> list[list[Cell]]:
    housekeeping = broker.node.upkeep.housekeeping
    assert housekeeping is not None
    rows = [await measured(chore.name, chore.run) for chore in housekeeping.schedule()]
    rows.append(await measured("look what is to be compacted", lambda: housekeeping.clean(0)))
    broker.clock.movable.push(8 * DAY_MS)
    for chore in housekeeping.schedule():
        if chore.name in ("retention", "expire producers"):
            rows.append(await measured(f"{chore.name}, all of it due", chore.run))
    return rows


async def scrape(broker: Broker) -> list[Cell]:
    watch = Watch(broker.node, broker.node.upkeep, Tasks(print))
    watch.ticking()
    size = 0

    async def read() -> None:
        nonlocal size
        for piece in watch.metrics().body:
            size += len(piece)
            await asyncio.sleep(0)

    row = await measured("scrape", read)
    return [f"scrape of {size:,} bytes", *row[1:]]


def main() -> None:
    raise_open_files()
    home = tempfile.mkdtemp()
    try:
        with Broker({"log.retention.check.interval.ms": str(1 << 40)}, directory=home) as broker:
            create_topics(broker)
            broker._loop_thread.run(fill(broker))
            rows = broker._loop_thread.run(chores(broker))
            rows.insert(0, broker._loop_thread.run(scrape(broker)))
    finally:
        shutil.rmtree(home)
    title = f"chores of {TOPICS * PARTITIONS_A_TOPIC} partitions"
    report(title, ("chore", "ms in all", "longest wait for a turn, ms"), rows)


if __name__ == "__main__":
    main()
