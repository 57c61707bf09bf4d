"""What holds for every message in every version: values come back, and bad bytes end in one clean refusal."""

from __future__ import annotations

import pkgutil
import tracemalloc
from functools import cache
from importlib import import_module
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.wire import messages
from odradek.wire.codec import decode, decoder, encode
from odradek.wire.primitives import Malformed
from odradek.wire.schema import (
    Array,
    Declaration,
    Field,
    Kind,
    Shape,
    declaration,
    unknown_tags,
    with_unknown_tags,
)

EXPANSION_MAX: Final = 64  # bytes of memory for each byte of a frame, whatever it claims
ITEMS: Final = 300


@cache
def every_message() -> tuple[tuple[type[object], int], ...]:
    """All that travels by itself, in each of its versions."""
    found = []
    for module in pkgutil.iter_modules(messages.__path__):
        for each in vars(import_module(f"{messages.__name__}.{module.name}")).values():
            declared = vars(each).get("__declaration__") if isinstance(each, type) else None
            if isinstance(declared, Declaration) and declared.versions is not None:
                found += [(declared.cls, version) for version in declared.versions]
    return tuple(dict.fromkeys(found))


# -- any value ---------------------------------------------------------------------------------------------

INTEGERS: Final = {
    "b": (8, True),
    "h": (16, True),
    "H": (16, False),
    "i": (32, True),
    "I": (32, False),
    "q": (64, True),
}
TEXTS: Final = ("", "t", "orders", "é", "漢字", "𝄞" * 40, "a" * 127, "b" * 128, "c" * 300)


def any_message(cls: type, version: int, rng: Random) -> object:
    """A message all of whose fields may be anything that this version can say."""
    return any_struct(cls, version, declaration(cls).is_flexible(version), rng)


def any_struct(cls: type, version: int, flexible: bool, rng: Random) -> object:
    fields = declaration(cls).fields
    value = cls(
        **{each.name: any_field(each, version, flexible, rng) for each in fields if each.exists(version)}
    )
    if flexible and rng.random() < 0.2:
        known = {each.tag for each in fields if each.exists(version) and each.tagged(version)}
        tags = {rng.choice((0, 1, 5, 127, 128, 70_000)) for _ in range(2)} - known
        with_unknown_tags(value, tuple((tag, rng.randbytes(rng.randrange(4))) for tag in sorted(tags)))
    return value


def any_field(field: Field, version: int, flexible: bool, rng: Random) -> object:
    if field.nullable(version) and rng.random() < 0.25:
        return None
    if field.has_default and rng.random() < 0.1:
        return (
            field.default
            if field.default is not None or field.nullable(version)
            else any_field(field, version, flexible, rng)
        )
    return any_shape(field.shape, version, flexible, rng)


def any_shape(shape: Shape, version: int, flexible: bool, rng: Random) -> object:
    match shape:
        case Array():
            length = 130 if isinstance(shape.of, Kind) and rng.random() < 0.1 else rng.choice((0, 1, 1, 2))
            return tuple(any_shape(shape.of, version, flexible, rng) for _ in range(length))
        case Kind():
            return any_primitive(shape, rng)
        case _:
            return any_struct(shape, version, flexible, rng)


def any_primitive(kind: Kind, rng: Random) -> object:
    if kind.code in INTEGERS:
        bits, signed = INTEGERS[kind.code]
        lowest = -(1 << bits - 1) if signed else 0
        return rng.choice(
            (lowest, lowest + (1 << bits) - 1, 0, 1, rng.randrange(lowest, lowest + (1 << bits)))
        )
    match kind.name:
        case "bool":
            return rng.random() < 0.5
        case "float64":
            return rng.choice((0.0, -1.5, 1e300, float("inf")))
        case "uuid":
            return rng.randbytes(16)
        case "string":
            return rng.choice(TEXTS)
        case "bytes" | "records":
            return rng.randbytes(rng.choice((0, 1, 126, 127, 300)))
    raise AssertionError(kind)


# -- values come back --------------------------------------------------------------------------------------


def test_every_message_comes_back_in_every_version() -> None:
    assert len(every_message()) > 700
    for cls, version in every_message():
        for seed in range(3):
            comes_back(any_message(cls, version, Random(seed)), version)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_value_of_any_message_and_version_comes_back(data: st.DataObject) -> None:
    cls, version = data.draw(st.sampled_from(every_message()))
    comes_back(any_message(cls, version, data.draw(st.randoms(use_true_random=False))), version)


