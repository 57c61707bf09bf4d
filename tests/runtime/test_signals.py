"""The first signal asks, the second does not; each in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

STOPS_CLEANLY = """
import asyncio
from odradek.runtime.signals import stopping_on_signals

async def main():
    asked = asyncio.Event()
    with stopping_on_signals(asked.set):
        print("ready", flush=True)
        await asked.wait()
        print("stopping", flush=True)
        {then}

asyncio.run(main())
print("stopped", flush=True)
"""


def started(then: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPS_CLEANLY.format(then=then)], stdout=subprocess.PIPE, text=True
    )
    assert line_of(process) == "ready"
    return process


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_stops_cleanly(number: signal.Signals) -> None:
    with started(then="pass") as process:
        process.send_signal(number)
        assert line_of(process) == "stopping"
        assert line_of(process) == "stopped"
        assert process.wait(10) == 0


@pytest.mark.slow
@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("then", ["await asyncio.Event().wait()", "import time; time.sleep(60)"])
def test_the_second_signal_stops_at_once(first: signal.Signals, second: signal.Signals, then: str) -> None:
    with started(then) as process:
        process.send_signal(first)
        assert line_of(process) == "stopping"
        process.send_signal(second)
        assert process.wait(10) == -second


NOTICES = """
from odradek.runtime.signals import noticing_signals

with noticing_signals() as noticed:
    print("ready", flush=True)
    while noticed() is None:
        pass
    print("noticed", noticed(), flush=True)
    {then}
"""


def noticing(then: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", NOTICES.format(then=then)], stdout=subprocess.PIPE, text=True
    )
    assert line_of(process) == "ready"
    return process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_loop_that_looks_for_itself_is_told_which_signal_came(number: signal.Signals) -> None:
    with noticing("pass") as process:
        process.send_signal(number)
        assert line_of(process) == f"noticed {number.value}"
        assert process.wait(10) == 0


@pytest.mark.slow
def test_a_second_signal_ends_a_loop_that_does_not_look() -> None:
    with noticing("while True: pass") as process:
        process.send_signal(signal.SIGTERM)
        assert line_of(process) == f"noticed {signal.SIGTERM.value}"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM
