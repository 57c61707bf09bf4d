"""What the system lets this process have, as much of it as may be asked for."""

from __future__ import annotations

import resource


def raise_open_files() -> int:
    """As many open files as the system allows; how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
