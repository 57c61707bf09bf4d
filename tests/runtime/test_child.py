from __future__ import annotations

import pickle
import subprocess
import sys

from odradek.model.errors import ApiError, ErrorCode, StorageError
from odradek.runtime.child import Unanswerable, outcome


def raise_it(error: BaseException) -> None:
    raise error


def error_of(error: BaseException) -> BaseException:
    result, answered = pickle.loads(outcome(raise_it, (error,)))
    assert result is None
    assert isinstance(answered, BaseException)
    return answered


def test_a_result_has_no_error() -> None:
    assert pickle.loads(outcome(divmod, (7, 2))) == ((3, 1), None)


def test_an_error_keeps_its_kind_and_says_where_it_happened() -> None:
    for error in (StorageError("disk"), AssertionError("bug"), KeyboardInterrupt(), SystemExit(2)):
        answered = error_of(error)
        assert type(answered) is type(error)
        assert answered.args == error.args
        assert "in raise_it" in answered.__notes__[0]


def test_an_error_that_cannot_be_rebuilt_is_told_as_text() -> None:
    answered = error_of(ApiError(ErrorCode.CORRUPT_MESSAGE, "at offset 7"))
    assert type(answered) is Unanswerable
    assert "CORRUPT_MESSAGE: at offset 7" in str(answered)


PARENT = """
import asyncio
from odradek.runtime.workers import Processes

async def main():
    await Processes(1, waiting_max=0, name="test").start(exec, CHILD)

asyncio.run(main())
"""
CHILD = "import os, signal; os.write(2, b'at work\\n'); signal.pause()"


def test_a_child_ends_when_its_parent_is_killed() -> None:
    script = PARENT.replace("CHILD", repr(CHILD))
    parent = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    assert parent.stderr
    assert parent.stderr.readline() == b"at work\n"
    parent.kill()
    # Standard error is the child's as well: it ends when both are gone.
    parent.communicate(timeout=10)
