"""Whatever members, transactions, clocks and disks do, in whatever order: the laws of a group's life hold."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.groups.answer import Ticket
from odradek.groups.group import State
from odradek.groups.settings import GroupSettings
from odradek.testing.group_life import GroupLife
from odradek.wire.messages.groups import JoinGroupResponse, SyncGroupResponse

MEMBERS_MAX = 4
names = st.sampled_from(["ann", "bob", "cec"])
instances = st.sampled_from([None, None, "a", "b"])
protocols = st.sampled_from([(("range", b"m"),), (("range", b"n"), ("sticky", b"")), (("sticky", b"m"),)])
producers = st.sampled_from([7, 8])
partitions = st.integers(0, 1)
timeouts_ms = st.sampled_from([6_000, 9_000, 20_000])


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        delay_ms = 3_000
        self.life = GroupLife(GroupSettings(initial_rebalance_delay_ms=delay_ms, members_max=MEMBERS_MAX))
        self.ids: list[str] = ["nobody"]  # that were ever given out
        self.generation = 0
        self.synced: dict[Ticket, tuple[str, int]] = {}  # who asked for its assignment, in which generation

    def some_id(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(self.ids))

    def some_generation(self, data: st.DataObject) -> int:
        return self.generation - data.draw(st.sampled_from([0, 0, 0, 1]))

    # -- members ---------------------------------------------------------------------------------------------

    @rule(
        name=names,
        instance=instances,
        can=protocols,
        version=st.sampled_from([3, 4, 9]),
        waits_ms=timeouts_ms,
    )
    def join_as_new(
        self, name: str, instance: str | None, can: tuple[tuple[str, bytes], ...], version: int, waits_ms: int
    ) -> None:
        self.life.join(name=name, instance=instance, protocols=can, version=version, rebalance_ms=waits_ms)

    @rule(data=st.data(), instance=instances, can=protocols, session_ms=timeouts_ms)
    def join_again(
        self, data: st.DataObject, instance: str | None, can: tuple[tuple[str, bytes], ...], session_ms: int
    ) -> None:
        self.life.join(id=self.some_id(data), instance=instance, protocols=can, session_ms=session_ms)

    @rule(data=st.data(), instance=instances)
    def sync(self, data: st.DataObject, instance: str | None) -> None:
        generation = self.some_generation(data)
        given = {id: f"{id} in {generation}".encode() for id in self.ids}
        id = self.some_id(data)
        ticket = self.life.sync(id=id, instance=instance, generation=generation, give=given)
        self.synced[ticket] = (id, generation)

    @rule(data=st.data())
    def heartbeat(self, data: st.DataObject) -> None:
        self.life.heartbeat(id=self.some_id(data), generation=self.some_generation(data))

    @rule(data=st.data(), instance=instances)
    def leave(self, data: st.DataObject, instance: str | None) -> None:
        self.life.leave(id=data.draw(st.sampled_from(["", self.some_id(data)])), instance=instance)

    # -- offsets ---------------------------------------------------------------------------------------------

    @rule(data=st.data(), partition=partitions, offset=st.integers(0, 9))
    def commit(self, data: st.DataObject, partition: int, offset: int) -> None:
        id, generation = data.draw(st.sampled_from([("", -1), (self.some_id(data), self.generation)]))
        self.life.commit(offset, partition=partition, id=id, generation=generation)

    @rule(partition=partitions, offset=st.integers(10, 19), producer_id=producers)
    def commit_in_a_transaction(self, partition: int, offset: int, producer_id: int) -> None:
        self.life.commit(offset, partition=partition, producer_id=producer_id)

    @rule(producer_id=producers, committed=st.booleans())
    def decide(self, producer_id: int, committed: bool) -> None:
        self.life.decide(producer_id, committed=committed)

    # -- the broker ------------------------------------------------------------------------------------------

    @rule(wait_ms=st.sampled_from([1, 1_000, 5_000, 10_000, 40_000]))
    def time_passes(self, wait_ms: int) -> None:
        self.life.pass_ms(wait_ms)

    @rule()
    def expire(self) -> None:
        self.life.expire()

    @rule()
    def delete(self) -> None:
        self.life.delete()

    @rule(refuses=st.booleans())
    def the_disk_changes_its_mind(self, refuses: bool) -> None:
        self.life.refuses_writes = refuses

    @precondition(lambda self: not self.life.refuses_writes)
    @rule()
    def another_broker_takes_over(self) -> None:
        self.life.reload()

    # -- laws ------------------------------------------------------------------------------------------------

    @invariant()
    def the_laws_of_a_life_hold(self) -> None:
        self.life.check()

    @invariant()
    def what_was_told_is_learnt(self) -> None:
        for response in self.life.answers.values():
            if isinstance(response, JoinGroupResponse) and response.member_id not in ("", *self.ids):
                self.ids.append(response.member_id)
        group = self.life.shard.find("g")
        self.generation = 0 if group is None else group.generation

    @invariant()
    def everybody_is_given_its_own(self) -> None:
        """What the leader of that very generation gave to this very member."""
        for ticket, (id, generation) in self.synced.items():
            response = self.life.answers.get(ticket)
            if isinstance(response, SyncGroupResponse) and response.error_code == 0:
                assert response.assignment in (b"", f"{id} in {generation}".encode())

    @invariant()
    def an_assignment_is_of_its_generation(self) -> None:
        group = self.life.shard.find("g")
        if group is not None and group.state is State.STABLE:
            for member in group.members:
                assert not member.assignment or member.assignment.endswith(f" in {group.generation}".encode())

    def teardown(self) -> None:
        """In the end everybody who waits is answered."""
        self.life.pass_ms(1_000_000)
        assert not self.life.waiting


TestLives = Life.TestCase
TestLives.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
