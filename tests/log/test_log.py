from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.log.epochs import LeaderEpochs
from odradek.log.log import Appended, LogRead, Origin, PartitionLog, ReadUpTo
from odradek.log.open_files import OpenFiles
from odradek.log.recovery import Known
from odradek.log.segment import LOG, FoundTimestamp
from odradek.log.settings import LogSettings
from odradek.log.txn_index import AbortedTransaction
from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.testing.batches import T0, batch_of, marker_of, stored
from odradek.testing.sim_disk import SimDisk
from odradek.wire.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, BatchHeader, read_header, split
from odradek.wire.records import Producer

NOW_MS = T0
SETTINGS = LogSettings(index_interval_bytes=200, segment_index_bytes=4096)
SIZE = len(batch_of(T0))
SMALL = replace(SETTINGS, segment_bytes=10 * SIZE)  # ten batches of one record


@pytest.fixture
def log(files: OpenFiles, directory: str) -> PartitionLog:
    return PartitionLog.open(files, directory, SETTINGS, now_ms=NOW_MS)


@pytest.fixture
def small(files: OpenFiles, directory: str) -> PartitionLog:
    """Thirty-five offsets in four segments."""
    log = PartitionLog.open(files, directory, SMALL, now_ms=NOW_MS)
    fill(log, 35)
    assert bases(log) == [0, 10, 20, 30]
    return log


def fill(log: PartitionLog, count: int, leader_epoch: int = 0) -> None:
    for _ in range(count):
        log.append(batch_of(T0 + 1000 * log.log_end), leader_epoch, NOW_MS)


def transact(log: PartitionLog, pid: int, sequence: int = 0, count: int = 1) -> Appended:
    batch = batch_of(*[T0] * count, producer=Producer(pid, 0, sequence), transactional=True)
    return log.append(batch, 0, NOW_MS)


def decide(
    log: PartitionLog, pid: int, *, aborted: bool, epoch: int = 0, coordinator_epoch: int = 0
) -> Appended:
    return log.append_marker(
        pid, epoch, aborted=aborted, coordinator_epoch=coordinator_epoch, leader_epoch=0, now_ms=NOW_MS
    )


def bases(log: PartitionLog) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def headers(read: LogRead) -> list[BatchHeader]:
    return [] if read.slice is None else [header for _, header in split(read.slice.read())]


def everything(log: PartitionLog) -> list[BatchHeader]:
    return [header for segment in log.segments for _, header in segment.batches()]


def refusal(error: ErrorCode) -> object:
    return pytest.raises(ApiError, match=error.name)


def reopen(log: PartitionLog, known: Known | None = None) -> PartitionLog:
    """After a clean stop."""
    log.close(NOW_MS)
    disk = log._durability._disk
    known = known or Known(log.recovery_point, log.log_start, log.high_watermark)
    return PartitionLog.open(OpenFiles(disk), log.directory, log.settings, now_ms=NOW_MS, known=known)


# -- a leader appends --------------------------------------------------------------------------------------


def test_offsets_follow_each_other(log: PartitionLog) -> None:
    assert log.append(batch_of(T0, T0), 0, NOW_MS) == Appended(0, 1, -1, 0)
    assert log.append(batch_of(T0, T0, T0), 0, NOW_MS) == Appended(2, 4, -1, 0)
    assert log.log_end == 5
    assert [(each.base_offset, each.last_offset) for each in everything(log)] == [(0, 1), (2, 4)]


def test_a_batch_is_stamped_where_it_lies_in_the_buffer(log: PartitionLog) -> None:
    buffer = bytearray(b"before" + batch_of(T0) + b"after")
    log.append(batch_of(T0), 4, NOW_MS)
    log.append(memoryview(buffer)[6 : 6 + SIZE], 4, NOW_MS)
    assert read_header(buffer, 6).base_offset == 1
    assert read_header(buffer, 6).leader_epoch == 4
    assert buffer.startswith(b"before")
    assert buffer.endswith(b"after")


def test_the_time_of_the_append_is_answered_where_the_log_stamps_it(files: OpenFiles, directory: str) -> None:
    settings = replace(SETTINGS, message_timestamp_type="LogAppendTime")
    log = PartitionLog.open(files, directory, settings, now_ms=NOW_MS)
    assert log.append(batch_of(5), 0, NOW_MS + 7).append_time_ms == NOW_MS + 7


