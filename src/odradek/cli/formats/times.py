"""Points in time and durations, as Kafka's tools are told them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from odradek.cli.failures import Impossible

_MOMENT = re.compile(
    r"(\d{4,})-(\d\d?)-(\d\d?)T(\d\d?):(\d\d?):(\d\d?)\.(\d{1,3})(?:Z|([+-])(\d\d):?(\d\d)?)?"
)
_DURATION = re.compile(
    r"([-+]?)P(?=.)(?:([-+]?\d+)D)?(?:T(?=.)(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?",
    re.IGNORECASE,
)


def moment_ms(text: str) -> int:
    """2001-02-03T04:05:06.789, in UTC unless an offset follows: as milliseconds since 1970."""
    if "T" not in text:
        raise _unreadable("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
    found = _MOMENT.fullmatch(text)
    has_zone = re.search(r"[-+Z]", text.partition("T")[2]) is not None
    unparseable = _unreadable(f'Unparseable date: "{text}{"" if has_zone else "Z"}"')
    if found is None:
        raise unparseable
    *day_and_time, ms, sign, hours, minutes = found.groups()
    shift = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        zone = timezone(-shift if sign == "-" else shift) if sign else UTC
        year, month, day, hour, minute, second = map(int, day_and_time)
        whole = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        raise unparseable from None
    return int(whole.timestamp()) * 1000 + int(ms)


def duration_ms(text: str) -> int:
    """P1DT2H3M4.5S"""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise Impossible("Text cannot be parsed to a Duration", "java.time.format.DateTimeParseException")
    sign, days, hours, minutes, seconds, fraction = found.groups()
    whole_s = int(days or 0) * 86_400 + int(hours or 0) * 3_600 + int(minutes or 0) * 60 + int(seconds or 0)
    part_ms = int((fraction or "").ljust(3, "0")[:3])
    ms = whole_s * 1000 + (-part_ms if (seconds or "").startswith("-") else part_ms)
    return -ms if sign == "-" else ms


def _unreadable(said: str) -> Impossible:
    return Impossible(f"java.text.ParseException: {said}", "java.lang.RuntimeException")
