"""The states of a transaction, and what every event leads to in each of them.

Where a client of transactions v2 (KIP-890) is told otherwise stands below the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum, auto
from typing import Final, TypeAlias

from odradek.model.errors import ErrorCode


class State(IntEnum):
    """With the numbers that are stored."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2  # decided, the markers are being written
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """As requests and answers have it: "PrepareCommit"."""
        return _LABELS[self]


_LABELS: Final = {state: state.name.title().replace("_", "") for state in State}
STATES_BY_LABEL: Final[Mapping[str, State]] = {label: state for state, label in _LABELS.items()}


class Event(Enum):
    OPENED = auto()  # a producer comes, or comes back: InitProducerId
    ADDED = auto()  # partitions take part: AddPartitionsToTxn, AddOffsetsToTxn; in v2, by being written to
    COMMITTED = auto()  # EndTxn
    ABORTED = auto()  # EndTxn
    MARKED = auto()  # every partition has its marker
    TIMED_OUT = auto()  # the transaction runs for longer than its producer asked for
    EXPIRED = auto()  # nobody has used the id for long


Next: TypeAlias = State | ErrorCode  # ErrorCode.NONE: nothing changes, and that is fine

_EMPTY, _ONGOING, _GONE = State.EMPTY, State.ONGOING, State.DEAD
_COMMITTING, _ABORTING = State.PREPARE_COMMIT, State.PREPARE_ABORT
_COMMITTED, _ABORTED = State.COMPLETE_COMMIT, State.COMPLETE_ABORT
_KEPT = ErrorCode.NONE
_WAIT = ErrorCode.CONCURRENT_TRANSACTIONS
_WRONG = ErrorCode.INVALID_TXN_STATE
_NEVER = ErrorCode.UNKNOWN_SERVER_ERROR  # it does not happen there, or the state is never stored


def _row(*nexts: Next) -> Mapping[Event, Next]:
    return dict(zip(Event, nexts, strict=True))


# fmt: off
TABLE: Final[Mapping[State, Mapping[Event, Next]]] = {
    #                           OPENED     ADDED     COMMITTED     ABORTED    MARKED      TIMED_OUT   EXPIRED
    State.EMPTY:           _row(_EMPTY,    _ONGOING, _WRONG,       _WRONG,    _NEVER,     _KEPT,      _GONE),
    State.ONGOING:         _row(_ABORTING, _ONGOING, _COMMITTING,  _ABORTING, _NEVER,     _ABORTING,  _KEPT),
    State.PREPARE_COMMIT:  _row(_WAIT,     _WAIT,    _WAIT,        _WAIT,     _COMMITTED, _KEPT,      _KEPT),
    State.PREPARE_ABORT:   _row(_WAIT,     _WAIT,    _WAIT,        _WAIT,     _ABORTED,   _KEPT,      _KEPT),
    State.COMPLETE_COMMIT: _row(_EMPTY,    _ONGOING, _KEPT,        _WRONG,    _NEVER,     _KEPT,      _GONE),
    State.COMPLETE_ABORT:  _row(_EMPTY,    _ONGOING, _WRONG,       _KEPT,     _NEVER,     _KEPT,      _GONE),
    State.DEAD:            _row(_NEVER,    _NEVER,   _NEVER,       _NEVER,    _NEVER,     _KEPT,      _KEPT),
    State.PREPARE_EPOCH_FENCE:
                           _row(_NEVER,    _NEVER,   _NEVER,       _NEVER,    _NEVER,     _KEPT,      _KEPT),
}

# EndTxn of v2 that does not repeat another: a transaction has begun since, which may be aborted before any
# partition took part in it.
ENDED_IN_V2: Final[Mapping[State, Mapping[Event, Next]]] = {
    state: {**row, Event.COMMITTED: _WRONG, Event.ABORTED: _ABORTING}
    if state in (State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT) else row
    for state, row in TABLE.items()
}
# fmt: on

PREPARED: Final = frozenset({State.PREPARE_COMMIT, State.PREPARE_ABORT})  # decided, and not to be undone
COMPLETE: Final = frozenset({State.COMPLETE_COMMIT, State.COMPLETE_ABORT})