def test_a_refused_batch_leaves_the_log_as_it_was(log: PartitionLog) -> None:
    fill(log, 3)
    broken = batch_of(T0)
    broken[-1] ^= 1
    with pytest.raises(ApiError):
        log.append(broken, 9, NOW_MS)
    assert (log.log_end, log.latest_epoch) == (3, 0)


def test_a_batch_larger_than_a_segment_is_refused(log: PartitionLog) -> None:
    log.configure(replace(SETTINGS, segment_bytes=SIZE - 1))
    with pytest.raises(ApiError, match="RECORD_LIST_TOO_LARGE"):
        log.append(batch_of(T0), 0, NOW_MS)


def test_a_duplicate_is_answered_with_its_old_offsets_and_not_written(log: PartitionLog) -> None:
    sent = [batch_of(T0, T0, producer=Producer(7, 0, 2 * number)) for number in range(3)]
    answers = [log.append(bytearray(each), 0, NOW_MS) for each in sent]
    again = [log.append(bytearray(each), 0, NOW_MS) for each in sent]
    assert [(each.base_offset, each.last_offset) for each in again] == [
        (each.base_offset, each.last_offset) for each in answers
    ]
    assert all(each.duplicate for each in again)
    assert log.log_end == 6


def test_a_failed_append_leaves_the_log_as_it_was(log: PartitionLog, disk: SimDisk) -> None:
    log.append(batch_of(T0, producer=Producer(7, 0, 0)), 0, NOW_MS)
    disk.capacity = disk.used
    with pytest.raises(StorageError):
        log.append(batch_of(T0, producer=Producer(7, 0, 1)), 0, NOW_MS)
    assert log.log_end == 1
    assert [each.last_sequence for each in log.producers.describe()] == [0]


def test_the_epoch_is_on_disk_before_its_first_batch(log: PartitionLog, disk: SimDisk) -> None:
    fill(log, 2, leader_epoch=3)
    log.begin_epoch(5)
    assert LeaderEpochs(disk, log.directory).entries == [(3, 0)]
    disk.broken.add(log.segments[-1].path(LOG))
    with pytest.raises(StorageError):
        fill(log, 1, leader_epoch=5)
    disk.broken.clear()
    assert LeaderEpochs(disk, log.directory).entries == [(3, 0), (5, 2)]


def test_epochs_begin_where_the_log_ends(log: PartitionLog) -> None:
    fill(log, 2, leader_epoch=3)
    fill(log, 2, leader_epoch=5)
    assert log.epochs.entries == [(3, 0), (5, 2)]
    log.begin_epoch(6)
    assert log.end_of_epoch(5) == (5, 4)
    assert log.end_of_epoch(6) == (6, 4)
    assert log.latest_epoch == 6


# -- transactions ------------------------------------------------------------------------------------------


def test_a_reader_of_committed_data_waits_for_the_marker_to_be_replicated(log: PartitionLog) -> None:
    fill(log, 2)
    transact(log, 7)
    log.advance_high_watermark(3)
    stable = [log.last_stable_offset]
    decide(log, 7, aborted=False)
    stable.append(log.last_stable_offset)
    log.advance_high_watermark(4)
    stable.append(log.last_stable_offset)
    assert stable == [2, 2, 4]


def test_aborted_transactions_come_with_what_is_read(log: PartitionLog) -> None:
    transact(log, 7)
    transact(log, 8)
    decide(log, 7, aborted=True)
    decide(log, 8, aborted=False)
    fill(log, 1)
    log.advance_high_watermark(log.log_end)
    expected = (AbortedTransaction(7, 0, 2, 1),)
    assert log.read(0, 1 << 20, ReadUpTo.LAST_STABLE).aborted == expected
    assert log.read(2, 1 << 20, ReadUpTo.LAST_STABLE).aborted == expected
    assert log.read(3, 1 << 20, ReadUpTo.LAST_STABLE).aborted == ()
    assert log.read(0, 1 << 20, ReadUpTo.HIGH_WATERMARK).aborted == ()


