"""What membership requests promise in each of their versions. Who may do what when is in tests/groups/, and
recorded from Kafka in tests/transcripts/."""

from __future__ import annotations

from itertools import count

import pytest

from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.groups import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    ListGroupsRequest,
    ListGroupsResponse,
    SyncGroupAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)
from odradek.wire.messages.metadata import FindCoordinatorRequest

_numbers = count()


@pytest.fixture
def group(client: Conversation) -> str:
    """A name nobody has used, with a coordinator that is ready."""
    client.ask(FindCoordinatorRequest(coordinator_keys=("g",)), 4)
    return f"group-{next(_numbers)}"


def join(client: Conversation, group: str, version: int = 3, member_id: str = "") -> JoinGroupResponse:
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=(JoinGroupProtocol(name="range", metadata=b"meta"),),
    )
    response = client.ask(request, version)
    assert isinstance(response, JoinGroupResponse)
    return response


def sync(client: Conversation, group: str, member_id: str, version: int = 5) -> SyncGroupResponse:
    request = SyncGroupRequest(
        group_id=group,
        generation_id=1,
        member_id=member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=(SyncGroupAssignment(member_id=member_id, assignment=b"all"),),
    )
    response = client.ask(request, version)
    assert isinstance(response, SyncGroupResponse)
    return response


@pytest.mark.parametrize("version", range(10))
def test_a_member_joins_in_every_version(client: Conversation, group: str, version: int) -> None:
    joined = join(client, group, version)
    if version >= 4:
        assert ErrorCode.of(joined.error_code) is ErrorCode.MEMBER_ID_REQUIRED
        joined = join(client, group, version, joined.member_id)
    assert joined.member_id.startswith("test-")
    assert (joined.error_code, joined.generation_id, joined.leader) == (0, 1, joined.member_id)
    assert (joined.protocol_name, joined.protocol_type) == ("range", "consumer" if version >= 7 else None)
    assert [(each.member_id, each.metadata) for each in joined.members] == [(joined.member_id, b"meta")]


@pytest.mark.parametrize("version", range(10))
def test_who_is_refused_is_told_of_no_protocol(client: Conversation, group: str, version: int) -> None:
    joined = join(client, group, version, "nobody")
    assert ErrorCode.of(joined.error_code) is ErrorCode.UNKNOWN_MEMBER_ID
    assert (joined.member_id, joined.generation_id, joined.members) == ("nobody", -1, ())
    assert joined.protocol_name == (None if version >= 7 else "")


def test_before_v1_the_session_is_the_time_to_join_again_as_well(client: Conversation, group: str) -> None:
    member_id = join(client, group, 0).member_id
    sync(client, group, member_id)
    with Broker() as broker, Conversation(broker.bootstrap) as other:
        other.ask(FindCoordinatorRequest(coordinator_keys=("g",)), 4)
        join(other, "g", 0)
        (member,) = broker.node.services.groups.hosting("g").shard.find("g").members  # type: ignore[union-attr]
        assert member.rebalance_timeout_ms == member.session_timeout_ms == 10_000


@pytest.mark.parametrize("version", range(6))
def test_a_member_gets_its_assignment_in_every_version(
    client: Conversation, group: str, version: int
) -> None:
    member_id = join(client, group).member_id
    synced = sync(client, group, member_id, version)
    assert (synced.error_code, synced.assignment) == (0, b"all")
    assert (synced.protocol_type, synced.protocol_name) == (
        ("consumer", "range") if version >= 5 else (None, None)
    )


def test_from_v5_a_member_says_which_protocol_it_syncs_for(client: Conversation, group: str) -> None:
    member_id = join(client, group).member_id
    request = SyncGroupRequest(group_id=group, generation_id=1, member_id=member_id, assignments=())
    synced = client.ask(request, 5)
    assert isinstance(synced, SyncGroupResponse)
    assert ErrorCode.of(synced.error_code) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("version", range(5))
def test_a_heartbeat_is_answered_in_every_version(client: Conversation, group: str, version: int) -> None:
    member_id = join(client, group).member_id
    for generation, expected in ((1, ErrorCode.NONE), (0, ErrorCode.ILLEGAL_GENERATION)):
        request = HeartbeatRequest(group_id=group, generation_id=generation, member_id=member_id)
        response = client.ask(request, version)
        assert isinstance(response, HeartbeatResponse)
        assert ErrorCode.of(response.error_code) is expected


