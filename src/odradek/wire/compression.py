"""Kafka's codecs behind one table, each with a bound on what it may expand to.

No size that the data claims is believed: output grows with what was really produced, in steps, and stops at
the bound. So a few kilobytes that pretend to be, or really are, gigabytes end in an error.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from enum import IntEnum
from typing import TypeAlias

import lz4.frame  # type: ignore[import-untyped]
from cramjam import DecompressionError, snappy, zstd

from odradek.model.errors import ErrorCode
from odradek.wire.batch import BadBatch, Buffer

DECOMPRESSED_SIZE_MAX = 256 * 1024 * 1024  # of one batch


class Codec(IntEnum):
    """A batch's codec as its attributes number it, and as `compression.type` names it (in lower case)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class TooLarge(ValueError):
    """More came out than the bound allows."""


def compress(codec: Codec, data: Buffer, level: int | None = None) -> bytes:
    """`level` is the topic's `compression.<codec>.level`; codecs without levels ignore it."""
    return _COMPRESS[codec](data, level)


def decompress(codec: Codec, data: Buffer, size_max: int = DECOMPRESSED_SIZE_MAX) -> bytes:
    """The plain bytes; BadBatch if these are not the codec's, or would be more than `size_max`."""
    try:
        return _DECOMPRESS[codec](data, size_max)
    except TooLarge as refusal:
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, f"{codec.name.lower()} {refusal}") from None
    except _REFUSALS as refusal:
        detail = f"{codec.name.lower()} does not decompress into {size_max} bytes: {refusal}"
        raise BadBatch(ErrorCode.CORRUPT_MESSAGE, detail) from None


_REFUSALS = (DecompressionError, zlib.error, RuntimeError, EOFError, struct.error)


# -- none --------------------------------------------------------------------------------------------------


def _no_compress(data: Buffer, _level: int | None) -> bytes:
    return bytes(data)


def _no_decompress(data: Buffer, size_max: int) -> bytes:
    if len(data) > size_max:
        raise TooLarge(f"has {len(data)} bytes, {size_max} at most")
    return bytes(data)


# -- gzip: by zlib itself, whose streams stop at a size ----------------------------------------------------

_GZIP_WRAPPER = 16 + zlib.MAX_WBITS


def _gzip_compress(data: Buffer, level: int | None) -> bytes:
    return zlib.compress(data, -1 if level is None else level, _GZIP_WRAPPER)


def _gzip_decompress(data: Buffer, size_max: int) -> bytes:
    stream = zlib.decompressobj(_GZIP_WRAPPER)
    plain = stream.decompress(data, size_max + 1)
    return _whole(plain, size_max, ended=stream.eof, rest=stream.unused_data)


# -- snappy: xerial's framing around raw blocks, which is what Kafka writes --------------------------------

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)  # its version, and the oldest that can read it
_XERIAL_BLOCK_SIZE = 32 * 1024
_BLOCK_SIZE = struct.Struct(">i")


def _snappy_compress(data: Buffer, _level: int | None) -> bytes:
    view = memoryview(data)
    parts: list[Buffer] = [_XERIAL_HEADER]
    for at in range(0, len(view), _XERIAL_BLOCK_SIZE):
        block = memoryview(snappy.compress_raw(view[at : at + _XERIAL_BLOCK_SIZE]))
        parts += (_BLOCK_SIZE.pack(len(block)), block)
    return b"".join(parts)