def test_an_aborted_transaction_is_told_in_every_segment_it_has_data_in(
    files: OpenFiles, directory: str
) -> None:
    log = PartitionLog.open(files, directory, SMALL, now_ms=NOW_MS)
    for sequence in range(25):
        transact(log, 7, sequence)
        fill(log, 1)
    decide(log, 7, aborted=True)
    fill(log, 30)
    log.advance_high_watermark(log.log_end)
    marker = 50
    expected = (AbortedTransaction(7, 0, marker, marker + 1),)
    for offset in range(log.log_end):
        found = log.read(offset, 3 * SIZE, ReadUpTo.LAST_STABLE).aborted
        assert found == (expected if offset <= marker else ())


def test_a_marker_is_told_from_data(log: PartitionLog) -> None:
    transact(log, 7)
    appended = decide(log, 7, aborted=False)
    assert (appended.base_offset, appended.last_offset) == (1, 1)
    with pytest.raises(ApiError, match="INVALID_PRODUCER_EPOCH"):
        decide(log, 7, aborted=False, epoch=-1)


def test_a_marker_has_the_log_s_own_time_where_the_topic_asks_for_it(
    files: OpenFiles, directory: str
) -> None:
    settings = replace(SETTINGS, message_timestamp_type="LogAppendTime", compression_type="gzip")
    log = PartitionLog.open(files, directory, settings, now_ms=NOW_MS)
    transact(log, 7)
    assert decide(log, 7, aborted=False).append_time_ms == NOW_MS
    assert everything(log)[-1].attributes == LOG_APPEND_TIME | TRANSACTIONAL | CONTROL


def test_a_coordinator_may_write_control_batches(log: PartitionLog) -> None:
    with pytest.raises(ApiError, match="INVALID_RECORD"):
        log.append(marker_of(7, aborted=False), 0, NOW_MS)
    log.append(batch_of(T0), 0, NOW_MS, Origin.COORDINATOR)
    assert log.log_end == 1


# -- a follower appends ------------------------------------------------------------------------------------


def test_a_follower_writes_what_its_leader_sent(log: PartitionLog) -> None:
    batches = [
        stored(batch_of(T0, T0, producer=Producer(7, 0, 0), transactional=True), 0, leader_epoch=1),
        stored(batch_of(T0), 2, leader_epoch=1),
        stored(marker_of(7, aborted=True), 3, leader_epoch=2),
    ]
    assert log.append_as_follower(b"".join(batches) + batches[0][:50], NOW_MS) == 4
    assert log.read(0, 1 << 20, ReadUpTo.LOG_END).slice is not None
    assert b"".join(bytes(batch) for _, _, batch in log.segments[0].contents()) == b"".join(batches)
    assert log.epochs.entries == [(1, 0), (2, 3)]
    assert list(log.segments[0].txn_index.ending_from(0)) == [AbortedTransaction(7, 0, 3, 4)]
    assert [each.last_sequence for each in log.producers.describe()] == [1]


def test_a_follower_keeps_the_gaps_of_a_compacted_log(log: PartitionLog) -> None:
    log.append_as_follower(stored(batch_of(T0), 5) + stored(batch_of(T0), 9), NOW_MS)
    assert log.log_end == 10
    assert [each.base_offset for each in headers(log.read(6, 1000, ReadUpTo.LOG_END))] == [9]


def test_a_follower_refuses_all_if_one_batch_is_damaged(log: PartitionLog) -> None:
    damaged = bytearray(stored(batch_of(T0), 1))
    damaged[-1] ^= 1
    with pytest.raises(ApiError, match="CORRUPT_MESSAGE"):
        log.append_as_follower(stored(batch_of(T0), 0) + damaged, NOW_MS)
    assert (log.log_end, log.size) == (0, 0)


def test_a_follower_refuses_what_does_not_follow(log: PartitionLog) -> None:
    log.append_as_follower(stored(batch_of(T0), 5), NOW_MS)
    for batches in (stored(batch_of(T0), 5), stored(batch_of(T0), 7) + stored(batch_of(T0), 6)):
        with pytest.raises(ApiError, match="CORRUPT_MESSAGE"):
            log.append_as_follower(batches, NOW_MS)
    assert log.log_end == 6


def test_an_empty_follower_begins_with_the_batch_its_leader_s_start_lies_in(
    files: OpenFiles, directory: str
) -> None:
    log = PartitionLog.open(files, directory, SETTINGS, now_ms=NOW_MS, known=Known(log_start=12))
    assert log.append_as_follower(stored(batch_of(T0, T0, T0), 10), NOW_MS) == 13
    assert bases(log) == [10]


