from __future__ import annotations

from odradek.groups.insight import insight
from odradek.groups.settings import GroupSettings
from odradek.testing.group_life import GroupLife
from odradek.wire.insight import Insight

OTHER = (("range", b"other"),)
SESSION_MS = 10_000


def stable() -> GroupLife:
    it = completing()
    it.sync(id="ann-1", generation=1, give={"ann-1": b"x", "bob-2": b"y"})
    it.sync(id="bob-2", generation=1)
    return it


def completing() -> GroupLife:
    it = GroupLife(GroupSettings(initial_rebalance_delay_ms=0))
    it.join(name="ann")
    it.join(name="bob")
    it.pass_ms(1)
    return it


def seen(it: GroupLife) -> dict[str, Insight]:
    group = it.group()
    return {each.id: insight(group, each, it.now) for each in group.members}


def awaited(it: GroupLife) -> set[str]:
    return {id for id, each in seen(it).items() if each.is_awaited}


def test_nobody_waits_for_anybody_in_a_stable_group() -> None:
    assert awaited(stable()) == set()


def test_who_has_not_joined_again_is_awaited() -> None:
    it = stable()
    it.join(id="bob-2", protocols=OTHER)
    assert awaited(it) == {"ann-1"}


def test_the_leader_is_awaited_until_it_has_said_who_gets_what() -> None:
    it = completing()
    it.sync(id="bob-2", generation=1)
    assert awaited(it) == {"ann-1"}


def test_silence_is_counted_from_the_last_sign_of_life() -> None:
    it = stable()
    it.pass_ms(3_000)
    it.heartbeat(id="ann-1", generation=1)
    it.pass_ms(2_000)
    assert seen(it) == {
        "ann-1": Insight(False, 2_000, SESSION_MS),
        "bob-2": Insight(False, 5_000, SESSION_MS),
    }


def test_who_waits_for_an_answer_is_not_silent() -> None:
    it = stable()
    it.join(id="bob-2", protocols=OTHER)
    it.pass_ms(1_000)
    assert seen(it)["bob-2"].silent_ms == -1
    assert seen(it)["ann-1"].silent_ms == 1_000