def _snappy_decompress(data: Buffer, size_max: int) -> bytes:
    view = memoryview(data)
    if view[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _snappy_block(view, size_max, size_max)
    if len(view) < len(_XERIAL_HEADER):
        raise EOFError("it is cut off")
    blocks: list[bytes] = []
    at, room = len(_XERIAL_HEADER), size_max
    while at < len(view):
        (size,) = _BLOCK_SIZE.unpack_from(view, at)
        at += _BLOCK_SIZE.size
        if not 0 < size <= len(view) - at:
            raise EOFError(f"a block of {size} bytes, {len(view) - at} are left")
        blocks.append(_snappy_block(view[at : at + size], room, size_max))
        room -= len(blocks[-1])
        at += size
    return b"".join(blocks)


def _snappy_block(block: memoryview, room: int, size_max: int) -> bytes:
    claimed = snappy.decompress_raw_len(block)
    if claimed > room:
        raise TooLarge(f"expands beyond {size_max} bytes")
    return bytes(memoryview(snappy.decompress_raw(block)))


# -- lz4: the frame format ---------------------------------------------------------------------------------

_LZ4_DEFAULT_LEVEL = 9  # Kafka's default, which it takes to mean its fast compressor
_LZ4_FAST = 0
_LZ4_HIGH_LEVELS = range(3, 17)  # what liblz4 knows


def _lz4_compress(data: Buffer, level: int | None) -> bytes:
    """Blocks are independent and without a content size, because Java clients read nothing else."""
    if level is None or level == _LZ4_DEFAULT_LEVEL:
        level = _LZ4_FAST
    else:
        level = min(max(level, _LZ4_HIGH_LEVELS[0]), _LZ4_HIGH_LEVELS[-1])
    return bytes(lz4.frame.compress(data, compression_level=level, block_linked=False, store_size=False))


def _lz4_decompress(data: Buffer, size_max: int) -> bytes:
    frame = lz4.frame.LZ4FrameDecompressor()
    plain: bytes = frame.decompress(data, size_max + 1)
    return _whole(plain, size_max, ended=frame.eof, rest=frame.unused_data)


# -- zstd --------------------------------------------------------------------------------------------------

_ZSTD_DEFAULT_LEVEL = 3
_ZSTD_FIRST_GUESS = 64 * 1024
_ZSTD_GROWTH = 8


def _zstd_compress(data: Buffer, level: int | None) -> bytes:
    return bytes(memoryview(zstd.compress(data, _ZSTD_DEFAULT_LEVEL if level is None else level)))


def _zstd_decompress(data: Buffer, size_max: int) -> bytes:
    """Java's streams do not say how much they hold, so the output is guessed and the guess grown. That data
    is broken and that the output is full are told apart by words only; so both try again, up to the bound."""
    size = _ZSTD_FIRST_GUESS + _ZSTD_GROWTH * len(data)
    while size < size_max:
        try:
            return _zstd_decompress_into(bytearray(size), data)
        except DecompressionError:
            size *= _ZSTD_GROWTH
    return _zstd_decompress_into(bytearray(size_max), data)


def _zstd_decompress_into(output: bytearray, data: Buffer) -> bytes:
    size = zstd.decompress_into(data, output)
    return bytes(memoryview(output)[:size])


# -- streams -----------------------------------------------------------------------------------------------


def _whole(plain: bytes, size_max: int, *, ended: bool, rest: bytes | None) -> bytes:
    """What a stream gave when asked for one byte more than the bound, if it was all of it and nothing else.
    Kafka's clients write one stream a batch, so bytes behind it are damage."""
    if len(plain) > size_max:
        raise TooLarge(f"expands beyond {size_max} bytes")
    if not ended:
        raise EOFError("it is cut off")
    if rest:
        raise EOFError(f"{len(rest)} bytes follow its end")
    return plain


_COMPRESS: dict[Codec, Callable[[Buffer, int | None], bytes]] = {
    Codec.NONE: _no_compress,
    Codec.GZIP: _gzip_compress,
    Codec.SNAPPY: _snappy_compress,
    Codec.LZ4: _lz4_compress,
    Codec.ZSTD: _zstd_compress,
}
_Decompress: TypeAlias = Callable[[Buffer, int], bytes]
_DECOMPRESS: dict[Codec, _Decompress] = {
    Codec.NONE: _no_decompress,
    Codec.GZIP: _gzip_decompress,
    Codec.SNAPPY: _snappy_decompress,
    Codec.LZ4: _lz4_decompress,
    Codec.ZSTD: _zstd_decompress,
}
