"""What Metadata promises beyond its answers, which tests/compatibility/ compares with Kafka's."""

from __future__ import annotations

import pytest

from odradek.broker.topics import PARTITIONS_A_REQUEST_MAX
from odradek.model.errors import ErrorCode
from odradek.testing.conversation import Conversation
from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

NO_ID, SOME_ID = bytes(16), bytes([1]) * 16


def ask(client: Conversation, version: int, *topics: MetadataRequestTopic) -> MetadataResponse:
    answer = client.ask(MetadataRequest(topics=topics), version)
    assert isinstance(answer, MetadataResponse)
    return answer


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize(("name", "id"), [(None, NO_ID), (None, SOME_ID), ("named", SOME_ID)])
def test_versions_that_can_say_an_id_and_may_not(
    client: Conversation, version: int, name: str | None, id: bytes
) -> None:
    """Kafka refuses the whole request, in words that a name without a value has room in."""
    good = MetadataRequestTopic(name="good")
    answer = ask(client, version, MetadataRequestTopic(name=name, topic_id=id), good)
    refused = ErrorCode.INVALID_REQUEST.code
    assert [(each.error_code, each.name, each.topic_id) for each in answer.topics] == [
        (refused, name or "", id),
        (refused, "good", NO_ID),
    ]


def test_looking_for_very_many_topics_makes_none_of_them(client: Conversation) -> None:
    names = [f"looked-for-{number}" for number in range(PARTITIONS_A_REQUEST_MAX + 1)]
    answer = ask(client, 12, *(MetadataRequestTopic(name=name) for name in names))
    assert {each.error_code for each in answer.topics} == {ErrorCode.POLICY_VIOLATION.code}
    assert len(ask(client, 12, MetadataRequestTopic(name=names[0])).topics[0].partitions) == 1
