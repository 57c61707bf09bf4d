"""Codecs round-trip, read what others write, and stop at their bound whatever they are given."""

from __future__ import annotations

import contextlib
import random
import struct
import subprocess
import sys
import zlib

import lz4.frame  # type: ignore[import-untyped]
import pytest
from cramjam import snappy, zstd
from hypothesis import given
from hypothesis import strategies as st

from odradek.model.errors import ErrorCode
from odradek.wire.batch import BadBatch
from odradek.wire.compression import Codec, compress, decompress

PACKING = [codec for codec in Codec if codec is not Codec.NONE]
TEXT = b"".join(b'{"order": %d, "customer": "customer-%d"}' % (n * 7919 % 1009, n) for n in range(3000))
NOISE = random.Random(1).randbytes(200_000)
ZEROS = bytes(300_000)

LEVELS = [
    *((Codec.GZIP, level) for level in (-1, 1, 9)),
    *((Codec.LZ4, level) for level in (1, 3, 9, 17)),
    *((Codec.ZSTD, level) for level in (-131072, -5, 1, 3, 22)),
]


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize(
    "data", [b"", b"x", TEXT, NOISE, ZEROS], ids=["empty", "one", "text", "noise", "zeros"]
)
def test_what_goes_in_comes_out_within_its_own_size(codec: Codec, data: bytes) -> None:
    packed = compress(codec, data)
    assert decompress(codec, packed) == data
    assert decompress(codec, memoryview(bytearray(packed)), size_max=len(data)) == data


@pytest.mark.parametrize("codec", Codec)
@given(data=st.binary(max_size=300))
def test_any_bytes_round_trip(codec: Codec, data: bytes) -> None:
    assert decompress(codec, compress(codec, bytearray(data))) == data


@pytest.mark.parametrize(("codec", "level"), LEVELS)
def test_every_level_of_kafka_is_taken(codec: Codec, level: int) -> None:
    assert decompress(codec, compress(codec, TEXT[:20_000], level)) == TEXT[:20_000]


def test_levels_matter() -> None:
    for codec, low, high in ((Codec.GZIP, 1, 9), (Codec.LZ4, 9, 12), (Codec.ZSTD, 1, 19)):
        assert len(compress(codec, TEXT, high)) < len(compress(codec, TEXT, low))


def test_snappy_is_framed_as_java_frames_it() -> None:
    packed = compress(Codec.SNAPPY, ZEROS)
    assert packed[:16] == b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    first = snappy.decompress_raw(packed[20 : 20 + struct.unpack_from(">i", packed, 16)[0]])
    assert len(first) == 32 * 1024


def test_lz4_blocks_are_independent_and_say_no_size() -> None:
    flags = compress(Codec.LZ4, TEXT)[4]
    assert flags & 0x20
    assert not flags & 0x08


@pytest.mark.parametrize(
    ("codec", "packed"),
    [
        (Codec.SNAPPY, bytes(snappy.compress_raw(TEXT))),  # librdkafka's, without a frame
        (Codec.LZ4, lz4.frame.compress(TEXT, block_linked=True, content_checksum=True)),
        (Codec.ZSTD, bytes(zstd.compress(TEXT[:5000])) + bytes(zstd.compress(TEXT[5000:]))),
    ],
)
def test_what_other_clients_write_is_read(codec: Codec, packed: bytes) -> None:
    assert decompress(codec, packed) == TEXT


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("data", [TEXT, NOISE, ZEROS], ids=["text", "noise", "zeros"])
def test_one_byte_over_the_bound_is_refused(codec: Codec, data: bytes) -> None:
    refused(codec, compress(codec, data), size_max=len(data) - 1)


@pytest.mark.parametrize("codec", PACKING)
@pytest.mark.parametrize("data", [b"x", TEXT], ids=["one", "text"])
def test_every_cut_is_refused(codec: Codec, data: bytes) -> None:
    packed = compress(codec, data)
    for size in {*range(min(len(packed), 40)), *range(0, len(packed), 997), len(packed) - 1} - {16}:
        refused(codec, packed[:size])


@pytest.mark.parametrize("codec", PACKING)
def test_what_follows_is_refused(codec: Codec) -> None:
    refused(codec, compress(codec, TEXT) + b"and more")


@pytest.mark.parametrize("codec", PACKING)
@given(data=st.binary(max_size=100))
def test_garbage_ends_in_an_error_or_in_bytes_within_the_bound(codec: Codec, data: bytes) -> None:
    with contextlib.suppress(BadBatch):
        assert len(decompress(codec, data, size_max=50)) <= 50


@pytest.mark.parametrize("codec", PACKING)
@given(at=st.integers(0, 10_000), flips=st.integers(1, 255))
def test_a_damaged_byte_ends_in_an_error_or_in_bytes_within_the_bound(
    codec: Codec, at: int, flips: int
) -> None:
    packed = bytearray(compress(codec, TEXT[:2000]))
    packed[at % len(packed)] ^= flips
    with contextlib.suppress(BadBatch):
        assert len(decompress(codec, packed, size_max=4000)) <= 4000


def a_bomb(codec: Codec) -> bytes:
    """Little that becomes 64 MiB."""
    size = 64 << 20
    if codec is Codec.GZIP:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()
    return compress(codec, bytes(size))


GROWTH = """
import re, sys
from pathlib import Path
from odradek.wire.compression import *
def most_held():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
codec, bound, packed = Codec(int(sys.argv[1])), int(sys.argv[2]), sys.stdin.buffer.read()
before = most_held()
try:
    decompress(codec, packed, bound)
except BadBatch:
    print(most_held() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("codec", PACKING)
def test_64_mebibytes_in_a_bomb_cost_little_more_than_the_bound(codec: Codec) -> None:
    """Measured by the kernel in a process of its own, because the codecs allocate behind Python's back."""
    bound = 8 << 20
    command = [sys.executable, "-c", GROWTH, str(int(codec)), str(bound)]
    ran = subprocess.run(command, input=a_bomb(codec), capture_output=True, check=True)
    assert int(ran.stdout) < 3 * bound  # a grown buffer and its copy


def test_a_claim_beyond_the_bound_is_refused_unseen() -> None:
    """Six bytes of snappy that say they are 256 MiB, alone and in a frame."""
    claim = b"\xff\xff\xff\x7f\x00\x00"
    framed = compress(Codec.SNAPPY, b"") + struct.pack(">i", len(claim)) + claim
    for packed in (claim, framed):
        with pytest.raises(BadBatch, match="expands beyond"):
            decompress(Codec.SNAPPY, packed, 255 << 20)


def refused(codec: Codec, packed: bytes, size_max: int = 10 << 20) -> None:
    with pytest.raises(BadBatch) as refusal:
        decompress(codec, packed, size_max)
    assert refusal.value.error is ErrorCode.CORRUPT_MESSAGE
    assert codec.name.lower() in refusal.value.detail
