"""What the broker's configuration says of groups."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    session_timeout_min_ms: int = 6000
    session_timeout_max_ms: int = 1_800_000
    members_max: int = 2**31 - 1
    initial_rebalance_delay_ms: int = 3000
    metadata_length_max: int = 4096
    retention_ms: int = 10_080 * 60_000
