"""What every benchmark prints: the machine it ran on, its rows as a table, and a copy in bench/results/."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

RESULTS = Path(__file__).parent / "results"

Cell: TypeAlias = str | int | float


def best_of(rounds: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of `rounds` calls: what the work costs when nothing else interferes."""
    fastest = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - began)
    return fastest


def report(question: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print the rows, and keep them with their machine in bench/results/<question>.json."""
    machine = f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores"
    texts = [[_text(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    print(f"{question} ({machine})")
    for line in (columns, *texts):
        print("  " + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))
    RESULTS.mkdir(exist_ok=True)
    kept = {"machine": machine, "columns": list(columns), "rows": [list(row) for row in rows]}
    (RESULTS / f"{question.replace(' ', '-')}.json").write_text(json.dumps(kept, indent=1))


def _text(cell: Cell) -> str:
    return f"{cell:,.2f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell
