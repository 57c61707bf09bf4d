"""What a leader promises about the high watermark and the in-sync set."""

from __future__ import annotations

import itertools
import random

import pytest

from odradek.model.ids import BrokerId
from odradek.replication.leader import HighWatermarkAdvanced, IsrProposed, LeaderReplica, Progress

ONE, TWO, THREE = BrokerId(1), BrokerId(2), BrokerId(3)


def leader_of(isr: set[BrokerId], *, log_end: int = 0, high_watermark: int = 0) -> LeaderReplica:
    return LeaderReplica(
        self_id=ONE,
        epoch=4,
        epoch_start=log_end,
        isr=frozenset(isr),
        followers={TWO: Progress(), THREE: Progress()},
        lag_ms_max=50,
        log_end=log_end,
        high_watermark=high_watermark,
    )


def test_a_leader_alone_commits_what_it_appends() -> None:
    leader = leader_of({ONE})
    assert leader.appended(7) == [HighWatermarkAdvanced(7)]
    assert leader.high_watermark == 7


def test_a_leader_with_a_silent_follower_commits_nothing() -> None:
    leader = leader_of({ONE, TWO})
    assert leader.appended(7) == []
    assert leader.high_watermark == 0


def test_a_follower_joins_only_once_it_holds_what_this_epoch_began_with() -> None:
    leader = leader_of({ONE, THREE}, log_end=10, high_watermark=4)
    assert leader.fetched(TWO, 9, now_ms=0) == []
    assert leader.fetched(TWO, 10, now_ms=0) == [IsrProposed(frozenset({ONE, TWO, THREE}))]


def test_a_proposed_member_is_waited_for_before_the_controller_answers() -> None:
    leader = leader_of({ONE}, log_end=10, high_watermark=10)
    leader.fetched(TWO, 10, now_ms=0)
    assert leader.appended(12) == []
    assert leader.isr_decided(frozenset({ONE, TWO})) == []
    assert leader.fetched(TWO, 12, now_ms=1) == [HighWatermarkAdvanced(12)]


def test_a_refused_proposal_may_be_made_again() -> None:
    leader = leader_of({ONE, TWO}, log_end=1)
    assert leader.ticked(now_ms=51) == [IsrProposed(frozenset({ONE}))]
    assert leader.ticked(now_ms=52) == []
    leader.proposal_refused()
    assert leader.ticked(now_ms=53) == [IsrProposed(frozenset({ONE}))]


@pytest.mark.parametrize("isr", [{ONE}, {ONE, TWO}, {ONE, THREE}, {ONE, TWO, THREE}])
def test_every_progress_of_two_followers(isr: set[BrokerId]) -> None:
    """Exhaustive over log ends 0-3 of each: the watermark is what all in sync hold, and never more."""
    for mine, second, third in itertools.product(range(4), repeat=3):
        leader = leader_of(isr)
        leader.appended(mine)
        for follower, offset in ((TWO, second), (THREE, third)):
            if follower in isr and offset <= mine:
                leader.fetched(follower, offset, now_ms=0)
        ends = {ONE: mine, TWO: second if second <= mine else 0, THREE: third if third <= mine else 0}
        assert leader.high_watermark == min(ends[broker] for broker in isr)


@pytest.mark.simulation(seeds=300)
def test_the_high_watermark_is_held_by_all_in_sync(seed: int) -> None:
    rng = random.Random(seed)
    leader = leader_of({ONE, TWO, THREE})
    copies: dict[BrokerId, int] = {TWO: 0, THREE: 0}
    asked: list[frozenset[BrokerId]] = []
    now = 0
    for _ in range(200):
        now += rng.randrange(20)
        before = leader.high_watermark
        match rng.choice(["append", "fetch", "fetch", "tick", "decide", "refuse"]):
            case "append":
                effects = leader.appended(leader.log_end + rng.randrange(1, 4))
            case "fetch":
                follower = rng.choice([TWO, THREE])
                effects = leader.fetched(follower, copies[follower], now)
                if rng.random() < 0.7:  # the answer may be lost
                    copies[follower] = leader.log_end
            case "tick":
                effects = leader.ticked(now)
            case "decide" if asked:
                effects = leader.isr_decided(asked.pop(0))
            case "refuse" if asked:
                asked.pop(0)
                effects = leader.proposal_refused()
            case _:
                effects = []
        asked += [effect.isr for effect in effects if isinstance(effect, IsrProposed)]
        assert leader.high_watermark >= before
        held = [copies[broker] for broker in leader.isr - {ONE}]
        assert leader.high_watermark <= min([leader.log_end, *held])
        assert len(asked) <= 1
