"""Where a value comes from, as DescribeConfigs tells it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Source(Enum):
    """Who set a value, strongest first; the number is the one on the wire."""

    TOPIC = 1
    THIS_BROKER = 2  # set for it while it runs
    EVERY_BROKER = 3  # set for all of them while they run
    STATIC = 4  # in its file, on its command line, in its environment
    DEFAULT = 5


class Synonym(NamedTuple):
    """One place where the value of a setting was looked for and something was found."""

    name: str
    text: str | None  # None for a secret
    source: Source
