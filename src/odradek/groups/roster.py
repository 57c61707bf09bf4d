"""Who is in a group: its members, the names of the static ones, the leader, and what all of them can do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.groups.member import Joining, Member, Protocols


@dataclass(slots=True)
class Roster:
    leader_id: str | None = None
    _members: dict[str, Member] = field(default_factory=dict)
    _by_instance: dict[str, str] = field(default_factory=dict)  # the id of each static member
    _knowing: Counter[str] = field(default_factory=Counter)  # how many members know each protocol

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, id: str) -> bool:
        return id in self._members

    def __getitem__(self, id: str) -> Member:
        return self._members[id]

    def get(self, id: str) -> Member | None:
        return self._members.get(id)

    def id_of(self, instance_id: str) -> str | None:
        return self._by_instance.get(instance_id)

    # -- coming and going --------------------------------------------------------------------------------

    def add(self, member: Member) -> None:
        """The first to come leads."""
        self._members[member.id] = member
        self._knowing.update(_names(member.protocols))
        if self.leader_id is None:
            self.leader_id = member.id
        if member.instance_id is not None:
            self._by_instance[member.instance_id] = member.id

    def remove(self, member: Member) -> None:
        del self._members[member.id]
        self._knowing.subtract(_names(member.protocols))
        if member.instance_id is not None:
            del self._by_instance[member.instance_id]
        if member.id == self.leader_id:
            self.leader_id = next(iter(self._members), None)

    def rejoin(self, member: Member, joining: Joining) -> None:
        """With what it can do now."""
        self._knowing.subtract(_names(member.protocols))
        member.session_timeout_ms = joining.session_timeout_ms
        member.rebalance_timeout_ms = joining.rebalance_timeout_ms
        member.protocols = joining.protocols
        self._knowing.update(_names(member.protocols))

    def rename(self, member: Member, id: str) -> Member:
        """A static member came back under a new id; nobody waits any more under the old one."""
        renamed = replace(member, id=id, awaits_join=None, awaits_sync=None)
        del self._members[member.id]
        self._members[id] = renamed
        if member.id == self.leader_id:
            self.leader_id = id
        assert member.instance_id is not None
        self._by_instance[member.instance_id] = id
        return renamed

    # -- together ----------------------------------------------------------------------------------------

    @property
    def all_await_join(self) -> bool:
        return all(member.awaits_join is not None for member in self)

    @property
    def rebalance_timeout_ms(self) -> int:
        """As long as the slowest of them may take."""
        return max((member.rebalance_timeout_ms for member in self), default=0)

    def elect_joined(self) -> bool:
        """See that a member leads that has joined again; False if none has."""
        leader = self._members.get(self.leader_id or "")
        if leader is None or leader.awaits_join is None:
            leader = next((member for member in self if member.awaits_join is not None), None)
        if leader is None:
            return False
        self.leader_id = leader.id
        return True

    def understands_one_of(self, protocols: Protocols) -> bool:
        """Is there a protocol among these that every member knows?"""
        return any(self._is_common(name) for name, _ in protocols)

    def chosen_protocol(self) -> str:
        """Of those that all know, the one that most like best."""
        votes = Counter(
            next(name for name, _ in member.protocols if self._is_common(name)) for member in self
        )
        return votes.most_common(1)[0][0]

    def _is_common(self, protocol: str) -> bool:
        return self._knowing[protocol] == len(self)


def _names(protocols: Protocols) -> set[str]:
    return {name for name, _ in protocols}