# -- rolling -----------------------------------------------------------------------------------------------


def test_a_full_segment_is_followed_by_another(small: PartitionLog) -> None:
    assert [segment.size for segment in small.segments] == [10 * SIZE] * 3 + [5 * SIZE]


def test_a_segment_lasts_as_long_as_its_first_and_last_record_are_apart(log: PartitionLog) -> None:
    log.configure(replace(SETTINGS, segment_ms=5000))
    for timestamp in (T0, T0 + 5000, T0 - 9000, T0 + 5001, T0 + 5002):
        log.append(batch_of(timestamp), 0, NOW_MS)
    assert bases(log) == [0, 3]


def test_without_timestamps_a_segment_lasts_by_the_clock(log: PartitionLog) -> None:
    log.configure(replace(SETTINGS, segment_ms=5000))
    for now_ms in (NOW_MS, NOW_MS + 5000, NOW_MS + 5001, NOW_MS + 10_001, NOW_MS + 10_002):
        log.append(batch_of(-1), 0, now_ms)
    assert bases(log) == [0, 2, 4]


def test_jitter_shortens_a_segment_s_life(files: OpenFiles, directory: str) -> None:
    settings = replace(SETTINGS, segment_ms=5000, segment_jitter_ms=2000)
    log = PartitionLog.open(files, directory, settings, now_ms=NOW_MS, jitter=0.5)
    for timestamp in (T0, T0 + 4000, T0 + 4001):
        log.append(batch_of(timestamp), 0, NOW_MS)
    assert bases(log) == [0, 2]


def test_a_distance_that_no_index_entry_holds_begins_a_segment(log: PartitionLog) -> None:
    far = (1 << 31) + 5
    log.append_as_follower(stored(batch_of(T0), 0) + stored(batch_of(T0), far), NOW_MS)
    log.append_as_follower(stored(batch_of(T0), 3 * far), NOW_MS)
    assert [header.base_offset for header in everything(log)] == [0, far, 3 * far]
    assert all(
        header.last_offset - segment.base_offset < 1 << 31
        for segment in log.segments
        for _, header in segment.batches()
    )


def test_an_empty_log_does_not_roll(log: PartitionLog) -> None:
    log.roll(NOW_MS)
    assert bases(log) == [0]
    fill(log, 1)
    log.roll(NOW_MS)
    log.roll(NOW_MS)
    assert bases(log) == [0, 1]


def test_a_roll_leaves_a_snapshot_and_a_finished_segment(small: PartitionLog, disk: SimDisk) -> None:
    names = disk.list(small.directory)
    assert [name for name in names if name.endswith(".snapshot")] == [
        f"{base:020d}.snapshot" for base in (10, 20, 30)
    ]
    assert disk.size(small.segments[0].path(".index")) < 100
    assert disk.size(small.segments[-1].path(".index")) == SMALL.segment_index_bytes


def test_a_roll_that_fails_may_be_tried_again(log: PartitionLog, disk: SimDisk) -> None:
    fill(log, 3)
    disk.capacity = disk.used
    with pytest.raises(StorageError):
        log.roll(NOW_MS)
    disk.capacity = 1 << 60
    fill(log, 1)
    log.roll(NOW_MS)
    fill(log, 1)
    assert bases(log) == [0, 4]
    assert [header.base_offset for header in everything(log)] == [0, 1, 2, 3, 4]


# -- reading -----------------------------------------------------------------------------------------------


