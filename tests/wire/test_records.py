"""Records as Kafka's Java classes wrote them, as we write them, and as nobody should: pure and compiled."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odradek.model.errors import ErrorCode
from odradek.testing.kernels import compiled_is_stale, compiled_kernel, pure_kernel
from odradek.wire.batch import (
    CONTROL,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BadBatch,
    BatchHeader,
    check_checksum,
    read_header,
    sealed,
    split,
)
from odradek.wire.compression import Codec
from odradek.wire.records import (
    BatchBuilder,
    Producer,
    Record,
    check_records,
    read_keys,
    read_records,
    record_size_max,
    retain,
)

TIME = 1_700_000_000_000
GOLDEN = Path(__file__).parents[1] / "golden" / "batches" / "batches.jsonl"


class Vector(NamedTuple):
    """A batch that Kafka's Java classes wrote, and what they read in it."""

    batch: bytes
    header: dict[str, int | str | bool | None]
    records: list[Record]


def vectors() -> dict[str, Vector]:
    found = {}
    for line in GOLDEN.read_text().splitlines():
        said = json.loads(line)
        records = [record(*parts) for parts in said["records"]]
        found[said["name"]] = Vector(plain(said["batch"]), said["header"], records)
    return found


def record(
    offset: int, timestamp: int, key: str | None, value: str | None, headers: list[tuple[str, str | None]]
) -> Record:
    named = tuple((plain(name).decode(), maybe(content)) for name, content in headers)
    return Record(offset, timestamp, maybe(key), maybe(value), named)


def maybe(text: str | None) -> bytes | None:
    return None if text is None else plain(text)


def plain(text: str) -> bytes:
    """Bytes in hexadecimal, or `piece*times`."""
    piece, _, times = text.partition("*")
    return bytes.fromhex(piece) * int(times or 1)


VECTORS = vectors()


def said_by(header: BatchHeader) -> dict[str, int | str | bool | None]:
    """A header in the words of the vectors."""
    return {
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "leader_epoch": header.leader_epoch,
        "codec": Codec(header.attributes & 7).name.lower(),
        "log_append_time": bool(header.attributes & LOG_APPEND_TIME),
        "transactional": bool(header.attributes & TRANSACTIONAL),
        "control": bool(header.attributes & CONTROL),
        "delete_horizon_ms": header.delete_horizon_ms,
        "max_timestamp": header.max_timestamp,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "record_count": header.record_count,
    }


# -- what Kafka wrote --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VECTORS)
def test_a_batch_of_kafka_is_read_as_kafka_reads_it(kernel: ModuleType, name: str) -> None:
    vector = VECTORS[name]
    [(_, header)] = split(vector.batch)
    check_checksum(vector.batch, header)
    assert said_by(header) == vector.header
    assert list(read_records(vector.batch)) == vector.records
    assert list(read_keys(vector.batch)) == [(r.offset, r.key, r.value is not None) for r in vector.records]


@pytest.mark.parametrize("name", [name for name in VECTORS if "compacted" not in name])
def test_a_batch_of_kafka_passes_the_check(kernel: ModuleType, name: str) -> None:
    if name in ("delete horizon", "emptied"):
        with pytest.raises(BadBatch, match="records on 9 offsets"):
            check_records(VECTORS[name].batch)
    else:
        keyless = check_records(VECTORS[name].batch)
        assert keyless == [index for index, r in enumerate(VECTORS[name].records) if r.key is None]


@pytest.mark.parametrize("name", ["none", "idempotent", "transactional", "commit", "abort"])
def test_we_write_the_bytes_that_kafka_writes(kernel: ModuleType, name: str) -> None:
    vector = VECTORS[name]
    header = read_header(vector.batch)
    builder = BatchBuilder(
        base_offset=header.base_offset,
        producer=Producer(header.producer_id, header.producer_epoch, header.base_sequence),
        transactional=bool(header.attributes & TRANSACTIONAL),
        control=bool(header.attributes & CONTROL),
        leader_epoch=header.leader_epoch,
    )
    for record in vector.records:
        builder.append(record.timestamp, record.key, record.value, record.headers)
    assert builder.size == len(vector.batch)
    assert builder.build() == vector.batch


