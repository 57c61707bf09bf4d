"""How fast are records walked, read and built, pure and compiled, and how fast are batches (de)compressed?"""

from __future__ import annotations

import json
from collections import deque
from types import ModuleType

from _report import best_of, report
from odradek.testing.kernels import compiled_kernel, pure_kernel, walking_with
from odradek.wire.batch import HEADER_SIZE
from odradek.wire.compression import Codec, compress, decompress
from odradek.wire.records import BatchBuilder, check_records, read_keys, read_records, retain

COUNT = 10_000
VALUE = bytes(100)
ROUNDS = 7


def build() -> bytearray:
    builder = BatchBuilder()
    for number in range(COUNT):
        builder.append(1_700_000_000_000 + number, b"key-%d" % number, VALUE)
    return builder.build()


def rates(kernel: ModuleType) -> list[float]:
    """Million records a second of each kind of work."""
    batch = build()
    payload = bytes(batch[HEADER_SIZE:])
    every_other = bytes(number & 1 for number in range(COUNT))
    work = [
        lambda: check_records(batch),
        lambda: deque(read_keys(batch), 0),
        lambda: deque(kernel.rows(kernel.Cursor(payload, COUNT, COUNT - 1), 0, 0, False), 0),
        lambda: deque(read_records(batch), 0),
        lambda: retain(batch, every_other),
        build,
    ]
    with walking_with(kernel):
        return [COUNT / best_of(ROUNDS, each) / 1e6 for each in work]


def walking() -> None:
    names = ("check", "read keys", "read rows", "read records", "retain half", "build")
    compiled = compiled_kernel()
    pure, fast = rates(pure_kernel()), rates(compiled) if compiled else None
    rows = [(name, pure[n], fast[n] if fast else "-") for n, name in enumerate(names)]
    report("records of 100 bytes, million a second", ("work", "pure", "compiled"), rows)


def compressing() -> None:
    builder = BatchBuilder()
    for number in range(COUNT):
        order = {"order": number * 7919 % 100_003, "customer": f"number-{number % 977}", "amount": number / 7}
        builder.append(1_700_000_000_000 + number, b"%d" % number, json.dumps(order).encode())
    plain = bytes(builder.build()[HEADER_SIZE:])
    rows = [codec_row(codec, plain) for codec in Codec if codec != Codec.NONE]
    report("codecs on JSON records, MB a second", ("codec", "ratio", "compress", "decompress"), rows)


def codec_row(codec: Codec, plain: bytes) -> tuple[str, float, float, float]:
    packed = compress(codec, plain)
    packing = best_of(ROUNDS, lambda: compress(codec, plain))
    unpacking = best_of(ROUNDS, lambda: decompress(codec, packed))
    size = len(plain) / 1e6
    return codec.name.lower(), len(plain) / len(packed), size / packing, size / unpacking


if __name__ == "__main__":
    walking()
    compressing()
