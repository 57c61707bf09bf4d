"""What is read of OpenTelemetry's metrics, whose bytes are put together here field by field."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.wire.otlp import MalformedOtlp, Point, read_points


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, payload: bytes | str | int) -> bytes:
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    data = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(data)) + data


def fixed64(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 1) + data


def attribute(number: int, key: str, value: bytes) -> bytes:
    return field(number, field(1, key) + field(2, value))


def number_point(value: float | int, *attributes: tuple[str, bytes]) -> bytes:
    told = (
        fixed64(6, struct.pack("<q", value))
        if isinstance(value, int)
        else fixed64(4, struct.pack("<d", value))
    )
    times = fixed64(2, bytes(8)) + fixed64(3, struct.pack("<Q", 1_700_000_000_000_000_000))
    return field(1, times + b"".join(attribute(7, key, text) for key, text in attributes) + told)


def metrics(*told: bytes) -> bytes:
    """MetricsData around metrics, with the resource and the scope that clients send along."""
    scope = field(1, field(1, "org.apache.kafka")) + b"".join(field(2, metric) for metric in told)
    resource = attribute(1, "service.name", field(1, "client"))
    return field(1, field(1, resource) + field(2, scope))


def gauge(name: str, *points: bytes) -> bytes:
    return field(1, name) + field(2, "what it means") + field(5, b"".join(points))


def total(name: str, temporality: int, *points: bytes) -> bytes:
    return field(1, name) + field(7, b"".join(points) + field(2, temporality) + field(3, 1))


def test_a_gauge_is_told_with_its_attributes() -> None:
    text, flag, count, ratio = field(1, "a"), field(2, 1), field(3, -5), fixed64(4, struct.pack("<d", 0.5))
    point = number_point(
        1.5, ("topic", text), ("flag", flag), ("count", count), ("ratio", ratio), ("list", b"")
    )
    attributes = (("topic", "a"), ("flag", "true"), ("count", "-5"), ("ratio", "0.5"), ("list", ""))
    assert list(read_points(metrics(gauge("g", point)))) == [Point("g", attributes, 1.5, False, False)]


def test_a_sum_says_whether_it_adds_to_the_one_before() -> None:
    told = read_points(metrics(total("d", 1, number_point(7)), total("c", 2, number_point(-7))))
    assert [(each.name, each.value, each.is_delta, each.is_sum) for each in told] == [
        ("d", 7, True, True),
        ("c", -7, False, True),
    ]


def test_of_a_histogram_the_count_and_the_sum_are_told() -> None:
    point = (
        fixed64(4, struct.pack("<Q", 3))
        + fixed64(5, struct.pack("<d", 4.5))
        + attribute(9, "a", field(1, "b"))
    )
    metric = field(1, "h") + field(9, field(1, point) + field(2, 1))
    assert [(each.name, each.attributes, each.value) for each in read_points(metrics(metric))] == [
        ("h.count", (("a", "b"),), 3),
        ("h.sum", (("a", "b"),), 4.5),
    ]


def test_what_is_not_known_is_passed_over() -> None:
    unknown = field(99, "later") + field(98, 7) + varint(97 << 3 | 5) + bytes(4)
    summary = field(1, "s") + field(11, field(1, b""))
    assert [
        each.name for each in read_points(unknown + metrics(summary, gauge("g", number_point(1)) + unknown))
    ] == ["g"]


def test_points_come_one_by_one() -> None:
    whole = metrics(gauge("g", *[number_point(each) for each in range(3)]))
    assert next(read_points(whole)).value == 0


@pytest.mark.parametrize(
    "data",
    [
        field(1, field(2, field(2, field(1, b"\xff")))),  # a name that is no text
        field(1, field(2, field(2, field(1, 5)))),  # a name that is a number
        varint(1 << 3 | 3),  # a group
        field(1, b"abc")[:-1],
        varint(1 << 3 | 2) + b"\xff" * 11,
        metrics(gauge("g", field(1, fixed64(4, bytes(7))))),
    ],
)
def test_what_is_no_metrics_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedOtlp):
        list(read_points(data))


@given(st.binary(max_size=200), st.integers(0, 200))
def test_whatever_the_bytes_it_is_points_or_a_refusal(data: bytes, at: int) -> None:
    good = metrics(gauge("g", number_point(1.5, ("a", field(1, "b")))))
    for spoilt in (data, good[:at] + data + good[at:]):
        try:
            assert all(isinstance(each, Point) for each in read_points(spoilt))
        except MalformedOtlp:
            continue
