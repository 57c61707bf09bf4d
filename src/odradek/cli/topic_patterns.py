"""Topics and partitions as Kafka's tools are told them: patterns, numbers, ranges of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from odradek.cli.failures import Impossible
from odradek.model.ids import Partition

Wanted: TypeAlias = Callable[[Partition], bool]

_RULE = re.compile(r"([^:,]*)(?::(?:([0-9]*)|([0-9]*)-([0-9]*)))?")
_EXCEPTION = "java.lang.RuntimeException"


def name_pattern(names: str) -> re.Pattern[str]:
    """A regular expression in which a comma is one more `or`."""
    text = re.sub(r",+", "|", names.strip().replace(" ", "").strip("\"'")).strip("|")
    try:
        return re.compile(text)
    except re.error:
        raise Impossible(f"{text} is an invalid regex.", _EXCEPTION) from None


def by_topic_and_numbers(names: str | None, numbers: str | None) -> Wanted:
    """--topic NAMES --partitions 0,2"""
    pattern = name_pattern(names) if names is not None else None
    try:
        wanted = {int(each) for each in numbers.split(",")} if numbers else None
    except ValueError:
        raise Impossible(
            f"--partitions expects a comma separated list of numeric partition ids, but received: {numbers}"
        ) from None
    return lambda partition: (
        (pattern is None or pattern.fullmatch(partition.topic) is not None)
        and (wanted is None or partition.number in wanted)
    )


def by_rules(rules: str) -> Wanted:
    """--topic-partitions orders:0,orders:2-4,pay.*,:0 - the end of a range is not part of it."""
    filters = [_by_rule(each) for each in rules.split(",")]
    return lambda partition: any(each(partition) for each in filters)


def _by_rule(rule: str) -> Wanted:
    matched = _RULE.fullmatch(rule)
    if matched is None:
        said = f"Invalid rule specification: {rule}"
        raise Impossible(f"org.apache.kafka.tools.TerseException: {said}", _EXCEPTION)
    names, number, lower, upper = matched.groups()
    pattern = name_pattern(names) if names else None
    if number:
        numbers = range(int(number), int(number) + 1)
    else:
        numbers = range(int(lower or 0), int(upper or 2**31))
    return lambda partition: (
        (pattern is None or pattern.fullmatch(partition.topic) is not None) and partition.number in numbers
    )
