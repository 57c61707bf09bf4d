"""Options and fixtures that every test may use."""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=None, help="run simulations with this one seed")
    parser.addoption("--seeds", type=int, default=None, help="run simulations with this many fresh seeds")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A simulation names its everyday seeds with `@pytest.mark.simulation(seeds=N)` and takes `seed`."""
    marker = metafunc.definition.get_closest_marker("simulation")
    if marker is None or "seed" not in metafunc.fixturenames:
        return
    one, fresh = metafunc.config.getoption("--seed"), metafunc.config.getoption("--seeds")
    if one is not None:
        seeds = [one]
    elif fresh is not None:
        seeds = [random.randrange(1 << 48) for _ in range(fresh)]
    else:
        seeds = list(range(marker.kwargs.get("seeds", 100)))
    metafunc.parametrize("seed", seeds)
