from __future__ import annotations

import logging
from random import Random

import pytest

from odradek.log import checkpoint
from odradek.log.checkpoint import ForeignDirectory, MetaProperties
from odradek.log.directory import DataDirectory
from odradek.log.log_name import LogName, Standing
from odradek.log.recoveries import recover_logs
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.model.ids import Partition, TopicId
from odradek.testing.sim_disk import SimDisk
from odradek.wire.records import BatchBuilder

SETTINGS = LogSettings(segment_bytes=1000)
ORDERS = Partition("orders", 0)
META = MetaProperties(broker_id=1, cluster_id="mine")
NOW_MS = 1000
DUE_MS = 5000


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(Random(0))


def directory_on(disk: SimDisk) -> DataDirectory:
    return DataDirectory(disk, "/data", Random(1).randbytes)


def opened(disk: SimDisk) -> DataDirectory:
    directory = directory_on(disk)
    directory.claim()
    outcomes = recover_logs(disk, directory.recoveries(lambda _: SETTINGS))
    directory.open_logs(lambda _: SETTINGS, outcomes, NOW_MS, DUE_MS)
    return directory


def with_orders(disk: SimDisk, count: int = 0) -> DataDirectory:
    directory = opened(disk)
    directory.create(LogName(ORDERS), None, SETTINGS, NOW_MS)
    append(directory, count)
    return directory


def append(directory: DataDirectory, count: int) -> None:
    for _ in range(count):
        builder = BatchBuilder()
        builder.append(NOW_MS, b"key", b"value")
        directory.logs[ORDERS].append(builder.build(), 0, NOW_MS)


def stop(directory: DataDirectory) -> None:
    directory.close(NOW_MS, -1)
    directory.release()


def test_a_new_directory_is_nobodys_until_it_is_signed(disk: SimDisk) -> None:
    directory = directory_on(disk)
    directory.claim()
    assert directory.meta == MetaProperties(None, None)
    directory.sign(META)
    assert checkpoint.read_meta(disk, "/data/meta.properties") == META
    directory.release()
    again = directory_on(disk)
    again.claim()
    assert again.meta == META
    again.sign(META)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (MetaProperties(2, "mine"), "/data: belongs to broker 1, not to broker 2"),
        (MetaProperties(1, "other"), "/data: belongs to cluster mine, not to cluster other"),
    ],
)
def test_somebody_elses_directory_is_not_signed(disk: SimDisk, other: MetaProperties, why: str) -> None:
    directory = directory_on(disk)
    directory.claim()
    directory.sign(META)
    with pytest.raises(ForeignDirectory, match=why):
        directory.sign(other)
    assert checkpoint.read_meta(disk, "/data/meta.properties") == META


def test_a_directory_in_use_is_not_claimed(disk: SimDisk) -> None:
    directory_on(disk).claim()
    with pytest.raises(ForeignDirectory, match="another broker uses it"):
        directory_on(disk).claim()


def test_after_a_clean_stop_nothing_is_recovered(disk: SimDisk) -> None:
    stop(with_orders(disk, 3))
    assert checkpoint.read_clean_shutdown(disk, "/data/.kafka_cleanshutdown") == -1
    directory = directory_on(disk)
    directory.claim()
    assert directory.recoveries(lambda _: SETTINGS) == []
    directory.open_logs(lambda _: SETTINGS, [], NOW_MS, DUE_MS)
    assert directory.logs[ORDERS].log_end == 3


def test_the_note_of_a_clean_stop_is_durably_gone_before_the_logs_are_open(disk: SimDisk) -> None:
    stop(with_orders(disk, 3))
    opened(disk)
    disk.crash()
    directory = directory_on(disk)
    directory.claim()
    assert [each.directory for each in directory.recoveries(lambda _: SETTINGS)] == ["/data/orders-0"]


def test_a_log_that_was_not_recovered_is_not_opened(disk: SimDisk) -> None:
    with_orders(disk)
    disk.kill()
    directory = directory_on(disk)
    directory.claim()
    with pytest.raises(AssertionError, match="orders-0 was not recovered"):
        directory.open_logs(lambda _: SETTINGS, [], NOW_MS, DUE_MS)