def test_every_offset_is_read_from_the_batch_that_holds_it(small: PartitionLog) -> None:
    for offset in range(35):
        found = headers(small.read(offset, 1 << 20, ReadUpTo.LOG_END))
        assert found[0].base_offset == offset
        assert found[-1].last_offset == min(offset // 10 * 10 + 9, 34)


@pytest.mark.parametrize("up_to", list(ReadUpTo))
@pytest.mark.parametrize("size_max", [1, 2 * SIZE, 1 << 20])
def test_a_reader_sees_nothing_beyond_its_bound(small: PartitionLog, up_to: ReadUpTo, size_max: int) -> None:
    bound = {ReadUpTo.LOG_END: 35, ReadUpTo.HIGH_WATERMARK: 23, ReadUpTo.LAST_STABLE: 23}[up_to]
    small.advance_high_watermark(23)
    seen, offset = [], 0
    while (read := small.read(offset, size_max, up_to)).slice is not None:
        seen += headers(read)
        offset = seen[-1].next_offset
    assert [header.base_offset for header in seen] == list(range(bound))


def test_at_the_end_there_is_nothing_yet_and_behind_it_never(small: PartitionLog) -> None:
    assert small.read(35, 1000, ReadUpTo.LOG_END).slice is None
    assert small.read(30, 1000, ReadUpTo.HIGH_WATERMARK).slice is None
    for offset in (-1, 36):
        with pytest.raises(ApiError, match="OFFSET_OUT_OF_RANGE"):
            small.read(offset, 1000, ReadUpTo.LOG_END)


def test_below_the_log_s_start_there_is_nothing_any_more(small: PartitionLog) -> None:
    small.advance_high_watermark(35)
    small.delete_records(17)
    with pytest.raises(ApiError, match="OFFSET_OUT_OF_RANGE"):
        small.read(16, 1000, ReadUpTo.LOG_END)
    assert headers(small.read(17, 1000, ReadUpTo.LOG_END))[0].base_offset == 17


def test_a_slice_goes_on_being_read_when_its_segment_is_gone(small: PartitionLog) -> None:
    small.advance_high_watermark(35)
    read = small.read(0, 1000, ReadUpTo.LOG_END)
    small.drop_segments(20, NOW_MS)
    small.take_deleted(NOW_MS + 1_000_000).run()
    assert headers(read)[0].base_offset == 0


def test_a_tail_reader_costs_no_search(log: PartitionLog, disk: SimDisk) -> None:
    fill(log, 200)
    for _ in range(3):
        offset = log.log_end
        log.advance_high_watermark(offset)
        fill(log, 1)
        log.advance_high_watermark(log.log_end)
        disk.counts.clear()
        assert log.read(offset, 1 << 20, ReadUpTo.HIGH_WATERMARK).slice is not None
        assert disk.counts["read"] == 0


# -- by time -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timestamp", "offset"), [(0, 0), (T0 + 9001, 10), (T0 + 34_000, 34), (T0 + 34_001, None)]
)
def test_records_are_found_by_time(small: PartitionLog, timestamp: int, offset: int | None) -> None:
    found = small.find_timestamp(timestamp)
    assert (found and found.offset) == offset


def test_records_below_the_start_are_not_found(small: PartitionLog) -> None:
    small.advance_high_watermark(35)
    small.delete_records(15)
    assert small.find_timestamp(0) == FoundTimestamp(T0 + 15_000, 15, 0)


def test_the_first_record_of_the_largest_timestamp_is_found(small: PartitionLog) -> None:
    small.append(batch_of(T0 + 5, T0 + 12_000), 0, NOW_MS)
    assert small.find_max_timestamp() == FoundTimestamp(T0 + 34_000, 34, 0)
    small.append(batch_of(T0 + 34_000, T0 + 35_000, T0 + 35_000), 2, NOW_MS)
    assert small.find_max_timestamp() == FoundTimestamp(T0 + 35_000, 38, 2)


def test_an_empty_log_has_no_largest_timestamp(log: PartitionLog) -> None:
    assert log.find_max_timestamp() is None
    assert log.find_timestamp(0) is None


# -- what moves the offsets --------------------------------------------------------------------------------


def test_the_high_watermark_never_falls_and_never_passes_the_end(small: PartitionLog) -> None:
    for offset in (10, 5, 100, 20):
        small.advance_high_watermark(offset)
    assert small.high_watermark == 35


@pytest.mark.parametrize(("before", "start"), [(0, 0), (12, 12), (20, 20), (-1, 20)])
def test_records_are_deleted_up_to_the_high_watermark(small: PartitionLog, before: int, start: int) -> None:
    small.advance_high_watermark(20)
    assert small.delete_records(before) == start
    assert small.log_start == start


@pytest.mark.parametrize("before", [-2, 21])
def test_records_above_the_high_watermark_are_not_deleted(small: PartitionLog, before: int) -> None:
    small.advance_high_watermark(20)
    with pytest.raises(ApiError, match="OFFSET_OUT_OF_RANGE"):
        small.delete_records(before)


def test_the_log_s_start_never_falls(small: PartitionLog) -> None:
    small.advance_high_watermark(35)
    small.advance_log_start(12)
    small.advance_log_start(5)
    assert small.log_start == 12


