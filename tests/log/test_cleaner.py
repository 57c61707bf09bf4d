from __future__ import annotations

import tarfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from odradek.log.checkpoint import CLEANED_UNTIL, read_offsets
from odradek.log.cleaner import clean
from odradek.log.cleaning import KeyMapSettings, LastBatch, Order
from odradek.log.disk import OsDisk
from odradek.log.open_files import OpenFiles
from odradek.log.producers import ProducerStates
from odradek.log.segment import Segment
from odradek.log.segments import CLEANED
from odradek.log.settings import LogSettings
from odradek.log.txn_index import AbortedTransaction
from odradek.model.ids import Partition
from odradek.wire.batch import COMPRESSION_MASK, CONTROL, LOG_APPEND_TIME, BatchHeader
from odradek.wire.records import Record, read_records

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-directory" / "compaction.tar.gz"
DELETE_RETENTION_MS = {"compacted": 0, "compacted-gzip": 24 * 3600 * 1000}

Batch: TypeAlias = tuple[BatchHeader, list[Record]]


class Content(NamedTuple):
    """One segment, as far as two cleaners must agree on it."""

    base_offset: int
    batches: list[Batch]
    aborted: list[AbortedTransaction]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compacted topics before and after Kafka cleaned them."""
    target = tmp_path_factory.mktemp("kafka")
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(target, filter="data")
    return target / "compaction"


@pytest.mark.parametrize("topic", ["compacted", "compacted-gzip"])
@pytest.mark.parametrize("round_", [0, 1, 2])
def test_kafkas_own_cleaner_comes_to_the_same(kafka: Path, round_: int, topic: str) -> None:
    before, after = (kafka / f"{round_}-{when}" / f"{topic}-0" for when in ("before", "after"))
    theirs = list(contents(after))[:-1]  # the last is the active one, which nobody cleans
    horizons = [header.delete_horizon_ms or 0 for segment in theirs for header, _ in segment.batches]
    now_ms = max(horizons) - DELETE_RETENTION_MS[topic]
    cleaned = clean(order_like_kafkas(before, topic, now_ms), OsDisk(), lambda _: None)
    assert list(contents(before, CLEANED)) == theirs
    assert [swap.base_offset for swap in cleaned.swaps] == [segment.base_offset for segment in theirs]


def test_kafkas_own_cleaner_had_something_to_do(kafka: Path) -> None:
    """The comparison above would say nothing of a log in which nothing happens."""

    def seen(name: str) -> dict[str, set[int]]:
        batches = [each for segment in contents(kafka / name / "compacted-0") for each in segment.batches]
        data = [batch for batch in batches if not batch[0].attributes & CONTROL]
        return {
            "markers": {header.base_offset for header, _ in batches if header.attributes & CONTROL},
            "empty": {header.base_offset for header, records in data if not records},
            "tombstones": {each.offset for _, records in data for each in records if each.value is None},
            "values": {each.offset for _, records in data for each in records if each.value is not None},
            "horizons": {header.base_offset for header, _ in batches if header.delete_horizon_ms},
        }

    before, *after = (seen(name) for name in ("0-before", "0-after", "1-after", "2-after"))
    for what in ("values", "tombstones", "markers"):
        left = [before[what], *(each[what] & before[what] for each in after)]
        assert left[0] > left[-1], what
        assert all(later <= earlier for earlier, later in pairwise(left)), what
    assert all(each["empty"] and each["horizons"] for each in after)


def order_like_kafkas(directory: Path, topic: str, now_ms: int) -> Order:
    disk = OsDisk()
    bases = sorted(int(log.stem) for log in directory.glob("*.log"))
    cleaned = read_offsets(disk, str(directory.parent / CLEANED_UNTIL))
    newest_snapshot = max(directory.glob("*.snapshot"))
    producers = ProducerStates.load(newest_snapshot.read_bytes()).describe()
    return Order(
        directory=str(directory),
        base_offsets=tuple(bases),
        cuts=0,
        first_dirty=cleaned.get(Partition(topic, 0), 0),
        first_uncleanable=bases[-1],
        now_ms=now_ms,
        settings=LogSettings(segment_bytes=4000, delete_retention_ms=DELETE_RETENTION_MS[topic]),
        last_batches={each.producer_id: LastBatch(each.last_offset, each.epoch) for each in producers},
        key_map=KeyMapSettings(size=1 << 20),
        salt=b"of this test",
    )


def contents(directory: Path, suffix: str = "") -> Iterator[Content]:
    files = OpenFiles(OsDisk())
    for path in sorted(directory.glob(f"*.log{suffix}")):
        base_offset = int(path.name[:20])
        segment = Segment(files, str(directory), base_offset, size=path.stat().st_size, suffix=suffix)
        batches = [(comparable(header), list(read_records(batch))) for _, header, batch in segment.contents()]
        yield Content(base_offset, batches, list(segment.txn_index.ending_from(0)))


def comparable(header: BatchHeader) -> BatchHeader:
    """Down to the checksum, except where other bytes mean the same: what a compressor made of them, what the
    records say of time where the batch's own counts, and what their times are relative to."""
    compressed = header.attributes & COMPRESSION_MASK
    relative = header.record_count and header.delete_horizon_ms is None
    if compressed or relative or header.attributes & LOG_APPEND_TIME:
        header = header._replace(length=0, crc=0)
    return header._replace(base_timestamp=0) if relative else header
