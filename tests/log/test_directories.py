from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from random import Random

import pytest

from odradek.log.checkpoint import ForeignDirectory, MetaProperties
from odradek.log.directories import LogDirectories
from odradek.log.directory import DataDirectory
from odradek.log.log import PartitionLog
from odradek.log.recoveries import recover_logs
from odradek.log.settings import LogSettings
from odradek.model.errors import StorageError
from odradek.model.ids import Partition, TopicId
from odradek.testing.sim_disk import SimDisk
from odradek.wire.records import BatchBuilder

SETTINGS = LogSettings()
ORDERS, BILLS, CLICKS = Partition("orders", 0), Partition("bills", 0), Partition("clicks", 0)
PATHS = ("/one", "/two")
META = MetaProperties(1, "mine")
NOW_MS = 1000
DELAY_MS = 60_000


class Broker:
    """What a broker does with its directories, and what it is told of them."""

    def __init__(self, disk: SimDisk, paths: Sequence[str] = PATHS, settings: LogSettings = SETTINGS) -> None:
        self.disk = disk
        self.settings = settings
        self.lost: list[tuple[str, list[Partition]]] = []
        self.directories = LogDirectories(
            disk, paths, random_bytes=Random(1).randbytes, on_failure=self._on_failure
        )

    def start(self) -> LogDirectories:
        self.directories.claim()
        self.directories.sign(META)
        outcomes = recover_logs(self.disk, self.directories.recoveries(lambda _: self.settings))
        self.directories.open_logs(lambda _: self.settings, outcomes, NOW_MS)
        return self.directories

    def _on_failure(self, directory: DataDirectory, lost: list[Partition]) -> None:
        self.lost.append((directory.path, lost))


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(Random(0))


def append(log: PartitionLog, count: int, leader_epoch: int = 0) -> None:
    for _ in range(count):
        builder = BatchBuilder()
        builder.append(NOW_MS, b"key", b"value")
        log.append(builder.build(), leader_epoch, NOW_MS)


def where(directories: LogDirectories) -> dict[str, set[Partition]]:
    return {each.path: set(each.logs) for each in directories}


def test_directories_agree_whose_they_are(disk: SimDisk) -> None:
    directories = Broker(disk).directories
    assert directories.claim() == MetaProperties(None, None)
    directories.sign(META)
    directories.release()
    added = Broker(disk, [*PATHS, "/three"]).directories
    assert added.claim() == META
    added.sign(META)
    assert disk.read_file("/three/meta.properties") == disk.read_file("/one/meta.properties")


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (MetaProperties(2, "mine"), "disagree whose they are: /one of broker 1, /two of broker 2"),
        (MetaProperties(1, "other"), "disagree whose they are: /one of cluster mine, /two of cluster other"),
    ],
)
def test_directories_that_disagree_are_refused_and_released(
    disk: SimDisk, other: MetaProperties, why: str
) -> None:
    for path, meta in (("/one", META), ("/two", other)):
        alone = Broker(disk, [path]).directories
        alone.claim()
        alone.sign(meta)
        alone.release()
    with pytest.raises(ForeignDirectory, match=why):
        Broker(disk).directories.claim()
    Broker(disk, ["/one"]).directories.claim()