@pytest.mark.parametrize("version", range(6))
def test_a_member_leaves_in_every_version(client: Conversation, group: str, version: int) -> None:
    member_id = join(client, group).member_id
    request = LeaveGroupRequest(
        group_id=group, member_id=member_id, members=(LeavingMember(member_id=member_id),)
    )
    for expected in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID):
        response = client.ask(request, version)
        assert isinstance(response, LeaveGroupResponse)
        if version >= 3:
            assert response.error_code == 0
            assert [(each.member_id, each.error_code) for each in response.members] == [
                (member_id, expected.code)
            ]
        else:
            assert (response.error_code, response.members) == (expected.code, ())


@pytest.mark.parametrize("version", range(7))
def test_a_group_is_described_in_every_version(client: Conversation, group: str, version: int) -> None:
    member_id = join(client, group).member_id
    sync(client, group, member_id)
    request = DescribeGroupsRequest(groups=(group, "nobody's"), include_authorized_operations=version >= 3)
    response = client.ask(request, version)
    assert isinstance(response, DescribeGroupsResponse)
    there, absent = response.groups
    (member,) = there.members
    assert (there.group_state, there.protocol_type, there.protocol_data) == ("Stable", "consumer", "range")
    assert (member.member_id, member.client_id, member.client_host) == (member_id, "test", "/127.0.0.1")
    assert (member.member_metadata, member.member_assignment) == (b"meta", b"all")
    assert there.authorized_operations == (328 if version >= 3 else -(2**31))
    assert (absent.group_state, absent.members) == ("Dead", ())
    expected = ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else ErrorCode.NONE
    assert ErrorCode.of(absent.error_code) is expected
    assert absent.error_message == ("Group nobody's not found." if version >= 6 else None)


@pytest.mark.parametrize("version", range(6))
def test_groups_are_listed_in_every_version(client: Conversation, group: str, version: int) -> None:
    join(client, group)

    def listed(**filters: tuple[str, ...]) -> list[tuple[str, str, str]]:
        response = client.ask(ListGroupsRequest(**filters), version)
        assert isinstance(response, ListGroupsResponse)
        assert response.error_code == 0
        return [
            (each.protocol_type, each.group_state, each.group_type)
            for each in response.groups
            if each.group_id == group
        ]

    state = "CompletingRebalance" if version >= 4 else ""
    expected = [("consumer", state, "classic" if version >= 5 else "")]
    assert listed() == expected
    if version >= 4:
        assert listed(states_filter=("Stable", "completingREBALANCE")) == expected
        assert listed(states_filter=("Stable",)) == []
    if version >= 5:
        assert listed(types_filter=("Classic",)) == expected
        assert listed(types_filter=("consumer",)) == []


@pytest.mark.parametrize("version", range(4))
def test_groups_are_deleted_in_every_version(client: Conversation, group: str, version: int) -> None:
    member_id = join(client, group).member_id

    def deleted() -> list[tuple[str, ErrorCode]]:
        response = client.ask(DeleteGroupsRequest(groups_names=(group, "nobody's", group)), version)
        assert isinstance(response, DeleteGroupsResponse)
        return [(each.group_id, ErrorCode.of(each.error_code)) for each in response.results]

    nobodys = ("nobody's", ErrorCode.GROUP_ID_NOT_FOUND)
    assert deleted() == [(group, ErrorCode.NON_EMPTY_GROUP), nobodys]
    client.ask(LeaveGroupRequest(group_id=group, member_id=member_id), 2)
    assert deleted() == [(group, ErrorCode.NONE), nobodys]
    assert deleted() == [(group, ErrorCode.GROUP_ID_NOT_FOUND), nobodys]


@pytest.mark.slow  # a second for the broker to stop
def test_who_waits_when_the_broker_stops_is_sent_elsewhere() -> None:
    with Broker() as broker, Conversation(broker.bootstrap) as ann, Conversation(broker.bootstrap) as bob:
        ann.ask(FindCoordinatorRequest(coordinator_keys=("g",)), 4)
        join(ann, "g")
        request = JoinGroupRequest(
            group_id="g",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
            member_id="",
            protocol_type="consumer",
            protocols=(JoinGroupProtocol(name="range", metadata=b"meta"),),
        )
        waiting = bob.send(request, 3)
        broker.stop()
        joined = bob.answer(waiting, 3)
        assert isinstance(joined, JoinGroupResponse)
        assert ErrorCode.of(joined.error_code) is ErrorCode.NOT_COORDINATOR
