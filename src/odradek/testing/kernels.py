"""Both forms of the record kernel, its source as Python runs it and as mypyc compiled it, for tests and
benchmarks that must hold for both."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from odradek.wire import kernel, records


def pure_kernel() -> ModuleType:
    """The source as a module of its own, whatever `odradek.wire.kernel` is here."""
    path = Path(kernel.__file__).with_name("kernel.py")
    loader = SourceFileLoader("odradek.wire.pure_kernel", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def compiled_kernel() -> ModuleType | None:
    """The kernel as installed, if it was compiled."""
    return None if kernel.__file__.endswith(".py") else kernel


def compiled_is_stale() -> bool:
    """Whether the compiled kernel is older than its source; the next installation makes it anew."""
    installed = Path(kernel.__file__)
    return installed.stat().st_mtime < installed.with_name("kernel.py").stat().st_mtime


@contextmanager
def walking_with(chosen: ModuleType) -> Iterator[None]:
    """Meanwhile `odradek.wire.records` uses this kernel."""
    setattr(records, "kernel", chosen)  # noqa: B010 - a module is no place for assignments, says mypy
    try:
        yield
    finally:
        setattr(records, "kernel", kernel)  # noqa: B010