@pytest.mark.parametrize(
    ("original", "compacted", "horizon"),
    [
        ("transactional", "compacted", None),
        ("gzip", "compacted gzip", None),
        ("none", "delete horizon", TIME + 1000),
        ("transactional", "emptied", None),
    ],
)
def test_we_retain_what_kafka_retains(
    kernel: ModuleType, original: str, compacted: str, horizon: int | None
) -> None:
    left = {record.offset for record in VECTORS[compacted].records}
    kept = [record.offset in left for record in VECTORS[original].records]
    batch = retain(VECTORS[original].batch, kept, delete_horizon_ms=horizon)
    header = read_header(batch)
    check_checksum(batch, header)
    assert said_by(header) == VECTORS[compacted].header
    assert list(read_records(batch)) == VECTORS[compacted].records
    if not left:
        assert batch == VECTORS[compacted].batch


# -- what we write -----------------------------------------------------------------------------------------

TIMES = st.integers(-(1 << 62), (1 << 62) - 1)  # no two of them are further apart than an int64 tells
BYTES = st.none() | st.binary(max_size=150)
HEADERS = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3).map(tuple)
CONTENTS = st.lists(st.tuples(st.integers(1, 300), TIMES, BYTES, BYTES, HEADERS), min_size=1, max_size=8)
Contents: TypeAlias = list[tuple[int, int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]]
each_kernel = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("codec", Codec)
@each_kernel
@given(contents=CONTENTS, base_offset=st.integers(0, 1 << 62))
def test_what_is_built_is_read(
    kernel: ModuleType, codec: Codec, contents: Contents, base_offset: int
) -> None:
    builder = BatchBuilder(codec=codec, base_offset=base_offset)
    records, offset = [], base_offset - 1
    for gap, timestamp, key, value, headers in contents:
        offset += gap
        room = builder.size + record_size_max(key, value, headers)
        builder.append(timestamp, key, value, headers, offset=offset)
        assert builder.size <= room
        records.append(Record(offset, timestamp, key, value, headers))
    batch = builder.build()
    buffer = b"before" + batch + b"behind"
    assert list(read_records(buffer, 6)) == records
    assert read_header(batch).max_timestamp == max(r.timestamp for r in records)
    check_checksum(batch, read_header(batch))


def a_batch(count: int = 4, codec: Codec = Codec.NONE, **how: int | bool) -> bytearray:
    builder = BatchBuilder(codec=codec, **how)  # type: ignore[arg-type]
    for number in range(count):
        builder.append(TIME + number, b"key-%d" % number, b"value", [("header", b"h")] * (number % 3))
    return builder.build()


def test_log_append_time_is_the_time_of_all(kernel: ModuleType) -> None:
    batch = a_batch(log_append_time_ms=TIME + 99)
    assert {record.timestamp for record in read_records(batch)} == {TIME + 99}
    kept = retain(batch, [False, True, False, True])
    assert {record.timestamp for record in read_records(kept)} == {TIME + 99}


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("seed", range(10))
def test_retained_records_are_untouched(kernel: ModuleType, codec: Codec, seed: int) -> None:
    rng = random.Random(seed)
    batch = a_batch(9, codec, base_offset=50)
    kept = [rng.random() < 0.5 for _ in range(9)]
    expected = [record for record, keep in zip(read_records(batch), kept, strict=True) if keep]
    for horizon in (None, TIME - 5):
        left = retain(b"--" + batch, bytes(kept), at=2, delete_horizon_ms=horizon)
        assert list(read_records(left)) == expected
        assert read_header(left).next_offset == read_header(batch).next_offset
        assert read_header(left).delete_horizon_ms == (horizon if expected else None)
        if expected:  # a horizon, once set, stays
            again = retain(left, [True] * len(expected), delete_horizon_ms=TIME + 7)
            assert read_header(again).delete_horizon_ms == (horizon or TIME + 7)
            assert list(read_records(again)) == expected


def test_a_batch_that_keeps_everything_stays_as_it_is() -> None:
    """Not even compressed anew: Java's gzip is not ours."""
    vector = VECTORS["gzip"]
    assert retain(vector.batch, [True] * len(vector.records)) == vector.batch


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_without_records_needs_no_payload(codec: Codec) -> None:
    """Whatever codec its header names: there is no stream that could be empty."""
    header = read_header(a_batch())._replace(attributes=int(codec), record_count=0)
    assert list(read_records(sealed(header, b""))) == []


