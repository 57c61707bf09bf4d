"""How asking a cluster fails: nobody answered, it was refused, or it cannot be asked at all.

Every message says what was asked of whom, what was answered, and what to do where that is known.
"""

from __future__ import annotations

from odradek.model.errors import ErrorCode


class ClientError(Exception):
    """The cluster did not do what was asked of it."""


class Unreachable(ClientError):
    """No answer in time. What was asked may have been done."""


class Unsupported(ClientError):
    """The broker does not offer the request in any version that we speak."""


class Refused(ClientError):
    """The broker answered, and the answer is no."""

    def __init__(self, error: ErrorCode, detail: str | None = None, *, asked: str = "") -> None:
        told = f"{error.name}: {detail}" if detail else error.name
        super().__init__(f"{asked}: {told}" if asked else told)
        self.error = error
        self.detail = detail  # the broker's own words
        self.asked = asked  # what, of whom


def refusal(code: int, detail: str | None = None, *, asked: str = "") -> Refused | None:
    """What an answer's error code says; None when it says that all is well."""
    return None if code == ErrorCode.NONE.code else Refused(ErrorCode.of(code), detail, asked=asked)


def check(code: int, detail: str | None = None, *, asked: str = "") -> None:
    """Raise what an answer's error code says."""
    refused = refusal(code, detail, asked=asked)
    if refused is not None:
        raise refused
