"""How the members of a group fare, which Kafka's protocol has no words for: said to who asks for it.

A DescribeGroups request with the tagged field TAG is answered with one of the same number for each member.
Other brokers ignore the question and other clients never see the answer; the number is far from Kafka's own.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple, TypeVar

from odradek.wire.schema import unknown_tags, with_unknown_tags

T = TypeVar("T")

TAG: Final = 10_000
_INSIGHT: Final = struct.Struct(">?qi")


class Insight(NamedTuple):
    """One member, as its coordinator sees it."""

    is_awaited: bool  # the others wait for it, to join again or to say who gets what
    silent_ms: int  # since it was last heard of; -1 where it waits for an answer itself
    session_timeout_ms: int  # after so long a silence it is put out


def asking(request: T) -> T:
    return with_unknown_tags(request, ((TAG, b""),))


def is_asked(request: object) -> bool:
    return any(tag == TAG for tag, _ in unknown_tags(request))


def telling(member: T, insight: Insight) -> T:
    return with_unknown_tags(member, ((TAG, _INSIGHT.pack(*insight)),))


def told(member: object) -> Insight | None:
    """None from who was not asked, or does not know the question."""
    for tag, value in unknown_tags(member):
        if tag == TAG and len(value) == _INSIGHT.size:
            return Insight(*_INSIGHT.unpack(value))
    return None
