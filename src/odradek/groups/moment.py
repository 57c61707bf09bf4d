"""What time it is, twice: on the wall for what is recorded, and since some moment for what is waited for."""

from __future__ import annotations

from typing import Final, NamedTuple

NEVER_MS: Final = float("inf")


class Moment(NamedTuple):
    wall_ms: int  # since 1970; may jump either way
    elapsed_ms: float  # never goes back; all deadlines are told in it