def test_what_recovery_mended_is_logged_and_what_it_could_not_is_an_error(
    disk: SimDisk, caplog: pytest.LogCaptureFixture
) -> None:
    with_orders(disk, 3)
    disk.kill()
    disk.open("/data/orders-0/00000000000000000000.log").append(b"rubbish" * 20)
    with caplog.at_level(logging.WARNING, "odradek.log"):
        directory = opened(disk)
    assert directory.logs[ORDERS].log_end == 3
    assert "cut at byte" in caplog.text
    disk.kill()
    disk.broken.add("/data/orders-0")
    with pytest.raises(StorageError, match="Input/output error"):
        opened(disk)


def test_recovery_is_told_how_much_it_will_read(disk: SimDisk) -> None:
    directory = with_orders(disk, 30)
    log = directory.logs[ORDERS]
    log.flush(NOW_MS)
    directory.checkpoint_recovery_points()
    append(directory, 3)
    last = sum(
        segment.size for segment in log.segments if segment.base_offset >= log.segments[-1].base_offset
    )
    disk.kill()
    directory = directory_on(disk)
    directory.claim()
    (recovery,) = directory.recoveries(lambda _: SETTINGS)
    assert recovery.known.recovery_point == 30
    assert last <= recovery.size < log.size


def test_a_damaged_checkpoint_that_only_saves_work_is_gone_without(
    disk: SimDisk, caplog: pytest.LogCaptureFixture
) -> None:
    stop(with_orders(disk, 3))
    disk.replace_file("/data/recovery-point-offset-checkpoint", b"nonsense")
    directory = opened(disk)
    assert "line 1: version 0 expected; going on without it" in caplog.text
    assert directory.logs[ORDERS].log_end == 3


def test_a_damaged_high_watermark_checkpoint_is_an_error(disk: SimDisk) -> None:
    stop(with_orders(disk, 3))
    disk.replace_file("/data/replication-offset-checkpoint", b"nonsense")
    with pytest.raises(StorageError, match="replication-offset-checkpoint: line 1"):
        opened(disk)


def test_a_log_knows_its_topic_id(disk: SimDisk) -> None:
    directory = opened(disk)
    directory.create(LogName(ORDERS), TopicId(bytes(range(16))), SETTINGS, NOW_MS)
    assert disk.read_file("/data/orders-0/partition.metadata").startswith(b"version: 0\ntopic_id: AAECAwQ")
    assert directory.topic_id(LogName(ORDERS)) == TopicId(bytes(range(16)))


def test_a_deleted_log_is_renamed_at_once_and_removed_when_due(disk: SimDisk) -> None:
    directory = with_orders(disk, 3)
    directory.delete([LogName(ORDERS)], DUE_MS)
    (name,) = (each for each in disk.list("/data") if each.startswith("orders"))
    parsed = LogName.parse(name)
    assert parsed == LogName(ORDERS, Standing.DELETED)
    directory.take_deleted(DUE_MS - 1).run()
    assert disk.exists(f"/data/{name}")
    directory.take_deleted(DUE_MS).run()
    assert not disk.exists(f"/data/{name}")


def test_what_was_deleted_before_the_last_stop_is_removed_when_due(disk: SimDisk) -> None:
    directory = with_orders(disk, 3)
    directory.delete([LogName(ORDERS)], DUE_MS)
    stop(directory)
    directory = opened(disk)
    assert directory.logs == {}
    directory.take_deleted(DUE_MS).run()
    assert not any(name.startswith("orders") for name in disk.list("/data"))


def test_a_log_of_a_deleted_ones_name_inherits_nothing(disk: SimDisk) -> None:
    directory = with_orders(disk, 3)
    log = directory.logs[ORDERS]
    log.flush(NOW_MS)
    log.advance_high_watermark(3)
    directory.checkpoint_recovery_points()
    directory.checkpoint_high_watermarks()
    directory.note_cleaned(ORDERS, 2)
    directory.delete([LogName(ORDERS)], DUE_MS)
    for name in (checkpoint.RECOVERY_POINTS, checkpoint.HIGH_WATERMARKS, checkpoint.CLEANED_UNTIL):
        assert checkpoint.read_offsets(disk, f"/data/{name}") == {}
    directory.create(LogName(ORDERS), None, SETTINGS, NOW_MS)
    assert directory.logs[ORDERS].log_end == 0
    assert directory.cleaned_until(ORDERS) is None