@pytest.mark.parametrize("offset", range(36))
def test_a_truncated_log_ends_there_and_goes_on(small: PartitionLog, offset: int) -> None:
    small.advance_high_watermark(30)
    assert small.truncate_to(offset) == (offset < 35)
    assert small.log_end == offset
    assert small.high_watermark == min(30, offset)
    fill(small, 3, leader_epoch=7)
    assert [header.base_offset for header in everything(small)] == list(range(offset + 3))
    assert small.epochs.end_of(7, small.log_end) == (7, offset + 3)


def test_a_truncation_inside_a_batch_takes_all_of_it(log: PartitionLog) -> None:
    for _ in range(3):
        log.append(batch_of(T0, T0, T0), 0, NOW_MS)
    assert log.truncate_to(7)
    assert log.log_end == 6


def test_a_truncation_forgets_producers_and_transactions(log: PartitionLog) -> None:
    transact(log, 7)
    log.roll(NOW_MS)
    transact(log, 7, 1)
    transact(log, 8)
    decide(log, 7, aborted=True)
    log.truncate_to(2)
    assert [(each.producer_id, each.last_sequence) for each in log.producers.describe()] == [(7, 1)]
    assert log.producers.first_open_offset == 0
    assert list(log.segments[-1].txn_index.ending_from(0)) == []


def test_a_truncation_lowers_what_is_known_to_be_synced(small: PartitionLog) -> None:
    small.flush(NOW_MS)
    flush = small.begin_flush()
    small.truncate_to(12)
    fill(small, 5)
    small.flushed(flush, NOW_MS)
    assert small.recovery_point == 12
    assert small.cuts == 1


def test_started_over_a_log_is_empty_there(small: PartitionLog) -> None:
    small.truncate_fully_and_start_at(1000)
    assert (small.log_start, small.high_watermark, small.log_end) == (1000, 1000, 1000)
    assert bases(small) == [1000]
    assert len(small.producers) == 0
    fill(small, 2)
    assert [header.base_offset for header in everything(small)] == [1000, 1001]


# -- segments come and go ----------------------------------------------------------------------------------


def test_dropped_segments_are_renamed_and_go_later(small: PartitionLog, disk: SimDisk) -> None:
    small.advance_high_watermark(35)
    dropped = small.drop_segments(25, NOW_MS)
    assert [segment.base_offset for segment in dropped] == [0, 10]
    assert (bases(small), small.log_start) == ([20, 30], 20)
    marked = [name for name in disk.list(small.directory) if name.endswith(".deleted")]
    assert len(marked) == 6
    small.take_deleted(NOW_MS + 59_999).run()
    assert disk.exists(f"{small.directory}/{marked[0]}")
    small.take_deleted(NOW_MS + 60_000).run()
    assert not [name for name in disk.list(small.directory) if name.endswith(".deleted")]


def test_all_that_is_expired_leaves_an_empty_active_segment(small: PartitionLog) -> None:
    small.advance_high_watermark(35)
    small.drop_segments(35, NOW_MS)
    assert (bases(small), small.log_start, small.log_end) == ([35], 35, 35)
    fill(small, 1)
    assert small.log_end == 36


def test_epochs_that_ended_with_dropped_segments_are_forgotten(log: PartitionLog) -> None:
    for epoch in (1, 2, 3):
        fill(log, 5, leader_epoch=epoch)
        log.roll(NOW_MS)
    log.advance_high_watermark(15)
    log.drop_segments(10, NOW_MS)
    assert log.epochs.entries == [(3, 10)]
    assert log.end_of_epoch(1) == (1, 10)


def test_no_epoch_ended_before_the_start(log: PartitionLog) -> None:
    fill(log, 5, leader_epoch=1)
    fill(log, 5, leader_epoch=2)
    log.advance_high_watermark(10)
    log.delete_records(8)
    assert log.end_of_epoch(1) == (1, 8)


def test_the_log_s_facts_are_told(small: PartitionLog) -> None:
    small.advance_high_watermark(20)
    facts = small.facts()
    assert [each.base_offset for each in facts.segments] == [0, 10, 20, 30]
    assert [each.largest_timestamp_ms for each in facts.segments] == [T0 + 1000 * n for n in (9, 19, 29, 34)]
    assert (facts.start_offset, facts.stable_offset, facts.high_watermark, facts.end_offset) == (
        0,
        20,
        20,
        35,
    )
    assert small.size == 35 * SIZE
    assert small.name == "orders-0"


