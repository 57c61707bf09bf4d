"""What the tests of records share: both forms of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from odradek.testing.kernels import compiled_kernel, pure_kernel, walking_with

PURE, COMPILED = pure_kernel(), compiled_kernel()


@pytest.fixture(params=["pure", "compiled"])
def kernel(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The record kernel in both forms; meanwhile `odradek.wire.records` walks with it."""
    chosen = PURE if request.param == "pure" else COMPILED
    if chosen is None:
        pytest.skip("the kernel is not compiled here, for want of a C compiler")
    with walking_with(chosen):
        yield chosen