# -- what nobody should write ------------------------------------------------------------------------------


def varint(number: int) -> bytes:
    left, found = number << 1 if number >= 0 else (-number << 1) - 1, bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*found, left])


def a_record(*parts: int | bytes) -> bytes:
    """Attributes, timestamp, offset, key ... as given: numbers become varints, bytes stay."""
    body = b"\0" + b"".join(part if isinstance(part, bytes) else varint(part) for part in parts)
    return varint(len(body)) + body


def batch_of(payload: bytes, count: int = 1, last_offset_delta: int = 0, time: int = 0) -> bytearray:
    header = read_header(a_batch(1))._replace(base_timestamp=time)
    return sealed(header._replace(record_count=count, last_offset_delta=last_offset_delta), payload)


GOOD = a_record(0, 0, 1, b"k", 1, b"v", 0)
MALFORMED = {
    "nothing": (b"", "is cut off"),
    "only a size": (varint(7), "no size that fits"),
    "a negative size": (b"\x01" + GOOD, "no size that fits"),
    "a size beyond the end": (varint(100) + GOOD[1:], "no size that fits"),
    "a size too small": (varint(GOOD[0] // 2 - 1) + GOOD[1:], "bytes long, but says"),
    "a size that never ends": (b"\xff" * 20, "varint at byte"),
    "a size of 33 bits": (b"\xff\xff\xff\xff\x1f", "varint at byte"),
    "a timestamp of 65 bits": (a_record(b"\xff" * 9 + b"\x03", 0, -1, -1, 0), "varint at byte"),
    "a timestamp outside of time": (a_record((1 << 63) - 1, 0, -1, -1, 0), "outside of time"),
    "an offset behind the last": (a_record(0, 1, -1, -1, 0), "offset delta 1"),
    "an offset below the first": (a_record(0, -1, -1, -1, 0), "offset delta -1"),
    "a key beyond the end": (a_record(0, 0, 1000, b"k", 0, 0), "is cut off"),
    "a key of 2 GiB": (a_record(0, 0, (1 << 31) - 1, b"k", 0, 0), "is cut off"),
    "a value beyond the record": (a_record(0, 0, -1, 2, b"v", 0) + bytes(9), "bytes long, but says"),
    "a negative number of headers": (a_record(0, 0, -1, -1, -1), "negative number of headers"),
    "too many headers": (a_record(0, 0, -1, -1, 2, 0, -1), "1 are missing"),
    "2^31 headers": (a_record(0, 0, -1, -1, (1 << 31) - 1, 0, -1), "are missing"),
    "a header without a name": (a_record(0, 0, -1, -1, 1, -1, -1), "without a name"),
    "a header beyond the end": (a_record(0, 0, -1, -1, 1, 100, -1), "is cut off"),
    "more than announced": (GOOD + b"x", "1 bytes follow"),
    "a record too many": (GOOD + GOOD, "bytes follow"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_record_is_named(kernel: ModuleType, case: str) -> None:
    payload, reason = MALFORMED[case]
    batch = batch_of(payload, time=1)
    with pytest.raises(BadBatch, match=reason) as refusal:
        list(read_records(batch))
    assert refusal.value.error is ErrorCode.INVALID_RECORD
    if case != "a timestamp outside of time":  # a walk does not look at the time
        with pytest.raises(BadBatch, match=reason):
            check_records(batch)
    with pytest.raises(BadBatch, match=reason):
        retain(batch, [True], delete_horizon_ms=5)


def test_a_good_record_is_good(kernel: ModuleType) -> None:
    """What the malformed ones are told apart from."""
    assert list(read_records(batch_of(GOOD))) == [Record(0, 0, b"k", b"v")]


@pytest.mark.parametrize("offsets", [(0, 0), (1, 0), (0, 2)])
def test_offsets_that_do_not_follow_one_another_are_refused(
    kernel: ModuleType, offsets: tuple[int, int]
) -> None:
    payload = b"".join(a_record(0, offset, -1, -1, 0) for offset in offsets)
    with pytest.raises(BadBatch, match="record 1 of 2 has offset delta"):
        check_records(batch_of(payload, count=2, last_offset_delta=1))


@pytest.mark.parametrize(("count", "last_offset_delta"), [(0, 0), (2, 0), (1, 1), (1, -1), (-1, -2)])
def test_a_produced_batch_has_an_offset_for_every_record(
    kernel: ModuleType, count: int, last_offset_delta: int
) -> None:
    with pytest.raises(BadBatch) as refusal:
        check_records(batch_of(GOOD, count, last_offset_delta))
    assert refusal.value.error is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec_is_refused(codec: int) -> None:
    header = read_header(a_batch())
    batch = sealed(header._replace(attributes=codec), b"payload")
    with pytest.raises(BadBatch) as refusal:
        read_records(batch)
    assert refusal.value.error is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_offsets_beyond_63_bits_are_refused() -> None:
    batch = batch_of(GOOD)
    batch[:8] = ((1 << 63) - 1).to_bytes(8, "big")
    assert [record.offset for record in read_records(batch)] == [(1 << 63) - 1]
    batch[:8] = b"\xff" * 8
    with pytest.raises(BadBatch, match="impossible numbers"):
        read_records(batch)


def test_a_timestamp_before_all_time_is_refused(kernel: ModuleType) -> None:
    batch = batch_of(a_record(-2, 0, -1, -1, 0), time=1 - (1 << 63))
    with pytest.raises(BadBatch, match="outside of time"):
        list(read_records(batch))


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(BadBatch, match="impossible numbers"):
        read_records(batch_of(b"", count=-1))


def test_every_cut_of_a_batch_is_refused() -> None:
    batch = a_batch(2)
    for size in range(len(batch)):
        with pytest.raises(BadBatch):
            read_records(batch[:size])


def test_a_batch_that_expands_beyond_its_bound_is_refused() -> None:
    batch = a_batch(100, Codec.ZSTD)
    with pytest.raises(BadBatch, match="zstd"):
        check_records(batch, size_max=500)


# -- pure and compiled -------------------------------------------------------------------------------------


def test_the_compiled_kernel_is_of_this_source() -> None:
    assert not compiled_is_stale(), "kernel.py changed since it was compiled; ./check compiles it anew"


PURE, COMPILED = pure_kernel(), compiled_kernel()
needs_both = pytest.mark.skipif(COMPILED is None, reason="the kernel is not compiled here: no C compiler")


def outcome(kernel: ModuleType, payload: bytes, count: int, base_timestamp: int) -> list[object]:
    """Everything a kernel has to say about a payload."""
    said: list[object] = []
    kept = bytes(index % 2 for index in range(count))
    for walk in (
        kernel.walk,
        lambda cursor: list(kernel.rows(cursor, 5, base_timestamp, False)),
        lambda cursor: list(kernel.keys(cursor, 5)),
        lambda cursor: kernel.retained(cursor, kept, base_timestamp, 7),
    ):
        try:
            said.append(walk(kernel.Cursor(payload, count, 2 * count)))
        except BadBatch as refusal:
            said.append(str(refusal))
    return said


@needs_both
@settings(max_examples=500)
@given(
    cuts=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), st.binary(max_size=6)), max_size=3),
    base_timestamp=st.sampled_from([0, TIME, -1, (1 << 63) - 1, -(1 << 63)]),
)
def test_both_kernels_say_the_same_of_damaged_records(
    cuts: list[tuple[int, int, bytes]], base_timestamp: int
) -> None:
    payload = bytes(a_batch(5)[HEADER_SIZE:])
    for at, removed, put in cuts:
        at %= len(payload)
        payload = payload[:at] + put + payload[at + removed :]
    assert COMPILED is not None
    assert outcome(PURE, payload, 5, base_timestamp) == outcome(COMPILED, payload, 5, base_timestamp)


@needs_both
@given(payload=st.binary(max_size=40), count=st.integers(0, 3))
def test_both_kernels_say_the_same_of_garbage(payload: bytes, count: int) -> None:
    assert COMPILED is not None
    assert outcome(PURE, payload, count, 0) == outcome(COMPILED, payload, count, 0)


@given(number=st.integers(-(1 << 63), (1 << 63) - 1))
def test_both_kernels_encode_numbers_alike(number: int) -> None:
    for kernel in filter(None, (PURE, COMPILED)):
        assert kernel.encoded_varint(number) == varint(number)
