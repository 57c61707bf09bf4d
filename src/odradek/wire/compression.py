"""Kafka's codecs behind one table, each with a bound on what it may expand to.

No codec is trusted about sizes: what a batch claims is checked before it is allocated, and what it expands
to is produced into buffers that grow no further than the bound.
"""

from __future__ import annotations

from enum import IntEnum

from odradek.wire.batch import Buffer

DECOMPRESSED_SIZE_MAX = 256 * 1024 * 1024  # of one batch


class Codec(IntEnum):
    """A batch's codec as its attributes number it, and as `compression.type` names it (in lower case)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Codec, data: Buffer, level: int | None = None) -> bytes:
    """`level` is the one of `compression.<codec>.level`; codecs without levels ignore it."""
    raise NotImplementedError


def decompress(codec: Codec, data: Buffer, size_max: int = DECOMPRESSED_SIZE_MAX) -> bytes:
    """The plain bytes, or BadBatch when they would be more than `size_max`, or are none."""
    raise NotImplementedError
