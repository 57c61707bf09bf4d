"""The transactional ids of one partition of __transaction_state: request -> (records, reply); replay.

No request changes anything: it leads to records and to a reply that is to leave once they are committed. Only
`replay` changes what is kept, live and while loading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import Partition
from odradek.model.outcome import Outcome, StoredRecord
from odradek.transactions.records import UnknownRecord, read, record_of
from odradek.transactions.states import PREPARED, State
from odradek.transactions.transaction import Identity, Protocol, Transaction

_NOTHING: Outcome[None] = Outcome((), None)


class Completion(NamedTuple):
    """A transaction that is decided: its markers are to be written, and then it is complete."""

    transactional_id: str
    identity: Identity
    committed: bool
    partitions: frozenset[Partition]


class TransactionShard:
    def __init__(self, timeout_ms_max: int, expiration_ms: int) -> None:
        self._timeout_ms_max = timeout_ms_max
        self._expiration_ms = expiration_ms
        self._transactions: dict[str, Transaction] = {}
        self._ongoing: dict[str, None] = {}
        self._prepared: dict[str, None] = {}

    # -- requests ----------------------------------------------------------------------------------------

    def check_timeout(self, timeout_ms: int) -> None:
        """May a producer ask for it? `ApiError` if not."""
        if not 0 < timeout_ms <= self._timeout_ms_max:
            raise ApiError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)

    def needs_id(self, transactional_id: str) -> bool:
        """What a producer asks for next may need an id that nobody has: to be taken before asking."""
        transaction = self._transactions.get(transactional_id)
        return transaction is None or transaction.needs_id

    def open(
        self,
        transactional_id: str,
        timeout_ms: int,
        *,
        expected: Identity | None,
        fresh_id: int | None,
        now_ms: int,
    ) -> Outcome[Identity | None]:
        """InitProducerId. None: an ongoing transaction is aborted first, the producer is to ask again."""
        known = self._transactions.get(transactional_id)
        if known is None:
            assert fresh_id is not None, "whoever asks looks at needs_id first"
            opened = Transaction.new(fresh_id, timeout_ms, now_ms)
        else:
            opened = known.opened(expected, timeout_ms, fresh_id, now_ms)
        reply = opened.identity if opened.state is State.EMPTY else None
        return Outcome((record_of(transactional_id, opened),), reply)

    def add(
        self,
        transactional_id: str,
        identity: Identity,
        partitions: Iterable[Partition],
        *,
        now_ms: int,
        protocol: Protocol = Protocol.V0,
    ) -> Outcome[None]:
        """AddPartitionsToTxn and AddOffsetsToTxn, or what implies them in v2."""
        known = self._known(transactional_id)
        return self._outcome(
            transactional_id, known, known.added(identity, frozenset(partitions), protocol, now_ms)
        )

    def check_takes_part(self, transactional_id: str, identity: Identity, partition: Partition) -> None:
        """May this producer write there? `ApiError` if not."""
        self._known(transactional_id).check_takes_part(identity, partition)

    def end(
        self, transactional_id: str, identity: Identity, *, committed: bool, now_ms: int
    ) -> Outcome[None]:
        """EndTxn."""
        known = self._known(transactional_id)
        return self._outcome(
            transactional_id, known, known.ended(identity, committed=committed, now_ms=now_ms)
        )

    def end_in_v2(
        self, transactional_id: str, identity: Identity, *, committed: bool, fresh_id: int | None, now_ms: int
    ) -> Outcome[Identity]:
        """EndTxn from version 5 on: the reply is who the producer is from now on."""
        known = self._known(transactional_id)
        ended = known.ended_in_v2(identity, fresh_id, committed=committed, now_ms=now_ms)
        return Outcome(self._outcome(transactional_id, known, ended).records, ended.next_identity)

    def find(self, transactional_id: str) -> Transaction | None:
        return self._transactions.get(transactional_id)

    def __iter__(self) -> Iterator[tuple[str, Transaction]]:
        return iter(self._transactions.items())

    def __len__(self) -> int:
        return len(self._transactions)

    # -- markers -----------------------------------------------------------------------------------------

    def completion(self, transactional_id: str) -> Completion | None:
        """What is to be done to complete this transaction, if it is decided and not complete."""
        known = self._transactions.get(transactional_id)
        if known is None or known.state not in PREPARED:
            return None
        committed = known.state is State.PREPARE_COMMIT
        return Completion(transactional_id, known.identity, committed, known.partitions)

    def completions(self) -> list[Completion]:
        """Of all that are decided and not complete: a new coordinator takes them up."""
        found = (self.completion(transactional_id) for transactional_id in self._prepared)
        return [each for each in found if each is not None]

    def complete(self, transactional_id: str, now_ms: int) -> Outcome[None]:
        """Every partition has its marker."""
        known = self._known(transactional_id)
        return self._outcome(transactional_id, known, known.marked(now_ms))

    # -- time --------------------------------------------------------------------------------------------

    next_deadline_ms = float("inf")  # what follows is done by chores, on Kafka's schedules

    def timed_out(self, now_ms: int) -> list[str]:
        """Whose transaction takes too long."""
        return [each for each in self._ongoing if self._transactions[each].is_timed_out(now_ms)]

    def time_out(self, transactional_id: str, now_ms: int) -> Outcome[None]:
        """Abort it, and fence its producer."""
        known = self._known(transactional_id)
        return self._outcome(transactional_id, known, known.timed_out(now_ms))

    def expired(self, now_ms: int) -> Iterator[StoredRecord | None]:
        """Of every id what forgets it, if nobody has used it for long. They may change meanwhile."""
        for transactional_id in list(self._transactions):
            known = self._transactions.get(transactional_id)
            is_expired = known is not None and known.is_expired(now_ms, self._expiration_ms)
            yield record_of(transactional_id, None) if is_expired else None

    # -- replay: the only way anything changes -----------------------------------------------------------

    def replay(self, record: StoredRecord, producer_id: int) -> None:
        del producer_id  # nobody writes here within a transaction
        try:
            transactional_id, transaction = read(record)
        except UnknownRecord:
            return  # of a newer broker: what it says is lost on us, the other ids are not
        self._ongoing.pop(transactional_id, None)
        self._prepared.pop(transactional_id, None)
        if transaction is None:
            self._transactions.pop(transactional_id, None)
            return
        self._transactions[transactional_id] = transaction
        if transaction.state is State.ONGOING:
            self._ongoing[transactional_id] = None
        elif transaction.state in PREPARED:
            self._prepared[transactional_id] = None

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        """Markers are for partitions that take part in transactions; this one keeps them."""

    # -- inside ------------------------------------------------------------------------------------------

    def _known(self, transactional_id: str) -> Transaction:
        known = self._transactions.get(transactional_id)
        if known is None:
            raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return known

    @staticmethod
    def _outcome(transactional_id: str, before: Transaction, after: Transaction) -> Outcome[None]:
        return _NOTHING if after is before else Outcome((record_of(transactional_id, after),), None)
