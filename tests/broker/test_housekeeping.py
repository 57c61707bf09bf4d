from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine

import pytest

from odradek.broker.housekeeping import AT_START_MS
from odradek.log import checkpoint
from odradek.log.log import PartitionLog
from odradek.model.ids import Partition
from odradek.model.image import ConfigEntity
from odradek.runtime.workers import Workers
from odradek.testing.batches import batch_of
from odradek.testing.kept_logs import KeptLogs
from odradek.testing.sim_clock import SimClock, run
from odradek.testing.sim_workers import HeldWorkers
from odradek.wire.records import Producer

DAY_S = 24 * 3600
MINUTE_MS = 60_000

Act = Callable[[KeptLogs], Coroutine[object, object, None]]


def keep(
    act: Act, data_dirs: tuple[str, ...] = ("/data",), workers: Workers | None = None, **settings: object
) -> None:
    """Let housekeeping go on while `act` happens, in virtual time."""
    clock = SimClock()

    async def main() -> None:
        texts = {key.replace("_", "."): str(value) for key, value in settings.items()}
        kept = KeptLogs(clock, texts, data_dirs=data_dirs, workers=workers)
        kept.housekeeping.start()
        await act(kept)
        await kept.housekeeping.stop()

    run(main(), clock)


async def later(kept: KeptLogs, seconds: float) -> None:
    """All at once: what came due meanwhile has run, once."""
    kept.clock.advance(seconds)
    await kept.housekeeping.run_due()


def offsets(kept: KeptLogs, name: str) -> dict[Partition, int]:
    return checkpoint.read_offsets(kept.disk, f"/data/{name}")


# -- retention -----------------------------------------------------------------------------------------------


def test_segments_go_by_age_and_their_files_a_while_later() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", retention_ms=3_600_000)
        kept.append(log, b"a", b"b", roll=True)
        await later(kept, 3000)
        kept.append(log, b"c", roll=True)
        assert (log.log_start, len(log.segments)) == (0, 3)
        await later(kept, 930)
        assert (log.log_start, len(log.segments)) == (2, 2), "the first segment is older than an hour"
        assert kept.files(log, ".log.deleted") == ["00000000000000000000.log.deleted"]
        await later(kept, 59)
        assert kept.files(log, ".deleted")
        await later(kept, 1)
        assert not kept.files(log, ".deleted")
        await later(kept, 3600)
        assert (log.log_start, log.log_end) == (3, 3)

    keep(act)


def test_retention_looks_after_half_a_minute_and_then_at_every_interval() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", retention_ms=1, segment_bytes=10_000)
        kept.append(log, b"a")
        await asyncio.sleep(AT_START_MS / 1000 - 1)
        assert log.log_start == 0
        await asyncio.sleep(2)
        assert log.log_start == 1
        kept.append(log, b"b")
        await asyncio.sleep(97)
        assert log.log_start == 1
        await asyncio.sleep(3)
        assert log.log_start == 2

    keep(act, log_retention_check_interval_ms=100_000)


def test_what_is_not_replicated_is_kept() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", retention_ms=1)
        log.append(batch_of(kept.clock.wall_ms()), 0, kept.clock.wall_ms())
        await later(kept, DAY_S)
        assert log.log_start == 0

    keep(act)


def test_many_segments_go_without_keeping_the_loop() -> None:
    """Thirty-two at a time, and the log is asked anew for each."""

    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", retention_ms=1000, segment_index_bytes=1024)
        for number in range(70):
            kept.append(log, b"%d" % number, roll=True)
        await asyncio.sleep(40)
        assert (log.log_start, len(log.segments)) == (70, 1)

    keep(act)


def test_a_line_says_which_segments_went_and_why(caplog: pytest.LogCaptureFixture) -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", 7, retention_ms=1000)
        kept.append(log, b"a", roll=True)
        kept.append(log, b"b", roll=True)
        await asyncio.sleep(40)

    with caplog.at_level(logging.INFO, "odradek.broker.housekeeping"):
        keep(act)
    assert [each.getMessage() for each in caplog.records] == [
        "orders-7: its 2 oldest segments go, as its newest record is older than retention.ms; "
        "it starts at offset 2"
    ]


# -- deleted logs --------------------------------------------------------------------------------------------


def test_a_deleted_log_goes_when_its_delay_has_passed() -> None:
    async def act(kept: KeptLogs) -> None:
        kept.append(kept.log("orders"), b"a")
        kept.directories.delete([Partition("orders", 0)], kept.clock.wall_ms())
        (name,) = (each for each in kept.disk.list("/data") if each.endswith("-delete"))
        await asyncio.sleep(59)
        assert kept.disk.exists(f"/data/{name}")
        await asyncio.sleep(61)
        assert not kept.disk.exists(f"/data/{name}")

    keep(act)


# -- flushing and checkpoints --------------------------------------------------------------------------------


def test_a_finished_segment_is_flushed_soon_and_the_active_one_with_it() -> None:
    async def act(kept: KeptLogs) -> None:
        log, quiet = kept.log("orders"), kept.log("quiet")
        kept.append(quiet, b"a")
        kept.append(log, b"a", roll=True)
        kept.append(log, b"b")
        await asyncio.sleep(6)
        assert (log.recovery_point, quiet.recovery_point) == (2, 0)
        assert kept.flush_times.count == 1

    keep(act)


def test_a_log_is_flushed_when_flush_ms_has_passed_though_nobody_appends() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", flush_ms=60_000)
        kept.append(log, b"a")
        await asyncio.sleep(50)
        assert log.recovery_point == 0
        await asyncio.sleep(20)
        assert log.recovery_point == 1

    keep(act, log_flush_scheduler_interval_ms=1000)


