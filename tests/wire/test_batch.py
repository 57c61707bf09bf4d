"""A batch as bytes: what its header says, how buffers are cut, what a stamp leaves alone."""

from __future__ import annotations

import itertools
import random

import pytest

from odradek.model.errors import ErrorCode
from odradek.wire.batch import (
    ATTRIBUTES_AT,
    CRC_AT,
    HEADER_SIZE,
    LENGTH_AT,
    LOG_APPEND_TIME,
    MAGIC_AT,
    BadBatch,
    BatchHeader,
    batch_size,
    check_checksum,
    read_header,
    sealed,
    split,
    stamp,
    stamp_time,
)

HEADER = BatchHeader(
    base_offset=0,
    length=0,
    leader_epoch=-1,
    magic=2,
    crc=0,
    attributes=0x10,
    last_offset_delta=2,
    base_timestamp=1_000,
    max_timestamp=1_002,
    producer_id=9,
    producer_epoch=1,
    base_sequence=5,
    record_count=3,
)


def a_batch(payload: bytes = b"three records", base_offset: int = 0) -> bytearray:
    return sealed(HEADER._replace(base_offset=base_offset), payload)


def test_a_sealed_batch_has_its_length_and_checksum() -> None:
    batch = a_batch()
    header = read_header(batch)
    assert header.size == len(batch) == HEADER_SIZE + 13
    assert header.next_offset == header.last_offset + 1 == 3
    check_checksum(batch, header)
    assert header._replace(length=0, crc=0) == HEADER


def test_one_batch_is_cut_as_one() -> None:
    batch = a_batch()
    assert split(batch) == split(memoryview(batch)) == split(bytes(batch)) == [(0, read_header(batch))]


def test_an_empty_buffer_has_no_batches() -> None:
    assert split(b"") == []


@pytest.mark.parametrize("seed", range(20))
def test_any_cut_yields_the_whole_batches_before_it(seed: int) -> None:
    rng = random.Random(seed)
    batches = [
        a_batch(rng.randbytes(rng.randrange(40)), base_offset=3 * n) for n in range(rng.randrange(1, 6))
    ]
    buffer, ends = b"".join(batches), [0]
    for batch in batches:
        ends.append(ends[-1] + len(batch))
    for cut in range(len(buffer) + 1):
        found = split(buffer[:cut])
        assert [at for at, _ in found] == [at for at, end in itertools.pairwise(ends) if end <= cut]
        assert [header.base_offset for _, header in found] == [3 * n for n in range(len(found))]


@pytest.mark.parametrize("size", [-1, 0, 11, 12, HEADER_SIZE - 1, -(1 << 31) + 12])
@pytest.mark.parametrize("front", [b"", a_batch()], ids=["first", "second"])
def test_a_length_that_cannot_be_is_corrupt(size: int, front: bytes) -> None:
    batch = a_batch()
    batch[LENGTH_AT : LENGTH_AT + 4] = (size - 12).to_bytes(4, "big", signed=True)
    with pytest.raises(BadBatch) as refusal:
        split(front + batch)
    assert refusal.value.error is ErrorCode.CORRUPT_MESSAGE
    assert f"at byte {len(front)}" in refusal.value.detail


@pytest.mark.parametrize(
    ("magic", "error"),
    [
        (0, ErrorCode.INVALID_RECORD),
        (1, ErrorCode.INVALID_RECORD),
        (3, ErrorCode.CORRUPT_MESSAGE),
        (255, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_another_magic_is_refused(magic: int, error: ErrorCode) -> None:
    batch = a_batch()
    batch[MAGIC_AT] = magic
    with pytest.raises(BadBatch, match=f"magic {magic}") as refusal:
        split(batch)
    assert refusal.value.error is error


def test_a_batch_tells_its_size_by_its_first_17_bytes() -> None:
    batch = a_batch()
    assert batch_size(batch[:17]) == len(batch)


def test_every_flipped_bit_behind_the_checksum_is_found() -> None:
    batch = a_batch()
    header = read_header(batch)
    for bit in range(8 * ATTRIBUTES_AT, 8 * len(batch)):
        batch[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BadBatch) as refusal:
            check_checksum(batch, header)
        assert refusal.value.error is ErrorCode.CORRUPT_MESSAGE
        batch[bit // 8] ^= 1 << bit % 8
    check_checksum(batch, header)


def test_a_stamp_changes_offset_and_epoch_and_no_checksum() -> None:
    buffer = b"before" + a_batch() + b"behind"
    stamped = bytearray(buffer)
    stamp(stamped, 1 << 40, 12, at=6)
    header = read_header(stamped, 6)
    assert header == read_header(buffer, 6)._replace(base_offset=1 << 40, leader_epoch=12)
    check_checksum(stamped, header, at=6)
    assert stamped[6 + CRC_AT :] == buffer[6 + CRC_AT :]


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_stamped_time_is_sealed_again(before: bool, after: bool) -> None:
    attributes = HEADER.attributes | (LOG_APPEND_TIME if before else 0)
    batch = b"before" + sealed(HEADER._replace(attributes=attributes), b"payload")
    stamped = bytearray(batch)
    stamp_time(memoryview(stamped), 5_000, log_append_time=after, at=6)
    header = read_header(stamped, 6)
    check_checksum(stamped, header, at=6)
    expected = HEADER.attributes | (LOG_APPEND_TIME if after else 0)
    assert header._replace(crc=0, length=0) == HEADER._replace(attributes=expected, max_timestamp=5_000)
    assert stamped[6 + HEADER_SIZE :] == b"payload"
