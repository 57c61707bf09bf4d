"""What the system says this process uses: processor time, memory, open files."""

from __future__ import annotations

import os
import resource

_PAGE_SIZE = resource.getpagesize()


def cpu_s() -> float:
    """Of all threads since the start."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def thread_cpu_s() -> float:
    """Of the thread that asks."""
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_utime + used.ru_stime


def resident_size() -> int:
    """Bytes in memory now."""
    with open("/proc/self/statm", "rb", buffering=0) as file:
        return int(file.read(200).split()[1]) * _PAGE_SIZE


def open_files() -> int:
    """The one that is needed to count them is not counted."""
    return len(os.listdir("/proc/self/fd")) - 1