def test_nothing_is_flushed_by_time_unless_the_scheduler_is_told_to() -> None:
    """As in Kafka the scheduler looks once, half a minute after the start, and then not again for ages."""

    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", flush_ms=60_000)
        kept.append(log, b"a")
        await later(kept, 31)
        await later(kept, DAY_S)
        assert log.recovery_point == 0

    keep(act)


def test_checkpoints_are_written_at_their_intervals() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", retention_ms=-1)
        at = Partition("orders", 0)
        kept.append(log, b"a", b"b", roll=True)
        log.delete_records(1)
        await asyncio.sleep(6)
        assert offsets(kept, checkpoint.HIGH_WATERMARKS) == {at: 2}
        assert offsets(kept, checkpoint.RECOVERY_POINTS) == {}
        assert offsets(kept, checkpoint.LOG_STARTS) == {}
        await asyncio.sleep(30)
        assert offsets(kept, checkpoint.RECOVERY_POINTS) == {at: 2}
        assert offsets(kept, checkpoint.LOG_STARTS) == {at: 1}

    keep(act)


def test_a_checkpoint_under_way_does_not_speak_of_a_log_that_goes_meanwhile() -> None:
    workers = HeldWorkers()

    async def act(kept: KeptLogs) -> None:
        kept.append(kept.log("orders"), b"a")
        kept.append(kept.log("other"), b"a")
        await asyncio.sleep(5.5)
        assert workers.started == ["write"]
        kept.directories.delete([Partition("orders", 0)], kept.clock.wall_ms())
        workers.gate.set()
        await asyncio.sleep(1)
        assert offsets(kept, checkpoint.HIGH_WATERMARKS) == {Partition("other", 0): 1}

    keep(act, workers=workers)


def test_a_checkpoint_that_never_ends_is_made_good_at_the_stop() -> None:
    workers = HeldWorkers()

    async def act(kept: KeptLogs) -> None:
        kept.append(kept.log("orders"), b"a")
        await asyncio.sleep(5.5)
        assert workers.started == ["write"]
        await kept.housekeeping.stop()
        assert workers.cancelled == ["write"]
        kept.directories.close(kept.clock.wall_ms())
        assert offsets(kept, checkpoint.HIGH_WATERMARKS) == {Partition("orders", 0): 1}

    keep(act, workers=workers)


# -- producers -----------------------------------------------------------------------------------------------


def test_a_silent_producer_is_forgotten_after_a_day() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", retention_ms=-1)
        now_ms = kept.clock.wall_ms()
        log.append(batch_of(now_ms, producer=Producer(7, 0, 0)), 0, now_ms)
        await later(kept, DAY_S - 1)
        assert len(log.producers) == 1
        await later(kept, 600)
        assert len(log.producers) == 0

    keep(act)


def test_how_long_a_producer_is_remembered_can_change_while_the_broker_runs() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders", retention_ms=-1)
        now_ms = kept.clock.wall_ms()
        log.append(batch_of(now_ms, producer=Producer(7, 0, 0)), 0, now_ms)
        kept.configure(ConfigEntity.every_broker(), producer_id_expiration_ms=1000)
        await later(kept, 600)
        assert len(log.producers) == 0

    keep(act)


# -- a disk that fails ---------------------------------------------------------------------------------------


def two_disks(kept: KeptLogs) -> tuple[PartitionLog, PartitionLog]:
    """A log on each, with a segment that is to go and one to flush; the first disk then fails."""
    bad, good = kept.log("bad", retention_ms=1), kept.log("good", retention_ms=1)
    assert bad.directory.startswith("/one/")
    assert good.directory.startswith("/two/")
    for log in (bad, good):
        kept.append(log, b"a", roll=True)
        kept.append(log, b"b")
    kept.disk.broken.add("/one")
    return bad, good


@pytest.mark.parametrize("seconds", [6, 31])
def test_a_failed_disk_takes_its_own_directory_offline_and_no_more(seconds: int) -> None:
    async def act(kept: KeptLogs) -> None:
        _, good = two_disks(kept)
        await asyncio.sleep(seconds)
        one, two = kept.directories
        assert one.failure is not None
        assert two.failure is None
        assert good.recovery_point == 2, "the other disk was flushed"
        assert (good.log_start > 0) is (seconds > 30)

    keep(act, data_dirs=("/one", "/two"))


def test_a_directory_that_fails_in_retention_alone_goes_offline_too() -> None:
    async def act(kept: KeptLogs) -> None:
        await asyncio.sleep(29.9)
        _, good = two_disks(kept)
        await asyncio.sleep(0.2)
        one, two = kept.directories
        assert (one.failure is not None, two.failure) == (True, None)
        assert good.log_start == 2

    keep(
        act,
        data_dirs=("/one", "/two"),
        replica_high_watermark_checkpoint_interval_ms=3_600_000,
        log_flush_offset_checkpoint_interval_ms=3_600_000,
    )


# -- time that is pushed on ----------------------------------------------------------------------------------


def test_eight_days_at_once_run_retention_flushes_and_expiry() -> None:
    async def act(kept: KeptLogs) -> None:
        log = kept.log("orders")
        now_ms = kept.clock.wall_ms()
        log.append(batch_of(now_ms, producer=Producer(7, 0, 0)), 0, now_ms)
        log.advance_high_watermark(1)
        kept.clock.advance(8 * DAY_S)
        await kept.housekeeping.run_due()
        assert (log.log_start, log.log_end) == (1, 1)
        assert len(log.producers) == 0
        kept.clock.advance(MINUTE_MS / 1000)
        await kept.housekeeping.run_due()
        assert not kept.files(log, ".deleted")

    keep(act)
