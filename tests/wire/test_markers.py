"""Transaction markers: as Kafka writes them (tests/wire/test_records.py has its bytes), and broken ones."""

from __future__ import annotations

import pytest

from odradek.model.errors import ErrorCode
from odradek.wire.batch import CONTROL, TRANSACTIONAL, BadBatch, check_checksum, read_header
from odradek.wire.markers import Marker, MarkerType, build_marker, decode_marker, read_marker
from odradek.wire.records import BatchBuilder

COMMIT = Marker(MarkerType.COMMIT, 23)


@pytest.mark.parametrize("marker", [COMMIT, Marker(MarkerType.ABORT, 0), Marker(MarkerType.COMMIT, -1)])
def test_a_marker_is_a_control_batch_of_its_producer(marker: Marker) -> None:
    batch = build_marker(marker, 4000, 3, 1_700_000_000_000, base_offset=9, leader_epoch=7)
    header = read_header(batch)
    check_checksum(batch, header)
    assert read_marker(b"--" + batch, 2) == marker
    assert header.attributes == CONTROL | TRANSACTIONAL
    assert (header.base_offset, header.leader_epoch, header.record_count) == (9, 7, 1)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (4000, 3, -1)
    assert header.base_timestamp == header.max_timestamp == 1_700_000_000_000


def test_a_newer_version_only_adds_behind() -> None:
    assert decode_marker(b"\0\1\0\1more", b"\0\1\0\0\0\x17more") == COMMIT


@pytest.mark.parametrize("kind", [2, 3, 5, -1])
def test_another_control_record_is_no_marker(kind: int) -> None:
    assert decode_marker(b"\0\0" + kind.to_bytes(2, "big", signed=True), None) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"\0\0\0\0\0\1"),
        (b"\0\0\0", b"\0\0\0\0\0\1"),
        (b"\0\0\0\1", None),
        (b"\0\0\0\1", b"\0\0\0\0\0"),
        (b"\0\0\0\1", b"\xff\xff\0\0\0\1"),
        (b"\xff\xff\0\1", b"\0\0\0\0\0\1"),
    ],
)
def test_a_broken_marker_is_refused(key: bytes | None, value: bytes | None) -> None:
    builder = BatchBuilder(control=True, transactional=True)
    builder.append(0, key, value)
    with pytest.raises(BadBatch) as refusal:
        read_marker(builder.build())
    assert refusal.value.error is ErrorCode.CORRUPT_MESSAGE
