"""Options and fixtures that every test may use."""

from __future__ import annotations

import asyncio
import inspect
import os
import random
import threading

import pytest

from odradek.testing.sim_clock import MovableClock, MovableLoop

ASYNC_TEST_SECONDS_MAX = 20
RUN = "PYTEST_XDIST_TESTRUNUID"  # another one every time, the same in all processes of a run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=None, help="run simulations with this one seed")
    parser.addoption("--seeds", type=int, default=None, help="run simulations with this many fresh seeds")
    parser.addoption("--kills", type=int, default=10, help="how often a broker under load is killed")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A simulation names its everyday seeds with `@pytest.mark.simulation(seeds=N)` and takes `seed`."""
    marker = metafunc.definition.get_closest_marker("simulation")
    if marker is None or "seed" not in metafunc.fixturenames:
        return
    one, fresh = metafunc.config.getoption("--seed"), metafunc.config.getoption("--seeds")
    if one is not None:
        seeds = [one]
    elif fresh is not None:
        draw = random.Random(os.environ.get(RUN, os.getpid()))  # test processes must draw the same
        seeds = [draw.randrange(1 << 48) for _ in range(fresh)]
    else:
        seeds = list(range(marker.kwargs.get("seeds", 100)))
    metafunc.parametrize("seed", seeds)


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often a broker under load is to be killed."""
    times = request.config.getoption("--kills")
    assert isinstance(times, int)
    return times


@pytest.fixture
def clock() -> MovableClock:
    """Time that runs by itself and can be pushed on."""
    return MovableClock()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """An `async def test_...` gets a loop of its own, which follows `clock` if the test asks for one, and an
    end. What a callback raises fails it."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: value for name, value in pyfuncitem.funcargs.items() if name in names}
    raised: list[BaseException] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(
            lambda _, context: raised.append(context.get("exception") or RuntimeError(context["message"]))
        )
        # Not a timer of the loop: its time may be pushed on.
        task = asyncio.current_task()
        assert task is not None
        watch = threading.Timer(ASYNC_TEST_SECONDS_MAX, loop.call_soon_threadsafe, [task.cancel])
        watch.start()
        try:
            await pyfuncitem.obj(**arguments)
        finally:
            watch.cancel()

    clock = pyfuncitem.funcargs.get("clock")
    loop_factory = (lambda: MovableLoop(clock)) if isinstance(clock, MovableClock) else None
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())
    if raised:
        raise raised[0]
    return True
