"""One transactional id: who produces under it, and how far its transaction has come.

A value that never changes: an event leads to what it is next, or is refused (`states.py` says which). A
client of transactions v2 (KIP-890) gets a new epoch with every transaction, so there the epoch tells a
repeated request from a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final, NamedTuple

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.transactions.states import COMPLETE, ENDED_IN_V2, PREPARED, TABLE, Event, Next, State

NO_ID = -1
NO_TIME = -1
EPOCH_MAX = 32767
LAST_EPOCH = EPOCH_MAX - 1  # that a producer is given: one more is needed to fence it
NO_PARTITIONS: Final[frozenset[Partition]] = frozenset()


class Protocol(IntEnum):
    """What a client says of its transactions."""

    V0 = 0
    V2 = 2  # KIP-890: partitions take part by producing, every transaction has an epoch of its own


class Identity(NamedTuple):
    """A producer: a greater epoch fences a smaller one."""

    id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Transaction:
    identity: Identity
    timeout_ms: int
    state: State
    updated_ms: int
    started_ms: int = NO_TIME
    partitions: frozenset[Partition] = NO_PARTITIONS
    # The producer's id before this one; the very same id: the producer itself asked for its new epoch.
    previous_id: int = NO_ID
    next_id: int = NO_ID  # from the markers on: this id's epochs are used up
    protocol: Protocol = Protocol.V0

    @staticmethod
    def new(id: int, timeout_ms: int, now_ms: int) -> Transaction:
        """Of a transactional id that is not known yet."""
        return Transaction(Identity(id, 0), timeout_ms, State.EMPTY, now_ms)

    @property
    def needs_id(self) -> bool:
        """There are no more epochs for another producer: what comes next may need a fresh id."""
        return self.identity.epoch >= LAST_EPOCH

    @property
    def superseded(self) -> Identity | None:
        """Whom this producer was before. It may repeat the request that made it what it is, or in v2 ask how
        its transaction ended: nobody else was given this identity."""
        id, epoch = self.identity
        if epoch == 0:
            return Identity(self.previous_id, LAST_EPOCH) if self.previous_id != NO_ID else None
        has_ended = self.protocol is Protocol.V2 and (self.state in PREPARED or self.state in COMPLETE)
        if self.previous_id == id or (has_ended and (epoch <= LAST_EPOCH or self.next_id != NO_ID)):
            return Identity(id, epoch - 1)
        return None

    def is_timed_out(self, now_ms: int) -> bool:
        return self.state is State.ONGOING and self.started_ms + self.timeout_ms < now_ms

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        return TABLE[self.state][Event.EXPIRED] is State.DEAD and self.updated_ms + expiration_ms <= now_ms

    # -- events: what it is next; itself where nothing changes; or `ApiError` ----------------------------

    def opened(
        self, expected: Identity | None, timeout_ms: int, fresh_id: int | None, now_ms: int
    ) -> Transaction:
        """A producer wants to begin. One that comes back (KIP-360) says whom it takes itself for. When this
        ends an ongoing transaction instead, it is to ask again."""
        is_repeated = expected is not None and expected == self.superseded
        is_known = expected is None or expected.id == self.identity.id or expected == self.next_identity
        if not (is_known or is_repeated):
            raise ApiError(ErrorCode.PRODUCER_FENCED)
        if _next(TABLE[self.state][Event.OPENED]) is State.PREPARE_ABORT:
            return self._fenced(now_ms)
        if is_repeated:
            identity = self.identity
        elif expected is None or expected == self.identity:
            identity = self._next_identity(fresh_id)
        else:
            raise ApiError(ErrorCode.PRODUCER_FENCED)
        previous_id = NO_ID if expected is None else expected.id
        return Transaction(identity, timeout_ms, State.EMPTY, now_ms, previous_id=previous_id)

    def added(
        self, identity: Identity, partitions: frozenset[Partition], protocol: Protocol, now_ms: int
    ) -> Transaction:
        self.check(identity)
        state = _next(TABLE[self.state][Event.ADDED])
        is_first = self.state is not State.ONGOING
        if not is_first and partitions <= self.partitions:
            return self
        return replace(
            self,
            state=state,
            partitions=partitions if is_first else self.partitions | partitions,
            started_ms=now_ms if is_first else self.started_ms,
            updated_ms=now_ms,
            previous_id=NO_ID,
            protocol=protocol,
        )

    def ended(self, identity: Identity, *, committed: bool, now_ms: int) -> Transaction:
        self.check(identity)
        state = TABLE[self.state][Event.COMMITTED if committed else Event.ABORTED]
        if state is ErrorCode.NONE:
            return self
        return replace(self, state=_next(state), updated_ms=now_ms, protocol=Protocol.V0)

    def ended_in_v2(
        self, identity: Identity, fresh_id: int | None, *, committed: bool, now_ms: int
    ) -> Transaction:
        """The producer goes on as `next_identity`."""
        event = Event.COMMITTED if committed else Event.ABORTED
        if identity == self.superseded and self.state in PREPARED | COMPLETE:
            if TABLE[self.state][event] is ErrorCode.NONE:
                return self
            raise _refusal(TABLE[self.state][event])
        self.check(identity)
        if self.state in PREPARED:  # a producer of this epoch has not begun anything yet
            raise ApiError(ErrorCode.PRODUCER_FENCED)
        state = _next(ENDED_IN_V2[self.state][event])
        return replace(
            self,
            identity=self._bumped,
            state=state,
            started_ms=self.started_ms if self.state is State.ONGOING else now_ms,
            updated_ms=now_ms,
            previous_id=NO_ID,
            next_id=_given(fresh_id) if self.needs_id else NO_ID,
            protocol=Protocol.V2,
        )

    @property
    def next_identity(self) -> Identity:
        """Of this producer, once its transaction is complete."""
        return self.identity if self.next_id == NO_ID else Identity(self.next_id, 0)

    def marked(self, now_ms: int) -> Transaction:
        """Every partition has its marker."""
        state = TABLE[self.state][Event.MARKED]
        assert isinstance(state, State), f"{self.state.name} has nothing to mark"
        return replace(
            self,
            identity=self.next_identity,
            previous_id=self.previous_id if self.next_id == NO_ID else self.identity.id,
            next_id=NO_ID,
            state=state,
            partitions=NO_PARTITIONS,
            updated_ms=now_ms,
        )

    def timed_out(self, now_ms: int) -> Transaction:
        """It takes too long: aborted, and its producer fenced."""
        return self if TABLE[self.state][Event.TIMED_OUT] is ErrorCode.NONE else self._fenced(now_ms)

    # -- questions ---------------------------------------------------------------------------------------

    def check(self, identity: Identity) -> None:
        """Is this the producer? `ApiError` if not, or not yet."""
        if identity == self.next_identity != self.identity:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        if identity.id != self.identity.id:
            raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if identity.epoch != self.identity.epoch:
            raise ApiError(ErrorCode.PRODUCER_FENCED)

    def check_takes_part(self, identity: Identity, partition: Partition) -> None:
        """May this producer write there, as part of its transaction? `ApiError` if not."""
        self.check(identity)
        if self.state in PREPARED:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
        if partition not in self.partitions:
            raise ApiError(ErrorCode.TRANSACTION_ABORTABLE)

    # -- inside ------------------------------------------------------------------------------------------

    def _fenced(self, now_ms: int) -> Transaction:
        """Aborted in an epoch that nobody is given: its markers fence the producer in every partition."""
        return replace(
            self,
            identity=self._bumped,
            state=State.PREPARE_ABORT,
            updated_ms=now_ms,
            previous_id=NO_ID,
        )

    def _next_identity(self, fresh_id: int | None) -> Identity:
        if self.needs_id:
            return Identity(_given(fresh_id), 0)
        return self._bumped

    @property
    def _bumped(self) -> Identity:
        id, epoch = self.identity
        return Identity(id, min(epoch + 1, EPOCH_MAX))


def _next(next: Next) -> State:
    if isinstance(next, State):
        return next
    raise _refusal(next)


def _refusal(next: Next) -> ApiError:
    assert isinstance(next, ErrorCode)
    return ApiError(next)


def _given(fresh_id: int | None) -> int:
    assert fresh_id is not None, "whoever asks looks at needs_id first"
    return fresh_id
