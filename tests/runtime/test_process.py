"""What the system says this process uses is what it used."""

from __future__ import annotations

import mmap
import threading
from pathlib import Path

from odradek.runtime import process


def burn(seconds: float) -> float:
    """How much of this thread's time it took."""
    began = process.thread_cpu_s()
    while process.thread_cpu_s() - began < seconds:
        pass
    return process.thread_cpu_s() - began


def test_work_takes_processor_time_of_its_thread_and_of_the_process() -> None:
    before, mine = process.cpu_s(), process.thread_cpu_s()
    other = threading.Thread(target=burn, args=(0.02,))
    other.start()
    other.join()
    assert process.cpu_s() - before >= 0.02
    assert process.thread_cpu_s() - mine < 0.02


def test_memory_that_is_used_is_seen() -> None:
    """Mapped anew: an allocator may have memory left that counts already."""
    size = 20 << 20
    with mmap.mmap(-1, size) as mapped:
        before = process.resident_size()
        mapped.write(b"\1" * size)
        assert process.resident_size() - before > size * 3 // 4


def test_an_open_file_is_counted(tmp_path: Path) -> None:
    before = process.open_files()
    with (tmp_path / "file").open("w"):
        assert process.open_files() == before + 1
    assert process.open_files() == before
