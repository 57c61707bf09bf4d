from __future__ import annotations

from random import Random

import pytest

from odradek.log import checkpoint
from odradek.log.checkpoint import EpochStart, ForeignDirectory, MetaProperties
from odradek.model.errors import StorageError
from odradek.model.ids import Partition, TopicId
from odradek.testing.sim_disk import SimDisk

TOPIC_ID = TopicId(bytes(range(16)))


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(Random(0))


def test_offsets_come_back_as_they_were_written(disk: SimDisk) -> None:
    offsets = {Partition("orders", 0): 17, Partition("my-topic.v1_x", 12): 0}
    checkpoint.write_offsets(disk, "/offsets", offsets)
    assert disk.read_file("/offsets") == b"0\n2\norders 0 17\nmy-topic.v1_x 12 0\n"
    assert checkpoint.read_offsets(disk, "/offsets") == offsets


def test_no_offsets_are_a_file_too(disk: SimDisk) -> None:
    checkpoint.write_offsets(disk, "/offsets", {})
    assert disk.read_file("/offsets") == b"0\n0\n"
    assert checkpoint.read_offsets(disk, "/offsets") == {}


def test_epochs_come_back_oldest_first(disk: SimDisk) -> None:
    checkpoint.write_epochs(disk, "/epochs", [EpochStart(0, 0), EpochStart(3, 120)])
    assert disk.read_file("/epochs") == b"0\n2\n0 0\n3 120\n"
    disk.replace_file("/epochs", b"0\n2\n3 120\n0 0\n")
    assert checkpoint.read_epochs(disk, "/epochs") == [EpochStart(0, 0), EpochStart(3, 120)]


def test_a_file_that_is_not_there_or_empty_holds_nothing(disk: SimDisk) -> None:
    disk.replace_file("/empty", b"")
    assert checkpoint.read_offsets(disk, "/empty") == {}
    assert checkpoint.read_offsets(disk, "/none") == {}
    assert checkpoint.read_epochs(disk, "/none") == []
    assert checkpoint.read_partition_metadata(disk, "/none") is None
    assert checkpoint.read_meta(disk, "/none") is None
    assert checkpoint.read_clean_shutdown(disk, "/none") is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"\n", "line 1: version 0 expected"),
        (b"1\n0\n", "line 1: version 0 expected"),
        (b"0", "line 2: number expected, found ''"),
        (b"0\nmany\n", "line 2: number expected, found 'many'"),
        (b"0\n2\na 0 1\n", "line 2: 2 entries promised, 1 there"),
        (b"0\n1\na 0 1\nb 0 1\n", "line 2: 1 entries promised, 2 there"),
        (b"0\n2\na 0 1\nb 0\n", "line 4: 3 words expected, found 'b 0'"),
        (b"0\n2\na 0 1\nb 0 1x\n", "line 4: number expected, found '1x'"),
        (b"0\n1\n\xff 0 1\n", "no text at byte 4"),
    ],
)
def test_a_malformed_file_is_told_by_name_and_line(disk: SimDisk, text: bytes, complaint: str) -> None:
    disk.replace_file("/offsets", text)
    with pytest.raises(StorageError) as raised:
        checkpoint.read_offsets(disk, "/offsets")
    assert str(raised.value) == f"/offsets: {complaint}"


def test_a_partition_says_which_topic_it_belongs_to(disk: SimDisk) -> None:
    checkpoint.write_partition_metadata(disk, "/partition.metadata", TOPIC_ID)
    assert disk.read_file("/partition.metadata") == b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"
    assert checkpoint.read_partition_metadata(disk, "/partition.metadata") == TOPIC_ID


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"version: 1\ntopic_id: AAECAwQFBgcICQoLDA0ODw", "line 1: 'version: 0' expected"),
        (b"version: 0", "line 2: "),
        (b"version: 0\ntopic_id: AAEC", "line 2: 'AAEC' stands for 3 bytes"),
        (b"version: 0\nnonsense", "line 2: ':' expected"),
    ],
)
def test_malformed_partition_metadata_is_told_by_line(disk: SimDisk, text: bytes, complaint: str) -> None:
    disk.replace_file("/partition.metadata", text)
    with pytest.raises(StorageError, match=f"^/partition.metadata: {complaint}"):
        checkpoint.read_partition_metadata(disk, "/partition.metadata")


def test_a_directory_says_whose_it_is(disk: SimDisk) -> None:
    meta = MetaProperties(broker_id=3, cluster_id="qArD9s3bSpq7MlSSn-7HYA")
    checkpoint.write_meta(disk, "/meta.properties", meta)
    assert (
        disk.read_file("/meta.properties")
        == b"#\nbroker.id=3\nversion=0\ncluster.id=qArD9s3bSpq7MlSSn-7HYA\n"
    )
    assert checkpoint.read_meta(disk, "/meta.properties") == meta


def test_meta_properties_are_read_as_java_writes_them(disk: SimDisk) -> None:
    disk.replace_file(
        "/meta.properties",
        b"#\n#Wed Nov 18 10:00:00 UTC 2026\n\ncluster.id = a\\=b\\:c\n! or so\nversion=0\n",
    )
    assert checkpoint.read_meta(disk, "/meta.properties") == MetaProperties(None, "a=b:c")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"#\nversion=2\n", "line 2: version '2' is unknown"),
        (b"#\n\nversion=0\nbroker.id=one\n", "line 4: number expected, found 'one'"),
        (b"broker.id\n", "line 1: '=' expected in 'broker.id'"),
    ],
)
def test_other_meta_properties_are_refused_with_a_reason(disk: SimDisk, text: bytes, complaint: str) -> None:
    disk.replace_file("/meta.properties", text)
    with pytest.raises(StorageError, match=f"^/meta.properties: {complaint}"):
        checkpoint.read_meta(disk, "/meta.properties")


def test_a_directory_of_a_kraft_broker_is_refused(disk: SimDisk) -> None:
    disk.replace_file("/meta.properties", b"version=1\nnode.id=1\ndirectory.id=x\n")
    with pytest.raises(ForeignDirectory, match=r"^/meta.properties: version 1 is a KRaft broker's"):
        checkpoint.read_meta(disk, "/meta.properties")


def test_a_clean_stop_is_noted_with_the_broker_epoch(disk: SimDisk) -> None:
    checkpoint.write_clean_shutdown(disk, "/clean")
    assert disk.read_file("/clean") == b'{"version":0,"brokerEpoch":-1}'
    checkpoint.write_clean_shutdown(disk, "/clean", 42)
    assert checkpoint.read_clean_shutdown(disk, "/clean") == 42


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"version":0}', b'{"brokerEpoch":"x"}', b"\xff"])
def test_a_clean_stop_without_a_broker_epoch_is_one_too(disk: SimDisk, text: bytes) -> None:
    disk.replace_file("/clean", text)
    assert checkpoint.read_clean_shutdown(disk, "/clean") == checkpoint.NO_BROKER_EPOCH


def test_a_crash_leaves_the_old_file_or_the_new_one() -> None:
    old, new = {Partition("a", 0): 1}, {Partition("a", 0): 2, Partition("b", 0): 7}
    for seed in range(50):
        disk = SimDisk(Random(seed))
        checkpoint.write_offsets(disk, "/offsets", old)
        disk.error_rate = 0.2
        try:
            checkpoint.write_offsets(disk, "/offsets", new)
            expected = [new]
        except StorageError:
            expected = [old, new]
        disk.error_rate = 0.0
        disk.crash()
        assert checkpoint.read_offsets(disk, "/offsets") in expected
