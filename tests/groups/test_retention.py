"""Offsets are forgotten when nobody has had use for them in a while, and not before."""

from __future__ import annotations

from odradek.groups.group import State
from odradek.groups.settings import GroupSettings
from odradek.groups.subscription import subscribed_topics
from odradek.model.errors import ErrorCode
from odradek.testing.group_life import GroupLife
from odradek.wire.codec import encode
from odradek.wire.messages.payloads import ConsumerProtocolSubscription

RETENTION_MS = 60_000
SUBSCRIBED_TO_T = b"\0\1" + encode(ConsumerProtocolSubscription(topics=("t",)), 1)


def life() -> GroupLife:
    return GroupLife(GroupSettings(initial_rebalance_delay_ms=0, retention_ms=RETENTION_MS))


def consumers(session_ms: int = 10_000) -> GroupLife:
    """One consumer of `t`, assigned."""
    it = life()
    it.join(protocols=(("range", SUBSCRIBED_TO_T),), session_ms=session_ms)
    it.pass_ms(1)
    it.sync(id="ann-1", give={})
    return it


def test_what_was_committed_without_members_is_kept_from_the_commit() -> None:
    it = life()
    it.commit(5)
    it.pass_ms(RETENTION_MS - 1)
    it.expire()
    assert it.committed() == 5
    it.pass_ms(1)
    it.expire()
    assert it.committed() is None
    assert it.state() is State.DEAD


def test_a_commit_prolongs_what_it_replaces() -> None:
    it = life()
    it.commit(5)
    it.pass_ms(RETENTION_MS - 1)
    it.commit(6)
    it.pass_ms(RETENTION_MS - 1)
    it.expire()
    assert it.committed() == 6


def test_of_a_group_that_had_members_all_is_kept_from_when_it_became_empty() -> None:
    it = consumers()
    it.commit(5, id="ann-1", generation=1)
    it.pass_ms(9_999)
    it.leave(id="ann-1")
    it.pass_ms(RETENTION_MS - 1)
    it.expire()
    assert it.committed() == 5
    it.pass_ms(1)
    it.expire()
    assert it.state() is State.DEAD
    it.reload()
    assert it.state() is State.DEAD


def test_consumers_keep_what_they_read_and_lose_what_they_do_not() -> None:
    it = consumers(session_ms=1_000_000)
    it.commit(5, id="ann-1", generation=1)
    it.commit(6, topic="u", id="ann-1", generation=1)
    it.pass_ms(RETENTION_MS)
    it.expire()
    assert (it.committed(), it.committed(topic="u")) == (5, None)
    it.join(name="bob")
    it.commit(7, topic="u", id="ann-1", generation=1)
    it.pass_ms(RETENTION_MS)
    it.expire()
    assert it.committed(topic="u") == 7, "nobody knows what is read while the group rebalances"


def test_of_members_that_do_not_say_what_they_read_nothing_is_forgotten() -> None:
    it = life()
    it.join(session_ms=1_000_000)
    it.pass_ms(1)
    it.sync(id="ann-1", give={})
    it.commit(5, id="ann-1", generation=1)
    it.pass_ms(RETENTION_MS)
    it.expire()
    assert it.committed() == 5


def test_what_was_given_a_time_of_its_own_keeps_to_it() -> None:
    it = life()
    it.commit(5, expires_ms=it.now.wall_ms + 10)
    it.commit(6, partition=1, expires_ms=it.now.wall_ms + 10 * RETENTION_MS)
    it.pass_ms(10)
    it.expire()
    assert it.committed() is None
    it.pass_ms(5 * RETENTION_MS)
    it.expire()
    assert it.committed(partition=1) == 6


def test_what_is_pending_is_kept_until_it_is_decided() -> None:
    it = life()
    it.commit(5)
    it.commit(6, producer_id=7)
    it.pass_ms(RETENTION_MS)
    it.expire()
    assert it.committed() == 5
    it.decide(7, committed=False)
    it.expire()
    assert it.committed() is None


def test_an_empty_group_without_offsets_goes_and_leaves_a_tombstone_if_it_was_stored() -> None:
    it = life()
    it.join(version=4)
    before = len(it.log)
    it.expire()
    assert it.state() is State.DEAD
    assert len(it.log) == before
    it = consumers()
    it.leave(id="ann-1")
    it.expire()
    assert it.state() is State.DEAD
    it.reload()
    assert it.state() is State.DEAD


def test_deleted_topics_are_forgotten_at_once() -> None:
    it = consumers()
    it.commit(5, id="ann-1", generation=1)
    it.commit(6, topic="u", id="ann-1", generation=1)
    it.commit(7, "h", topic="u")
    for outcome in it.shard.forget_topics({"u"}):
        it.write(outcome.records)
    assert (it.committed(), it.committed(topic="u"), it.state("h")) == (5, None, State.DEAD)


def test_a_group_that_was_never_stored_is_deleted_without_a_trace() -> None:
    it = life()
    it.join(version=4)
    assert it.delete() is ErrorCode.NONE
    assert it.state() is State.DEAD
    assert it.log == []


def test_a_refused_join_leaves_no_group_behind() -> None:
    it = life()
    it.join(protocols=())
    assert it.state() is State.DEAD


def test_topics_are_read_from_subscriptions_of_any_version() -> None:
    newer = b"\0\x63" + encode(ConsumerProtocolSubscription(topics=("t",)), 3) + b"what comes to be added"
    oldest = b"\0\0" + encode(ConsumerProtocolSubscription(topics=("u",)), 0)
    assert subscribed_topics([SUBSCRIBED_TO_T, oldest]) == frozenset({"t", "u"})
    assert subscribed_topics([newer]) == frozenset({"t"})
    assert subscribed_topics([b""]) is None
    assert subscribed_topics([b"\0\1garbage"]) is None
    assert subscribed_topics([]) == frozenset()
