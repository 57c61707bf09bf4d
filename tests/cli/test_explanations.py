"""What is said of findings that a single healthy broker does not lead to."""

from __future__ import annotations

import pytest

from odradek.cli.explanations import Findings, Reason, reasons, summary
from odradek.cli.formats.groups import Progress
from odradek.model.ids import Partition
from odradek.wire.insight import Insight, telling
from odradek.wire.messages.groups import DescribedGroup, DescribedMember

ORDERS = Partition("orders", 0)


def member(id: str, insight: Insight | None = None) -> DescribedMember:
    made = DescribedMember(
        member_id=id, client_id="c", client_host="/10.0.0.1", member_metadata=b"", member_assignment=b""
    )
    return made if insight is None else telling(made, insight)


def group(*members: DescribedMember, state: str = "Stable") -> DescribedGroup:
    return DescribedGroup(
        error_code=0,
        group_id="readers",
        group_state=state,
        protocol_type="consumer",
        protocol_data="range",
        members=members,
    )


def said(found: Findings) -> list[str]:
    return [each.said for each in reasons(found)]


def test_a_partition_without_a_leader_is_told() -> None:
    assert said(Findings(group=group(member("a")), leaderless=[ORDERS])) == [
        "orders-0 has no leader: nobody can read it, or write to it."
    ]


def test_a_topic_that_is_gone_is_told() -> None:
    assert said(Findings(group=group(member("a")), missing=[ORDERS])) == [
        "orders-0 is not there any more, though the group has an offset for it."
    ]


def test_what_may_not_be_seen_comes_first() -> None:
    found = Findings(group=group(), forbidden=["Whoever asks here is not authorised to see orders."])
    assert next(reasons(found)) == Reason(
        "not-authorised", "Whoever asks here is not authorised to see orders."
    )


def test_a_broker_that_does_not_tell_is_not_guessed_at() -> None:
    assert said(Findings(group=group(member("a"), state="PreparingRebalance"))) == [
        "It is rebalancing; its broker does not tell for whom it waits."
    ]


def test_the_leader_is_waited_for_to_assign() -> None:
    leader = member("a", Insight(is_awaited=True, silent_ms=100, session_timeout_ms=10_000))
    other = member("b", Insight(is_awaited=False, silent_ms=-1, session_timeout_ms=10_000))
    (told,) = said(Findings(group=group(leader, other, state="CompletingRebalance")))
    assert told.startswith("It is rebalancing, and waits for member a (client c on 10.0.0.1) to say who gets")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(4, "4 s"), (61, "1 min 1 s"), (3_600, "1 h 0 min"), (90_061, "1 d 1 h")],
)
def test_ages_are_told_in_two_units(seconds: float, told: str) -> None:
    found = Findings(group=group(member("a")), progress={ORDERS: Progress(1, 2, seconds)})
    assert (
        summary(found) == f"Group readers: Stable, 1 member, 1 record behind, the oldest of them {told} old."
    )
