"""The worked examples in docs/formats/ are what our own code writes."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from odradek.log import checkpoint
from odradek.log.checkpoint import EpochStart, MetaProperties
from odradek.log.log import Origin, PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.settings import LogSettings
from odradek.model.ids import Partition, TopicId
from odradek.testing.batches import T0, batch_of
from odradek.testing.sim_disk import SimDisk
from odradek.wire.records import Producer

PAGES = Path(__file__).parents[1] / "docs" / "formats"
DIRECTORY = "/data/orders-0"


def blocks(page: str, heading: str) -> list[list[str]]:
    """The indented blocks of a page's section, line by line."""
    sections = re.split(r"^#+ ", (PAGES / page).read_text(), flags=re.M)
    (section,) = (each for each in sections if each.startswith(heading))
    found = re.findall(r"(?:^    .*\n)+", section, flags=re.M)
    return [[line.removeprefix("    ") for line in block.splitlines()] for block in found]


def hex_of(lines: list[str]) -> bytes:
    """The bytes of a dump; what stands three blanks away, or behind an ellipsis, is explanation."""
    return bytes.fromhex("".join(re.split(r" {3,}|\.\.\.", line)[0] for line in lines))


@pytest.fixture(scope="module")
def disk() -> SimDisk:
    """A log of five batches: plain, transactional, plain, the transaction's abort, plain."""
    disk = SimDisk(Random(0))
    disk.make_directory(DIRECTORY)
    settings = LogSettings(index_interval_bytes=100)
    log = PartitionLog.open(OpenFiles(disk), DIRECTORY, settings, now_ms=T0)
    log.append(batch_of(T0, T0 + 5), 0, T0)
    log.append(batch_of(T0 + 20, producer=Producer(7, 0, 0), transactional=True), 0, T0, Origin.CLIENT)
    log.append(batch_of(T0 + 10), 0, T0)
    log.append_marker(7, 0, aborted=True, coordinator_epoch=3, leader_epoch=0, now_ms=T0 + 30)
    log.append(batch_of(T0 + 30), 0, T0)
    log.close(T0)
    return disk


def content(disk: SimDisk, name: str) -> bytes:
    return disk.read_file(f"{DIRECTORY}/{name}")


def test_the_example_of_a_segment(disk: SimDisk) -> None:
    (example,) = [block for block in blocks("segments.md", "A batch") if block[0].startswith("0000")]
    shown = hex_of(example)
    assert len(shown) > 91
    assert content(disk, "00000000000000000000.log").startswith(shown)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("`.index`", "00000000000000000000.index"),
        ("`.timeindex`", "00000000000000000000.timeindex"),
        ("`.txnindex`", "00000000000000000000.txnindex"),
    ],
)
def test_the_examples_of_indexes(disk: SimDisk, heading: str, name: str) -> None:
    _, example = blocks("indexes.md", heading)
    assert content(disk, name) == hex_of(example)


def test_the_example_of_a_producer_snapshot(disk: SimDisk) -> None:
    _, example = blocks("producer-snapshots.md", "Producer snapshots")
    assert content(disk, "00000000000000000006.snapshot") == hex_of(example)


def example_of_text(heading: str) -> bytes:
    return "\n".join(blocks("checkpoints.md", heading)[-1]).encode()


def test_the_examples_of_checkpoints() -> None:
    disk = SimDisk(Random(0))
    checkpoint.write_offsets(disk, "/offsets", {Partition("orders", 0): 1200, Partition("clicks", 11): 0})
    assert disk.read_file("/offsets") == example_of_text("Offsets") + b"\n"
    checkpoint.write_epochs(disk, "/epochs", [EpochStart(0, 0), EpochStart(3, 120)])
    assert disk.read_file("/epochs") == example_of_text("Leader epochs") + b"\n"
    checkpoint.write_partition_metadata(disk, "/metadata", TopicId(bytes(range(16))))
    assert disk.read_file("/metadata") == example_of_text("The topic's id")
    checkpoint.write_meta(disk, "/meta", MetaProperties(3, "qArD9s3bSpq7MlSSn-7HYA"))
    assert disk.read_file("/meta") == example_of_text("Whose directory it is") + b"\n"
    checkpoint.write_clean_shutdown(disk, "/clean")
    assert disk.read_file("/clean") == example_of_text("A clean stop")
