from __future__ import annotations

import pytest

from odradek.cli.failures import Impossible
from odradek.cli.formats.times import duration_ms, moment_ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00.000", 0),
        ("1970-01-01T00:00:01.500Z", 1_500),
        ("1970-01-01T02:00:00.000+02:00", 0),
        ("1969-12-31T22:30:00.000-01:30", 0),
        ("1970-01-02T00:00:00.001", 86_400_001),
        ("1969-12-31T23:59:59.999", -1),
    ],
)
def test_a_moment_is_read(text: str, ms: int) -> None:
    assert moment_ms(text) == ms


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2001-01-01", "2001-01-01T00:00", "2001-13-01T00:00:00.000"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(Impossible, match=r"java\.text\.ParseException"):
        moment_ms(text)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("PT0S", 0),
        ("P1D", 86_400_000),
        ("PT1H2M3S", 3_723_000),
        ("P1DT0.5S", 86_400_500),
        ("-PT1M", -60_000),
        ("PT-1.5S", -1_500),
        ("pt1h", 3_600_000),
    ],
)
def test_a_duration_is_read(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1D", "P1H", "PT1D", "P1D2H"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(Impossible, match="cannot be parsed to a Duration"):
        duration_ms(text)
