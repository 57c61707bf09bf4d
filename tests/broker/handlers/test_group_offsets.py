"""What requests about offsets promise in each of their versions."""

from __future__ import annotations

from itertools import count

import pytest

from odradek.groups.offsets import Place
from odradek.model.errors import ErrorCode
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.group_offsets import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
    OffsetDeletePartition,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
    OffsetFetchTopicResponse,
)
from odradek.wire.messages.metadata import (
    FindCoordinatorRequest,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

BY_ID_SINCE = 10
NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_numbers = count()


@pytest.fixture
def group(client: Conversation) -> str:
    client.ask(FindCoordinatorRequest(coordinator_keys=("g",)), 4)
    return f"offsets-{next(_numbers)}"


def id_of(client: Conversation, topic: str) -> bytes:
    known = client.ask(MetadataRequest(topics=(MetadataRequestTopic(name=topic),)), 12)
    assert isinstance(known, MetadataResponse)
    return known.topics[0].topic_id


def part(number: int, offset: int, note: str | None = None, *, epoch: int = -1) -> OffsetCommitPartition:
    return OffsetCommitPartition(
        partition_index=number,
        committed_offset=offset,
        committed_leader_epoch=epoch,
        committed_metadata=note,
    )


def commit(
    client: Conversation, group: str, topic: str, *parts: OffsetCommitPartition, version: int = 9
) -> list[ErrorCode]:
    by_id = version >= BY_ID_SINCE
    wanted = OffsetCommitTopic(
        name="" if by_id else topic,
        topic_id=id_of(client, topic) if by_id else bytes(16),
        partitions=parts,
    )
    response = client.ask(OffsetCommitRequest(group_id=group, topics=(wanted,)), version)
    assert isinstance(response, OffsetCommitResponse)
    (answered,) = response.topics
    assert (answered.name, answered.topic_id) == (wanted.name, wanted.topic_id)
    assert [each.partition_index for each in answered.partitions] == [each.partition_index for each in parts]
    return [ErrorCode.of(each.error_code) for each in answered.partitions]


def fetch(
    client: Conversation, group: str, topic: str | None, *numbers: int, version: int = 9
) -> tuple[OffsetFetchTopicResponse, ...]:
    """Without a topic: of all."""
    wanted = None
    if topic is not None:
        by_id = version >= BY_ID_SINCE
        wanted = (
            OffsetFetchTopic(
                name="" if by_id else topic,
                topic_id=id_of(client, topic) if by_id else bytes(16),
                partition_indexes=numbers,
            ),
        )
    request = OffsetFetchRequest(
        group_id=group, topics=wanted, groups=(OffsetFetchGroup(group_id=group, topics=wanted),)
    )
    response = client.ask(request, version)
    assert isinstance(response, OffsetFetchResponse)
    if version >= 8:
        assert response.groups[0].error_code == 0
        return response.groups[0].topics
    assert response.error_code == 0
    return response.topics


@pytest.mark.parametrize("version", range(1, 11))
def test_offsets_are_committed_in_every_version(
    client: Conversation, group: str, topic: str, version: int
) -> None:
    assert commit(client, group, topic, part(0, 5, "here", epoch=3), version=version) == [NONE]
    ((found,),) = (each.partitions for each in fetch(client, group, topic, 0))
    epoch = 3 if version >= 6 else -1
    assert (found.committed_offset, found.metadata, found.committed_leader_epoch) == (5, "here", epoch)


@pytest.mark.parametrize("version", range(1, 11))
def test_offsets_are_fetched_in_every_version(
    client: Conversation, group: str, topic: str, version: int
) -> None:
    commit(client, group, topic, part(0, 5, epoch=3))
    ((found, absent),) = (each.partitions for each in fetch(client, group, topic, 0, 7, version=version))
    epoch = 3 if version >= 5 else -1
    assert (found.committed_offset, found.committed_leader_epoch, found.metadata) == (5, epoch, "")
    assert (absent.committed_offset, absent.metadata, absent.error_code) == (-1, "", 0)


@pytest.mark.parametrize("version", range(2, 11))
def test_all_offsets_of_a_group_are_fetched(
    client: Conversation, group: str, topic: str, version: int
) -> None:
    commit(client, group, topic, part(0, 5))
    (found,) = fetch(client, group, None, version=version)
    assert [each.committed_offset for each in found.partitions] == [5]
    if version >= BY_ID_SINCE:
        assert (found.name, found.topic_id) == ("", id_of(client, topic))
    else:
        assert found.name == topic


def test_what_cannot_be_committed_does_not_keep_the_rest_from_it(
    client: Conversation, group: str, topic: str
) -> None:
    longest = "ß" * 4096
    parts = part(9, 1), part(0, 2, "x" * 4097), part(0, 3, longest)
    expected = [UNKNOWN, ErrorCode.OFFSET_METADATA_TOO_LARGE, NONE]
    assert commit(client, group, topic, *parts) == expected
    ((found,),) = (each.partitions for each in fetch(client, group, topic, 0))
    assert (found.committed_offset, found.metadata) == (3, longest)
    assert commit(client, group, topic, part(0, 4, "\U0001f600" * 2049)) == [
        ErrorCode.OFFSET_METADATA_TOO_LARGE
    ]


def test_an_unknown_topic_is_told_by_name_or_id(client: Conversation, group: str) -> None:
    by_name = OffsetCommitTopic(name="nowhere", partitions=(part(0, 1),))
    by_id = OffsetCommitTopic(topic_id=b"\1" * 16, partitions=(part(0, 1),))
    for topic, version, expected in ((by_name, 9, UNKNOWN), (by_id, 10, ErrorCode.UNKNOWN_TOPIC_ID)):
        response = client.ask(OffsetCommitRequest(group_id=group, topics=(topic,)), version)
        assert isinstance(response, OffsetCommitResponse)
        assert ErrorCode.of(response.topics[0].partitions[0].error_code) is expected
    wanted = OffsetFetchGroup(
        group_id=group, topics=(OffsetFetchTopic(topic_id=b"\1" * 16, partition_indexes=(0,)),)
    )
    fetched = client.ask(OffsetFetchRequest(groups=(wanted,)), 10)
    assert isinstance(fetched, OffsetFetchResponse)
    answer = fetched.groups[0].topics[0].partitions[0].error_code
    assert ErrorCode.of(answer) is ErrorCode.UNKNOWN_TOPIC_ID


def test_a_commit_may_tell_its_time_and_how_long_it_is_to_be_kept(
    shared_broker: Broker, client: Conversation, group: str, topic: str
) -> None:
    """v1 tells when it was made, v2 to v4 for how long it counts."""

    def times() -> tuple[int, int]:
        value = shared_broker.node.services.groups.hosting(group).shard.offsets.get(Place(group, topic, 0))
        assert value is not None
        return value.commit_timestamp, value.expire_timestamp

    before_ms = shared_broker.clock.movable.wall_ms()
    told = OffsetCommitPartition(
        partition_index=0, committed_offset=5, commit_timestamp=123, committed_metadata=None
    )
    commit(client, group, topic, told, version=1)
    assert times() == (123, -1)
    wanted = OffsetCommitTopic(name=topic, partitions=(part(0, 6),))
    for version in (2, 3, 4):
        client.ask(OffsetCommitRequest(group_id=group, retention_time_ms=1000, topics=(wanted,)), version)
        made_ms, expires_ms = times()
        assert made_ms >= before_ms
        assert expires_ms == made_ms + 1000
    commit(client, group, topic, part(0, 7))
    assert times()[1] == -1


def test_many_groups_are_fetched_at_once(client: Conversation, group: str, topic: str) -> None:
    commit(client, group, topic, part(0, 5))
    groups = tuple(OffsetFetchGroup(group_id=each, topics=None) for each in ("nobody's", group))
    response = client.ask(OffsetFetchRequest(groups=groups), 8)
    assert isinstance(response, OffsetFetchResponse)
    assert [(each.group_id, len(each.topics), each.error_code) for each in response.groups] == [
        ("nobody's", 0, 0),
        (group, 1, 0),
    ]


def test_offsets_are_forgotten_on_request(client: Conversation, group: str, topic: str) -> None:
    commit(client, group, topic, part(0, 5))
    partitions = tuple(OffsetDeletePartition(partition_index=number) for number in (7, 0))
    for group_id, error, results in (
        (group, NONE, [(7, UNKNOWN), (0, NONE)]),
        (group, ErrorCode.GROUP_ID_NOT_FOUND, []),
        ("", ErrorCode.INVALID_GROUP_ID, []),
    ):
        request = OffsetDeleteRequest(
            group_id=group_id, topics=(OffsetDeleteTopic(name=topic, partitions=partitions),)
        )
        response = client.ask(request, 0)
        assert isinstance(response, OffsetDeleteResponse)
        assert ErrorCode.of(response.error_code) is error
        told = [
            (each.partition_index, ErrorCode.of(each.error_code))
            for each_topic in response.topics
            for each in each_topic.partitions
        ]
        assert told == results
    ((found,),) = (each.partitions for each in fetch(client, group, topic, 0))
    assert found.committed_offset == -1


@pytest.mark.parametrize("version", [1, 7, 9])
def test_without_a_coordinator_every_version_says_so_in_its_place(version: int) -> None:
    """Nobody has asked for the coordinator yet, so there is no topic to keep offsets in."""
    with Broker() as broker, Conversation(broker.bootstrap) as client:
        client.ask(MetadataRequest(topics=(MetadataRequestTopic(name="t"),)), 12)
        assert commit(client, "g", "t", part(0, 5)) == [ErrorCode.NOT_COORDINATOR]
        topics = (OffsetFetchTopic(name="t", partition_indexes=(0,)),)
        request = OffsetFetchRequest(
            group_id="g", topics=topics, groups=(OffsetFetchGroup(group_id="g", topics=topics),)
        )
        response = client.ask(request, version)
        assert isinstance(response, OffsetFetchResponse)
        if version == 1:
            error = response.topics[0].partitions[0].error_code
        else:
            error = response.groups[0].error_code if version >= 8 else response.error_code
        assert ErrorCode.of(error) is ErrorCode.NOT_COORDINATOR