def test_another_brokers_directories_are_refused_and_released(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    directories.release()
    others = Broker(disk).directories
    others.claim()
    with pytest.raises(ForeignDirectory, match="/one: belongs to broker 1, not to broker 2"):
        others.sign(MetaProperties(2, "mine"))
    Broker(disk).start()


def test_a_directory_in_use_refuses_all(disk: SimDisk) -> None:
    Broker(disk, ["/two"]).start()
    with pytest.raises(ForeignDirectory, match="/two: another broker uses it"):
        Broker(disk).start()
    Broker(disk, ["/one"]).start()


def test_a_new_log_goes_where_there_are_fewest(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    for number in range(4):
        directories.create(Partition("t", number), SETTINGS, NOW_MS)
    assert [len(each) for each in directories] == [2, 2]
    directories.create(ORDERS, SETTINGS, NOW_MS, path="/two")
    directories.create(BILLS, SETTINGS, NOW_MS)
    home = directories.home(BILLS)
    assert home is not None
    assert home.path == "/one"


def test_logs_are_found_again_after_a_clean_stop_and_after_a_kill(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    for partition in (ORDERS, BILLS):
        append(directories.create(partition, SETTINGS, NOW_MS), 3)
    before = where(directories)
    directories.close(NOW_MS)
    directories = Broker(disk).start()
    assert where(directories) == before
    append_to = directories.log(ORDERS)
    assert append_to is not None
    append(append_to, 2)
    disk.kill()
    directories = Broker(disk).start()
    assert where(directories) == before
    found = directories.log(ORDERS)
    assert found is not None
    assert found.log_end == 5


def test_a_disk_that_fails_takes_its_own_logs_along_and_no_others(disk: SimDisk) -> None:
    broker = Broker(disk)
    directories = broker.start()
    directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    directories.create(BILLS, SETTINGS, NOW_MS, path="/two")
    disk.broken.add("/one")
    directories.checkpoint_high_watermarks()
    directories.checkpoint_recovery_points()
    assert broker.lost == [("/one", [ORDERS])]
    assert directories.log(ORDERS) is None
    bills = directories.log(BILLS)
    assert bills is not None
    append(bills, 1)
    directories.create(CLICKS, SETTINGS, NOW_MS)
    directories.close(NOW_MS)
    disk.broken.clear()
    directories = Broker(disk).start()
    assert where(directories) == {"/one": {ORDERS}, "/two": {BILLS, CLICKS}}


def test_whoever_meets_a_failure_tells_by_path(disk: SimDisk) -> None:
    broker = Broker(disk)
    directories = broker.start()
    log = directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    directories.failed(log.directory, "it smokes")
    directories.failed(log.directory, "still")
    assert broker.lost == [("/one", [ORDERS])]
    assert [each.path for each in directories.online] == ["/two"]
    directories.failed("/two", "fire")
    assert directories.all_offline
    with pytest.raises(StorageError, match="every data directory is offline"):
        directories.create(BILLS, SETTINGS, NOW_MS)


def test_a_disk_that_fails_at_the_start_leaves_the_others_serving(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    directories.create(BILLS, SETTINGS, NOW_MS, path="/two")
    directories.close(NOW_MS)
    disk.broken.add("/one")
    broker = Broker(disk)
    directories = broker.start()
    assert broker.lost == [("/one", [])]
    assert directories.log(BILLS) is not None


def test_logs_are_deleted_with_their_futures(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    directories.create(BILLS, SETTINGS, NOW_MS, path="/one")
    directories.create_future(ORDERS, "/two", NOW_MS)
    directories.delete([ORDERS, CLICKS], NOW_MS)
    assert where(directories) == {"/one": {BILLS}, "/two": set()}
    assert directories.future(ORDERS) is None
    directories.remove_due(NOW_MS + DELAY_MS)
    assert not any(name.startswith("orders") for path in PATHS for name in disk.list(path))


def test_a_deletion_that_a_failing_disk_did_not_keep_is_a_loss(disk: SimDisk) -> None:
    broker = Broker(disk)
    directories = broker.start()
    directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    disk.broken.add("/one")
    directories.delete([ORDERS], NOW_MS)
    assert broker.lost == [("/one", [ORDERS])]


def moved(directories: LogDirectories, path: str) -> PartitionLog:
    directories.create_future(ORDERS, path, NOW_MS)
    while directories.fill_future(ORDERS, 100, NOW_MS):
        pass
    return directories.promote_future(ORDERS, NOW_MS)


def test_a_log_moves_to_another_directory(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    topic_id = TopicId(bytes(range(16)))
    log = directories.create(ORDERS, SETTINGS, NOW_MS, path="/one", topic_id=topic_id)
    append(log, 10)
    log.advance_high_watermark(7)
    log.delete_records(2)
    promoted = moved(directories, "/two")
    assert (promoted.log_start, promoted.high_watermark, promoted.log_end) == (2, 7, 10)
    assert where(directories) == {"/one": set(), "/two": {ORDERS}}
    assert disk.read_file("/two/orders-0/partition.metadata").endswith(b"AAECAwQFBgcICQoLDA0ODw")
    append(promoted, 1)
    moved(directories, "/one")
    assert where(directories) == {"/one": {ORDERS}, "/two": set()}


def test_a_move_goes_on_after_a_restart(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    append(directories.create(ORDERS, SETTINGS, NOW_MS, path="/one"), 10)
    directories.create_future(ORDERS, "/two", NOW_MS)
    directories.fill_future(ORDERS, 200, NOW_MS)
    directories.close(NOW_MS)
    directories = Broker(disk).start()
    future = directories.future(ORDERS)
    assert future is not None
    assert 0 < future.log_end < 10
    while directories.fill_future(ORDERS, 100, NOW_MS):
        pass
    assert directories.promote_future(ORDERS, NOW_MS).log_end == 10


def test_a_move_that_stopped_between_its_renames_is_completed(
    disk: SimDisk, caplog: pytest.LogCaptureFixture
) -> None:
    directories = Broker(disk).start()
    append(directories.create(ORDERS, SETTINGS, NOW_MS, path="/one"), 10)
    directories.create_future(ORDERS, "/two", NOW_MS)
    while directories.fill_future(ORDERS, 1000, NOW_MS):
        pass
    _, two = directories
    two.promote(ORDERS, NOW_MS)
    disk.kill()
    with caplog.at_level(logging.WARNING, "odradek.log"):
        directories = Broker(disk).start()
    assert "orders-0 was being moved" in caplog.text
    assert sum(len(each) for each in directories) == 1
    log = directories.log(ORDERS)
    assert log is not None
    assert log.log_end == 10


def test_a_future_that_outlived_what_its_log_lost_is_cut(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    log = directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    append(log, 10)
    directories.create_future(ORDERS, "/two", NOW_MS)
    while directories.fill_future(ORDERS, 1000, NOW_MS):
        pass
    disk.kill()
    disk.open("/one/orders-0/00000000000000000000.log").truncate(100)
    directories = Broker(disk).start()
    shorter, future = directories.log(ORDERS), directories.future(ORDERS)
    assert shorter is not None
    assert future is not None
    assert future.log_end == shorter.log_end < 10


def test_what_is_cut_is_cut_in_the_future_too(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    log = directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    append(log, 10)
    directories.create_future(ORDERS, "/two", NOW_MS)
    while directories.fill_future(ORDERS, 1000, NOW_MS):
        pass
    future = directories.future(ORDERS)
    assert future is not None
    directories.cut({ORDERS: 4})
    assert (log.log_end, future.log_end) == (4, 4)
    directories.start_over(ORDERS, 20, NOW_MS)
    assert directories.future(ORDERS) is None
    assert (log.log_start, log.log_end) == (20, 20)


def test_a_future_whose_log_moved_on_starts_where_the_log_does(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    log = directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    append(log, 10)
    directories.create_future(ORDERS, "/two", NOW_MS)
    log.advance_high_watermark(10)
    log.delete_records(8)
    while directories.fill_future(ORDERS, 1000, NOW_MS):
        pass
    future = directories.future(ORDERS)
    assert future is not None
    assert (future.log_start, future.log_end) == (8, 10)


def test_a_future_of_a_topic_of_before_goes(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    directories.create(ORDERS, SETTINGS, NOW_MS, path="/one", topic_id=TopicId(bytes(16)))
    directories.create_future(ORDERS, "/two", NOW_MS)
    disk.broken.add("/two")
    directories.checkpoint_recovery_points()  # here the failure shows
    directories.delete([ORDERS], NOW_MS)
    directories.create(ORDERS, SETTINGS, NOW_MS, topic_id=TopicId(bytes(range(16))))
    directories.close(NOW_MS)
    disk.broken.clear()
    directories = Broker(disk).start()
    assert where(directories) == {"/one": {ORDERS}, "/two": set()}
    assert directories.future(ORDERS) is None


def test_a_future_that_missed_a_cut_keeps_what_it_has_in_common(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    log = directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    append(log, 10)
    directories.create_future(ORDERS, "/two", NOW_MS)
    while directories.fill_future(ORDERS, 1000, NOW_MS):
        pass
    directories.failed("/two", "unplugged")
    directories.cut({ORDERS: 4})
    log.begin_epoch(1)
    append(log, 10, leader_epoch=1)
    disk.kill()
    directories = Broker(disk).start()
    future = directories.future(ORDERS)
    assert future is not None
    assert future.log_end == 4


@pytest.mark.parametrize("killed", [True, False])
def test_a_future_of_a_compacted_topic_starts_over_after_a_crash(disk: SimDisk, killed: bool) -> None:
    directories = Broker(disk).start()
    compacted = dataclasses.replace(SETTINGS, cleanup_policy=frozenset({"compact"}))
    log = directories.create(ORDERS, compacted, NOW_MS, path="/one")
    append(log, 10)
    directories.create_future(ORDERS, "/two", NOW_MS)
    while directories.fill_future(ORDERS, 1000, NOW_MS):
        pass
    if killed:
        disk.kill()
    else:
        directories.close(NOW_MS)
    directories = Broker(disk, settings=compacted).start()
    future = directories.future(ORDERS)
    assert future is not None
    assert future.log_end == (0 if killed else 10)


def test_nothing_is_created_on_a_directory_that_is_offline(disk: SimDisk) -> None:
    directories = Broker(disk).start()
    directories.create(ORDERS, SETTINGS, NOW_MS, path="/one")
    directories.failed("/two", "it smokes")
    with pytest.raises(StorageError, match="/two is offline: it smokes"):
        directories.create_future(ORDERS, "/two", NOW_MS)
