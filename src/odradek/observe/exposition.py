"""Metrics as Prometheus reads them: its text format, version 0.0.4.

Written here and not by `prometheus_client`, whose objects cost many times as much a sample: docs/decisions/
has the figures. Its parser is the oracle of the tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple, TypeAlias

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Number: TypeAlias = int | float
Sample: TypeAlias = tuple[str, Number]  # labels, as `labels` writes them, and the value

_PIECE = 1000  # samples


class Kind(Enum):
    GAUGE = "gauge"
    COUNTER = "counter"
    UNTYPED = "untyped"  # a counter by another name than `..._total`: readers would add that to it


class Family(NamedTuple):
    """All samples of one name."""

    name: str
    kind: Kind
    meaning: str
    samples: Iterable[Sample]


def gauge(name: str, meaning: str, samples: Iterable[Sample] | Number) -> Family:
    return Family(name, Kind.GAUGE, meaning, _samples(samples))


def counter(name: str, meaning: str, samples: Iterable[Sample] | Number) -> Family:
    return Family(name, Kind.COUNTER, meaning, _samples(samples))


def untyped(name: str, meaning: str, samples: Iterable[Sample] | Number) -> Family:
    return Family(name, Kind.UNTYPED, meaning, _samples(samples))


def labels(**values: object) -> str:
    """Written once, used for as many samples as have them."""
    inside = ",".join(f'{name}="{_escaped(str(value))}"' for name, value in values.items())
    return f"{{{inside}}}" if values else ""


def text(families: Iterable[Family]) -> Iterator[str]:
    """Piece by piece, so that whoever sends them can do something else in between. A family that has no
    samples is left out."""
    for name, kind, meaning, samples in families:
        head = f"# HELP {name} {meaning}\n# TYPE {name} {kind.value}\n"
        lines: list[str] = []
        for label, value in samples:
            lines.append(f"{name}{label} {value if type(value) is int else _written(value)}\n")
            if len(lines) == _PIECE:
                yield head + "".join(lines)
                head = ""
                lines.clear()
        if lines:
            yield head + "".join(lines)


def _samples(samples: Iterable[Sample] | Number) -> Iterable[Sample]:
    """A number alone is the one sample of a family without labels."""
    return (("", samples),) if isinstance(samples, int | float) else samples


def _written(value: Number) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(value)


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