# -- durability --------------------------------------------------------------------------------------------


def test_flushed_data_survives_a_crash(small: PartitionLog, disk: SimDisk) -> None:
    small.flush(NOW_MS)
    assert (small.recovery_point, small.unflushed) == (35, 0)
    known = Known(small.recovery_point)
    disk.crash()
    again = PartitionLog.open(
        OpenFiles(disk), small.directory, SMALL, now_ms=NOW_MS, clean=False, known=known
    )
    assert [header.base_offset for header in everything(again)] == list(range(35))


def test_a_flush_is_due_by_count_or_by_time(log: PartitionLog) -> None:
    log.configure(replace(SETTINGS, flush_messages=3, flush_ms=1000))
    due = [log.flush_due(NOW_MS + 5000)]
    fill(log, 2)
    due += [log.flush_due(NOW_MS + 999), log.flush_due(NOW_MS + 1000)]
    fill(log, 1)
    due.append(log.flush_due(NOW_MS))
    log.flush(NOW_MS)
    due.append(log.flush_due(NOW_MS + 5000))
    assert due == [False, False, True, True, False]


def test_one_flush_serves_all_that_were_appended_before_it_began(log: PartitionLog) -> None:
    fill(log, 3)
    flush = log.begin_flush()
    fill(log, 2)
    flush.run()
    log.flushed(flush, NOW_MS)
    assert (log.recovery_point, log.unflushed) == (3, 2)


# -- opening again -----------------------------------------------------------------------------------------


def test_a_closed_log_opens_as_it_was(small: PartitionLog) -> None:
    transact(small, 7)
    small.advance_high_watermark(20)
    again = reopen(small)
    assert everything(again) == everything(small)
    assert (again.log_end, again.high_watermark, again.recovery_point) == (36, 20, 36)
    assert list(again.producers.describe()) == list(small.producers.describe())
    assert again.latest_epoch == 0
    fill(again, 10)
    assert [header.base_offset for header in everything(again)] == list(range(46))


def test_a_clean_open_lists_once_and_reads_little(small: PartitionLog, disk: SimDisk) -> None:
    small.close(NOW_MS)
    disk.counts.clear()
    PartitionLog.open(OpenFiles(disk), small.directory, SMALL, now_ms=NOW_MS)
    assert disk.counts["list"] == 1
    assert disk.counts["read"] <= 4
    assert disk.counts["open"] <= 4


def test_known_offsets_are_kept_within_the_log(small: PartitionLog) -> None:
    again = reopen(small, Known(log_start=12, high_watermark=99))
    assert (again.log_start, again.high_watermark) == (12, 35)


def test_a_start_beyond_the_end_empties_the_log(small: PartitionLog) -> None:
    again = reopen(small, Known(log_start=50))
    assert (again.log_start, again.high_watermark, again.log_end, bases(again)) == (50, 50, 50, [50])


def test_a_log_that_was_not_closed_cleanly_after_all_is_recovered(small: PartitionLog, disk: SimDisk) -> None:
    small.close(NOW_MS)
    disk.open(small.segments[-1].path(LOG)).append(b"torn" * 30)
    again = PartitionLog.open(OpenFiles(disk), small.directory, SMALL, now_ms=NOW_MS)
    assert again.log_end == 35
    assert again.size == 35 * SIZE


def test_a_missing_index_is_made_anew(small: PartitionLog, disk: SimDisk) -> None:
    small.close(NOW_MS)
    before = disk.read_file(small.segments[0].path(".index"))
    disk.remove(small.segments[0].path(".index"))
    again = PartitionLog.open(OpenFiles(disk), small.directory, SMALL, now_ms=NOW_MS)
    again.close(NOW_MS)
    assert disk.read_file(small.segments[0].path(".index")) == before


def test_nothing_is_left_over_by_a_clean_stop(small: PartitionLog, disk: SimDisk) -> None:
    small.advance_high_watermark(35)
    small.drop_segments(20, NOW_MS)
    small.close(NOW_MS)
    assert not [name for name in disk.list(small.directory) if name.endswith(".deleted")]
    assert all(disk.size(segment.path(".index")) < 100 for segment in small.segments)
