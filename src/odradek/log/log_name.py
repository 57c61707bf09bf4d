"""How a partition's directory is named, while it serves and after."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from odradek.model.ids import Partition

NAME_LENGTH_MAX = 255  # of most file systems


class Standing(Enum):
    """What a directory is to the broker; the value ends its name."""

    SERVING = ""
    FUTURE = "-future"  # catching up, to take the place of the one in another data directory
    DELETED = "-delete"  # removed once file.delete.delay.ms has passed
    STRAY = "-stray"  # of no partition that the cluster placed here; left to the operator


_NAME = re.compile(r"(?P<topic>.+)-(?P<number>\d+)(?:\.[^.]+(?P<standing>-future|-delete|-stray))?")


class LogName(NamedTuple):
    """`<topic>-<number>`, or `<topic>-<number>.<32 hex digits>-<standing>`. A deleted one may show only the
    beginning of a long topic."""

    partition: Partition
    standing: Standing = Standing.SERVING

    @staticmethod
    def parse(name: str) -> LogName | None:
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        return LogName(Partition(match["topic"], int(match["number"])), Standing(match["standing"] or ""))

    def text(self, unique: bytes = b"") -> str:
        """The name to give; `unique` tells two deletions of one partition apart."""
        if self.standing is Standing.SERVING:
            return str(self.partition)
        rest = f"-{self.partition.number}.{unique.hex()}{self.standing.value}"
        return self.partition.topic[: NAME_LENGTH_MAX - len(rest)] + rest