def test_a_cut_corrects_the_checkpoints_before_anything_is_appended(disk: SimDisk) -> None:
    directory = with_orders(disk, 5)
    directory.logs[ORDERS].flush(NOW_MS)
    directory.checkpoint_recovery_points()
    directory.note_cleaned(ORDERS, 4)
    directory.cut({ORDERS: 2})
    assert checkpoint.read_offsets(disk, "/data/recovery-point-offset-checkpoint") == {ORDERS: 2}
    assert checkpoint.read_offsets(disk, "/data/cleaner-offset-checkpoint") == {ORDERS: 2}
    directory.start_over(ORDERS, 7)
    assert (directory.logs[ORDERS].log_start, directory.logs[ORDERS].log_end) == (7, 7)
    assert checkpoint.read_offsets(disk, "/data/cleaner-offset-checkpoint") == {ORDERS: 2}


def test_a_recovery_point_that_promises_too_much_is_corrected_when_logs_are_opened(disk: SimDisk) -> None:
    """A cut that failed half way, and the broker with it, left it behind."""
    directory = with_orders(disk, 5)
    directory.logs[ORDERS].flush(NOW_MS)
    directory.checkpoint_recovery_points()
    directory.logs[ORDERS].truncate_to(2)
    disk.kill()
    opened(disk)
    assert checkpoint.read_offsets(disk, "/data/recovery-point-offset-checkpoint") == {ORDERS: 2}


def test_a_cut_that_no_checkpoint_speaks_of_writes_none(disk: SimDisk) -> None:
    directory = with_orders(disk, 5)
    before = disk.counts["rename"]
    directory.cut({ORDERS: 2, Partition("elsewhere", 1): 0})
    assert directory.logs[ORDERS].log_end == 2
    assert disk.counts["rename"] == before


def test_a_checkpoint_with_nothing_new_is_not_written(disk: SimDisk) -> None:
    directory = with_orders(disk, 3)
    directory.checkpoint_high_watermarks()
    before = disk.counts["sync"]
    directory.checkpoint_high_watermarks()
    assert disk.counts["sync"] == before
    directory.logs[ORDERS].advance_high_watermark(2)
    directory.checkpoint_high_watermarks()
    assert checkpoint.read_offsets(disk, "/data/replication-offset-checkpoint") == {ORDERS: 2}


def test_a_log_start_is_only_noted_where_no_segment_tells_it(disk: SimDisk) -> None:
    directory = with_orders(disk, 5)
    log = directory.logs[ORDERS]
    directory.checkpoint_log_starts()
    assert checkpoint.read_offsets(disk, "/data/log-start-offset-checkpoint") == {}
    log.advance_high_watermark(5)
    log.delete_records(3)
    directory.checkpoint_log_starts()
    assert checkpoint.read_offsets(disk, "/data/log-start-offset-checkpoint") == {ORDERS: 3}
    stop(directory)
    assert opened(disk).logs[ORDERS].log_start == 3


def test_a_future_log_takes_its_place(disk: SimDisk) -> None:
    directory = opened(disk)
    future = directory.create(LogName(ORDERS, Standing.FUTURE), None, SETTINGS, NOW_MS)
    assert future.directory.endswith("-future")
    assert directory.logs == {}
    directory.promote(ORDERS, NOW_MS)
    assert directory.futures == {}
    assert directory.logs[ORDERS].directory == "/data/orders-0"
    append(directory, 1)
    stop(directory)
    assert opened(disk).logs[ORDERS].log_end == 1


def test_a_stray_and_what_is_no_log_are_left_alone(disk: SimDisk) -> None:
    directory = opened(disk)
    strays = ["orders-0.00ff-stray", "lost+found"]
    for name in strays:
        disk.make_directory(f"/data/{name}")
    stop(directory)
    directory = opened(disk)
    assert len(directory) == 0
    assert set(strays) <= set(disk.list("/data"))


def test_a_failed_directory_says_what_is_lost_with_it(disk: SimDisk) -> None:
    directory = with_orders(disk, 1)
    assert directory.fail("it smokes") == [ORDERS]
    assert directory.failure == "it smokes"
    assert len(directory) == 0