def comes_back(value: object, version: int) -> None:
    encoded = encode(value, version)
    back = decode(type(value), version, encoded)
    assert back == value, f"{type(value).__name__} v{version}"
    assert unknown_tags(back) == unknown_tags(value)
    assert encode(back, version) == encoded


# -- bad bytes are refused ---------------------------------------------------------------------------------


def test_every_message_refuses_every_truncation() -> None:
    for cls, version in every_message():
        whole = encode(any_message(cls, version, Random(7)), version)
        decode_whole = decoder(cls, version)
        for size in range(0, len(whole), 1 + len(whole) // 30):
            with pytest.raises(Malformed):
                decode_whole(whole[:size], 0)


def test_every_message_survives_bytes_that_are_none() -> None:
    for cls, version in every_message():
        rng = Random(version)
        whole = encode(any_message(cls, version, rng), version)
        for _ in range(50):
            survives(cls, version, mutated(whole, rng))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_bytes_end_in_a_value_or_a_refusal(data: st.DataObject) -> None:
    cls, version = data.draw(st.sampled_from(every_message()))
    survives(cls, version, data.draw(st.binary(max_size=200)))


def mutated(whole: bytes, rng: Random) -> bytes:
    """One or two of the things that happen to bytes."""
    data = bytearray(whole)
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(4):
            case 0:
                del data[at:]
            case 1:
                data[at:at] = rng.randbytes(rng.randrange(1, 5))
            case 2:
                data[at : at + 1] = bytes((rng.choice((0, 1, 0x7F, 0x80, 0xFF)),))
            case 3:
                data[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\x0f\x42\x40"))
    return bytes(data)


def survives(cls: type[object], version: int, data: bytes) -> None:
    try:
        value, end = decoder(cls, version)(data, 0)
    except Malformed:
        return
    assert end <= len(data)
    encoded = encode(value, version)
    assert encode(decode(cls, version, encoded), version) == encoded


# -- memory is bounded by what was sent --------------------------------------------------------------------


@pytest.mark.slow
def test_no_bytes_take_more_memory_than_the_bound() -> None:
    """Arrays of the smallest items are what costs most for each byte sent, at whatever depth they are."""
    for cls, version in every_message():
        flexible = declaration(cls).is_flexible(version)
        for depth in range(4):
            crowd = encode(crowded(cls, version, flexible, depth), version)
            if len(crowd) < ITEMS:
                break
            peak = peak_of_decoding(cls, version, crowd)
            assert peak < EXPANSION_MAX * len(crowd), f"{cls.__name__} v{version} takes {peak / len(crowd)}"


def test_a_claim_alone_takes_no_memory() -> None:
    """The largest array that is allowed, claimed at every position of every message."""
    for cls, version in every_message():
        whole = encode(any_message(cls, version, Random(version)), version)[:300]
        claim = b"\xc1\x84\x3d" if declaration(cls).is_flexible(version) else b"\0\x0f\x42\x40"
        for at in range(0, len(whole), 7):
            data = whole[:at] + claim + whole[at:]
            assert peak_of_decoding(cls, version, data) < 20_000 + EXPANSION_MAX * len(data)


def crowded(cls: type, version: int, flexible: bool, depth: int) -> object:
    """The smallest message, but for its arrays: one item down to `depth`, there a crowd of the smallest."""
    stated: dict[str, object] = {}
    for field in declaration(cls).fields:
        if not field.exists(version):
            continue
        match field.shape:
            case Array(of) if depth == 0:
                smallest = of.zero if isinstance(of, Kind) else crowded(of, version, flexible, -1)
                stated[field.name] = (smallest,) * ITEMS
            case Array(of) if depth > 0 and not isinstance(of, Kind):
                stated[field.name] = (crowded(of, version, flexible, depth - 1),)
            case _ if field.nullable(version):
                stated[field.name] = None
            case Array():
                stated[field.name] = ()
            case Kind():
                stated[field.name] = field.shape.zero
            case _:
                stated[field.name] = crowded(field.shape, version, flexible, depth)
    value: object = cls(**stated)
    return value


def peak_of_decoding(cls: type[object], version: int, data: bytes) -> int:
    decode_it = decoder(cls, version)
    tracemalloc.start()
    try:
        decode_it(data, 0)
    except Malformed:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak
