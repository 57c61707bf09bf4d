"""OpenTelemetry's metrics as clients push them (KIP-714): protobuf, read as far as numbers go.

Gauges, sums, and the count and sum of histograms; what else OTLP knows no Kafka client sends. Points are
handed out one by one, so that whoever has seen enough can stop.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

_VARINT_BITS = 64
_NESTING_OF_POINTS = {5: "gauge", 7: "sum", 9: "histogram"}  # field numbers of a Metric

DELTA = 1  # aggregation temporality: what was added since the last time

Payload: TypeAlias = int | memoryview
Attributes: TypeAlias = tuple[tuple[str, str], ...]


class MalformedOtlp(ValueError):
    """These bytes are no metrics."""


class Point(NamedTuple):
    name: str
    attributes: Attributes
    value: float
    is_delta: bool  # to be added to what was told before
    is_sum: bool


def read_points(data: bytes) -> Iterator[Point]:
    """All points of a MetricsData."""
    try:
        for resource in _nested(memoryview(data), 1):
            for scope in _nested(resource, 2):
                for metric in _nested(scope, 2):
                    yield from _points(metric)
    except (IndexError, struct.error, UnicodeDecodeError, RecursionError) as bad:
        raise MalformedOtlp(str(bad)) from None


def _points(metric: memoryview) -> Iterator[Point]:
    name, series = "", []
    for number, payload in _fields(metric):
        if number == 1:
            name = _text(payload)
        elif number in _NESTING_OF_POINTS:
            series.append((_NESTING_OF_POINTS[number], _view(payload)))
    for kind, body in series:
        points, is_delta = [], False
        for number, payload in _fields(body):
            if number == 1:
                points.append(_view(payload))
            elif number == 2:
                is_delta = payload == DELTA
        for point in points:
            if kind == "histogram":
                yield from _histogram(name, point, is_delta=is_delta)
            else:
                attributes, value = _number(point)
                yield Point(name, attributes, value, is_delta, kind == "sum")


def _number(point: memoryview) -> tuple[Attributes, float]:
    attributes, value = [], 0.0
    for number, payload in _fields(point):
        if number == 7:
            attributes.append(_attribute(_view(payload)))
        elif number == 4:
            (value,) = struct.unpack("<d", _view(payload))
        elif number == 6:
            (value,) = struct.unpack("<q", _view(payload))
    return tuple(attributes), value


def _histogram(name: str, point: memoryview, *, is_delta: bool) -> Iterator[Point]:
    attributes, count, total = [], 0, 0.0
    for number, payload in _fields(point):
        if number == 9:
            attributes.append(_attribute(_view(payload)))
        elif number == 4:
            (count,) = struct.unpack("<Q", _view(payload))
        elif number == 5:
            (total,) = struct.unpack("<d", _view(payload))
    told = tuple(attributes)
    yield Point(f"{name}.count", told, count, is_delta, True)
    yield Point(f"{name}.sum", told, total, is_delta, True)


def _attribute(pair: memoryview) -> tuple[str, str]:
    key = text = ""
    for number, payload in _fields(pair):
        if number == 1:
            key = _text(payload)
        elif number == 2:
            text = _any_value(_view(payload))
    return key, text


def _any_value(value: memoryview) -> str:
    """What is not a plain value has no text."""
    for number, payload in _fields(value):
        match number:
            case 1:
                return _text(payload)
            case 2:
                return "true" if payload else "false"
            case 3:
                return str(
                    payload if not isinstance(payload, int) or payload < 1 << 63 else payload - (1 << 64)
                )
            case 4:
                return str(struct.unpack("<d", _view(payload))[0])
    return ""


# -- protobuf ----------------------------------------------------------------------------------------------


def _nested(message: memoryview, wanted: int) -> Iterator[memoryview]:
    return (_view(payload) for number, payload in _fields(message) if number == wanted)


def _fields(message: memoryview) -> Iterator[tuple[int, Payload]]:
    """Each field's number and payload: a number for a varint, a view of its bytes for everything else."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        match key & 7:
            case 0:
                value, at = _varint(message, at)
                yield key >> 3, value
                continue
            case 1:
                size = 8
            case 2:
                size, at = _varint(message, at)
            case 5:
                size = 4
            case wire_type:
                raise MalformedOtlp(f"there is no wire type {wire_type}")
        if size > end - at:
            raise MalformedOtlp(f"{size} bytes are told of, {end - at} are left")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _VARINT_BITS, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise MalformedOtlp("a varint does not end")


def _signed(payload: Payload) -> int:
    if not isinstance(payload, int):
        raise MalformedOtlp("bytes where there should be a number")
    return payload - (1 << _VARINT_BITS) if payload >> (_VARINT_BITS - 1) else payload


def _view(payload: Payload) -> memoryview:
    if not isinstance(payload, memoryview):
        raise MalformedOtlp("a number where there should be bytes")
    return payload


def _text(payload: Payload) -> str:
    return str(_view(payload), "utf-8")
