"""A line for every request, on demand: set the logger `odradek.request` to DEBUG, also while the broker runs.

When it is off it costs the question whether it is on.
"""

from __future__ import annotations

import logging

from odradek.observe.logs import fields

_logger = logging.getLogger("odradek.request")


def is_on() -> bool:
    return _logger.isEnabledFor(logging.DEBUG)


def answered(
    api: str, version: int, *, client: str | None, peer: object, size: int, answer_size: int, ms: float
) -> None:
    _logger.debug(
        "%s v%d",
        *(api, version),
        extra=fields(client=client or "", peer=peer, size=size, answer_size=answer_size, ms=round(ms, 3)),
    )
