"""How members fare is told to who asks for it, and to nobody else."""

from __future__ import annotations

from itertools import count

import pytest

from odradek.testing.conversation import Conversation
from odradek.wire.insight import Insight, asking, told
from odradek.wire.messages.groups import (
    DescribedMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    JoinGroupProtocol,
    JoinGroupRequest,
)
from odradek.wire.messages.metadata import FindCoordinatorRequest
from odradek.wire.schema import unknown_tags

_numbers = count()


@pytest.fixture
def group(client: Conversation) -> str:
    """It has a member that is to say who gets what."""
    client.ask(FindCoordinatorRequest(coordinator_keys=("g",)), 4)
    id = f"fares-{next(_numbers)}"
    request = JoinGroupRequest(
        group_id=id,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        member_id="",
        protocol_type="consumer",
        protocols=(JoinGroupProtocol(name="range", metadata=b"meta"),),
    )
    client.ask(request, 3)
    return id


def member(client: Conversation, request: DescribeGroupsRequest, version: int) -> DescribedMember:
    answer = client.ask(request, version)
    assert isinstance(answer, DescribeGroupsResponse)
    (found,) = answer.groups[0].members
    return found


@pytest.mark.parametrize("version", [5, 6])
def test_who_asks_is_told(client: Conversation, group: str, version: int) -> None:
    insight = told(member(client, asking(DescribeGroupsRequest(groups=(group,))), version))
    assert insight is not None
    assert insight._replace(silent_ms=0) == Insight(is_awaited=True, silent_ms=0, session_timeout_ms=10_000)
    assert 0 <= insight.silent_ms < 10_000


@pytest.mark.parametrize("version", range(7))
def test_who_does_not_ask_sees_what_kafka_says(client: Conversation, group: str, version: int) -> None:
    assert unknown_tags(member(client, DescribeGroupsRequest(groups=(group,)), version)) == ()


@pytest.mark.parametrize("version", range(5))
def test_old_versions_have_no_place_for_it(client: Conversation, group: str, version: int) -> None:
    assert told(member(client, asking(DescribeGroupsRequest(groups=(group,))), version)) is None
