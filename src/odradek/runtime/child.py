"""What runs in a worker process: one function, called once; its answer goes back through a pipe.

It ends with its parent, however that ends: while the work is done on a thread, the main thread waits for the
pipe from the parent to close. So no compaction goes on beside the broker that was started anew.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TypeAlias

Work: TypeAlias = Callable[..., object]

# Given to `python -c`. The parent's import path comes first, because the work may be imported from anywhere.
START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from odradek.runtime.child import main; main()"
)


class Unanswerable(Exception):
    """Work in another process failed with something that cannot cross processes; the text tells it all."""


class _Attempt:
    """Keeps what was raised inside, whatever it was: who asked, in another process, is to hear of it."""

    error: BaseException | None = None

    def __enter__(self) -> _Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error = error
        return True


def main() -> None:
    answers = os.dup(1)
    os.dup2(2, 1)  # what the work prints is no answer
    work, arguments = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_answer, args=(answers, work, arguments), daemon=True).start()
    sys.stdin.buffer.read()
    os._exit(1)


def _answer(answers: int, work: Work, arguments: tuple[object, ...]) -> None:
    left = memoryview(outcome(work, arguments))
    while left:
        left = left[os.write(answers, left) :]
    os._exit(0)


def outcome(work: Work, arguments: tuple[object, ...]) -> bytes:
    """Pickled: the result and None, or None and the error."""
    with _Attempt() as attempt:
        return pickle.dumps((work(*arguments), None))
    assert attempt.error is not None
    return _pickled_error(attempt.error)


def _pickled_error(error: BaseException) -> bytes:
    import traceback

    told = "".join(traceback.format_exception(error))
    error.add_note(f"In a worker process:\n{told}")
    with _Attempt():
        pickled = pickle.dumps((None, error))
        pickle.loads(pickled)  # some can be told and not be heard
        return pickled
    return pickle.dumps((None, Unanswerable(told)))
