"""Kafka's own classes read the batches we write, and still write the vectors we were tested with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.wire.compression import Codec
from odradek.wire.markers import Marker, MarkerType, build_marker
from odradek.wire.records import BatchBuilder, Producer, Record, read_records, retain

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]

GOLDEN = Path(__file__).parents[1] / "golden" / "batches"
TIME = 1_700_000_000_000
LEVELS: dict[Codec, list[int | None]] = {
    Codec.NONE: [None],
    Codec.GZIP: [None, 1, 9],
    Codec.SNAPPY: [None],
    Codec.LZ4: [None, 1, 17],
    Codec.ZSTD: [None, -5, 19],
}


def test_the_vectors_are_what_kafka_writes(run_java: Callable[..., str]) -> None:
    assert (
        run_java(GOLDEN / "Batches.java").splitlines() == (GOLDEN / "batches.jsonl").read_text().splitlines()
    )


def test_kafka_reads_our_batches_as_we_do(run_java: Callable[..., str]) -> None:
    ours = batches()
    said = run_java(GOLDEN / "Batches.java", "read", stdin="\n".join(batch.hex() for batch in ours))
    theirs = [json.loads(line)["records"] for line in said.splitlines()]
    assert theirs == [[in_json(record) for record in read_records(batch)] for batch in ours]
    assert all(theirs[:-1])


def batches() -> list[bytearray]:
    """One batch of every kind we can write."""
    small = [a_batch(codec, level=level) for codec, levels in LEVELS.items() for level in levels]
    large = [a_batch(codec, count=2000) for codec in Codec]
    return [
        *small,
        *large,
        *(retain(batch, [index % 3 == 0 for index in range(6)]) for batch in small),
        *(retain(batch, [index % 3 == 0 for index in range(6)], delete_horizon_ms=TIME) for batch in small),
        a_batch(Codec.LZ4, producer=Producer(7, 1, 2), transactional=True),
        a_batch(Codec.ZSTD, log_append_time_ms=TIME + 50),
        build_marker(Marker(MarkerType.COMMIT, 3), 7, 1, TIME, base_offset=5),
        build_marker(Marker(MarkerType.ABORT, 3), 7, 1, TIME, base_offset=5, leader_epoch=2),
        retain(small[0], [False] * 6),
    ]


def a_batch(codec: Codec, count: int = 6, **how: int | bool | Producer | None) -> bytearray:
    builder = BatchBuilder(codec=codec, base_offset=1000, **how)  # type: ignore[arg-type]
    for number in range(count):
        key = None if number % 3 == 1 else b"key-%d" % number
        value = None if number % 4 == 3 else b"value %d, " % number * (number % 20)
        headers = [("header", b"%d" % number), ("schlüssel", None), ("", b"")][: number % 4]
        builder.append(TIME + number * 1000 - number**2, key, value, headers)
    return builder.build()


def in_json(record: Record) -> list[object]:
    headers = [[in_hex(name.encode()), in_hex(value)] for name, value in record.headers]
    return [record.offset, record.timestamp, in_hex(record.key), in_hex(record.value), headers]


def in_hex(content: bytes | None) -> str | None:
    """As Batches.java prints bytes."""
    if content is None:
        return None
    for size in range(1, 11):
        times, piece = len(content) // size, content[:size]
        if len(content) >= 60 and piece * times == content:
            return f"{piece.hex()}*{times}"
    return content.hex()
