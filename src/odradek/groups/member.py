"""One member of a classic group: what it can do, what it was given, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from odradek.groups.moment import NEVER_MS
from odradek.wire.messages.stored import MemberMetadata

if TYPE_CHECKING:
    from odradek.groups.answer import Ticket

Protocols: TypeAlias = tuple[tuple[str, bytes], ...]  # name and metadata, most preferred first


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """A request to join, with what its version means and who sent it."""

    member_id: str  # empty: a new member
    instance_id: str | None = None  # of a static member
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    fresh_id: str = ""  # nobody else's, for whoever needs a name
    needs_id_first: bool = True  # the client can join again with the id it is given (KIP-394)
    may_skip_assignment: bool = True  # the client understands a leader that is not to assign (KIP-814)


@dataclass(slots=True)
class Member:
    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    # What is not stored, because it ends with the rebalance:
    awaits_join: Ticket | None = field(default=None)
    awaits_sync: Ticket | None = field(default=None)
    deadline_ms: float = NEVER_MS  # when its session ends
    is_new: bool = False  # has not been told its id, and so cannot send heartbeats

    @staticmethod
    def of(joining: Joining, id: str) -> Member:
        return Member(
            id,
            joining.instance_id,
            joining.client_id,
            joining.client_host,
            joining.session_timeout_ms,
            joining.rebalance_timeout_ms,
            joining.protocols,
        )

    @staticmethod
    def stored(stored: MemberMetadata, protocol: str | None, known: Member | None) -> Member:
        """As the log has it. Of the protocols, only the chosen one was stored: who knows more, keeps it."""
        member = Member(
            stored.member_id,
            stored.group_instance_id,
            stored.client_id,
            stored.client_host,
            stored.session_timeout,
            stored.rebalance_timeout if stored.rebalance_timeout >= 0 else stored.session_timeout,
            ((protocol or "", stored.subscription),),
            stored.assignment,
        )
        if known is None:
            return member
        if known.metadata(protocol) == stored.subscription:
            member.protocols = known.protocols
        return replace(
            member,
            awaits_join=known.awaits_join,
            awaits_sync=known.awaits_sync,
            deadline_ms=known.deadline_ms,
            is_new=known.is_new,
        )

    def to_store(self, protocol: str | None, assignment: bytes) -> MemberMetadata:
        return MemberMetadata(
            member_id=self.id,
            group_instance_id=self.instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout=self.rebalance_timeout_ms,
            session_timeout=self.session_timeout_ms,
            subscription=self.metadata(protocol),
            assignment=assignment,
        )

    def metadata(self, protocol: str | None) -> bytes:
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def is_excused(self) -> bool:
        """It waits for others: its silence means nothing."""
        return not self.is_new and (self.awaits_join is not None or self.awaits_sync is not None)
