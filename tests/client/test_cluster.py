"""Requests find whom they concern, are asked again while that may help, and end in time."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from odradek.client.cluster import ANYONE, CONTROLLER, Cluster, Coordinator, Target
from odradek.client.failures import Refused, Unreachable, Unsupported
from odradek.client.settings import ClientSettings
from odradek.client.topics import create_topic
from odradek.model.errors import ErrorCode
from odradek.model.ids import BrokerId
from odradek.net.peer import PeerLost
from odradek.testing.scripted_cluster import Answers, Broker, ScriptedCluster
from odradek.testing.sim_entropy import SeededEntropy
from odradek.wire.messages.metadata import (
    Coordinator as FoundCoordinator,
)
from odradek.wire.messages.metadata import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.wire.messages.topics import CreatedTopic, CreateTopicsRequest, CreateTopicsResponse

ASKED = DescribeClusterRequest(include_cluster_authorized_operations=False)
ANSWER = DescribeClusterResponse(error_code=0, cluster_id="c", brokers=())


def cluster_of(scripted: ScriptedCluster, **properties: str) -> Cluster:
    patience = {"default.api.timeout.ms": "200", "retry.backoff.ms": "1", "retry.backoff.max.ms": "2"}
    told = {key.replace("_", "."): value for key, value in properties.items()}
    settings = ClientSettings.of(scripted.bootstrap, {**patience, **told})
    return Cluster(settings, scripted, SeededEntropy(1))


def created(*errors: ErrorCode) -> Answers:
    """One error after the other, the last one for ever."""
    left: Iterator[ErrorCode] = iter(errors)
    last = errors[-1]

    def answer(request: object) -> CreateTopicsResponse:
        assert isinstance(request, CreateTopicsRequest)
        error = next(left, last)
        return CreateTopicsResponse(
            topics=(CreatedTopic(name=request.topics[0].name, error_code=error.code, error_message="so"),)
        )

    return answer


@pytest.mark.parametrize(
    ("target", "broker"), [(ANYONE, 0), (CONTROLLER, 2), (BrokerId(1), 1), (Coordinator("g"), 1)]
)
async def test_a_request_goes_to_whom_it_concerns(target: Target, broker: int) -> None:
    scripted = ScriptedCluster(Broker(0), Broker(1), Broker(2), controller=2)
    scripted.says(0, "FindCoordinator", coordinator_1)
    scripted.says(broker, "DescribeCluster", lambda _: ANSWER)
    async with cluster_of(scripted) as cluster:
        assert await cluster.ask(target, ASKED, DescribeClusterResponse) == ANSWER
    assert scripted.asked[-1] == (broker, "DescribeCluster")


def coordinator_1(request: object) -> FindCoordinatorResponse:
    assert isinstance(request, FindCoordinatorRequest)
    (key,) = request.coordinator_keys
    found = FoundCoordinator(key=key, node_id=1, host="", port=0, error_code=0, error_message=None)
    return FindCoordinatorResponse(coordinators=(found,))


async def test_a_coordinator_is_asked_for_in_the_old_way_where_the_new_one_is_not_known() -> None:
    def answer(request: object) -> FindCoordinatorResponse:
        assert isinstance(request, FindCoordinatorRequest)
        assert (request.key, request.coordinator_keys) == ("g", ())
        return FindCoordinatorResponse(node_id=1)

    scripted = ScriptedCluster(Broker(0, {"FindCoordinator": range(3)}), Broker(1))
    scripted.says(0, "FindCoordinator", answer)
    async with cluster_of(scripted) as cluster:
        assert (await cluster.reach(Coordinator("g"))).address == Broker(1).address


async def test_who_cannot_be_reached_is_passed_over() -> None:
    scripted = ScriptedCluster(Broker(0), Broker(1))
    scripted.unreachable = {0}
    async with cluster_of(scripted) as cluster:
        assert (await cluster.reach(ANYONE)).address == Broker(1).address


async def test_a_controller_that_moved_is_followed() -> None:
    scripted = ScriptedCluster(Broker(0), Broker(1), controller=0)

    def moved(request: object) -> object:
        scripted.controller = 1
        return created(ErrorCode.NOT_CONTROLLER)(request)

    scripted.says(0, "CreateTopics", moved)
    scripted.says(1, "CreateTopics", created(ErrorCode.NONE))
    async with cluster_of(scripted) as cluster:
        assert (await create_topic(cluster, "t")).name == "t"
    assert [each for each in scripted.asked if each[1] == "CreateTopics"] == [
        (0, "CreateTopics"),
        (1, "CreateTopics"),
    ]


async def test_what_will_not_pass_is_refused_at_once() -> None:
    scripted = ScriptedCluster(Broker(0))
    scripted.says(0, "CreateTopics", created(ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.NONE))
    async with cluster_of(scripted) as cluster:
        with pytest.raises(Refused, match="creation of topic t: TOPIC_ALREADY_EXISTS: so") as refused:
            await create_topic(cluster, "t")
    assert refused.value.error is ErrorCode.TOPIC_ALREADY_EXISTS
    assert refused.value.detail == "so"


async def test_what_does_not_pass_in_time_is_refused_then() -> None:
    scripted = ScriptedCluster(Broker(0))
    scripted.says(0, "CreateTopics", created(ErrorCode.THROTTLING_QUOTA_EXCEEDED))
    async with cluster_of(scripted, default_api_timeout_ms="20") as cluster:
        with pytest.raises(Refused, match="THROTTLING_QUOTA_EXCEEDED"):
            await create_topic(cluster, "t")
    assert scripted.asked.count((0, "CreateTopics")) > 2


async def test_a_cluster_without_controller_is_waited_for() -> None:
    scripted = ScriptedCluster(Broker(0), controller=-1)
    async with cluster_of(scripted, default_api_timeout_ms="20") as cluster:
        with pytest.raises(Refused, match="there is no controller now"):
            await create_topic(cluster, "t")


async def test_a_lost_connection_is_made_anew(caplog: pytest.LogCaptureFixture) -> None:
    scripted = ScriptedCluster(Broker(0))
    answers = iter([PeerLost("broken"), None])

    def answer(request: object) -> object:
        failure = next(answers)
        if failure is not None:
            raise failure
        return created(ErrorCode.NONE)(request)

    scripted.says(0, "CreateTopics", answer)
    async with cluster_of(scripted) as cluster:
        with caplog.at_level(logging.WARNING):
            await create_topic(cluster, "t")
    assert scripted.asked.count((0, "ApiVersions")) == 2
    assert [each.getMessage() for each in caplog.records] == ["broken; trying again for 0.2 s"]


async def test_a_cluster_that_nobody_answers_for_is_given_up_in_time() -> None:
    scripted = ScriptedCluster(Broker(0), Broker(1))
    scripted.unreachable = {0, 1}
    async with cluster_of(scripted, default_api_timeout_ms="20") as cluster:
        with pytest.raises(Unreachable) as failure:
            await create_topic(cluster, "t")
    assert str(failure.value).startswith(
        "creation of topic t at broker:9092,broker:9093 had no answer within 20 ms: "
        "broker:9092 cannot be reached"
    )


async def test_a_broker_that_is_not_there_is_refused() -> None:
    scripted = ScriptedCluster(Broker(0))
    async with cluster_of(scripted) as cluster:
        with pytest.raises(Refused, match="broker 7 is not alive"):
            await cluster.reach(BrokerId(7))


@pytest.mark.parametrize(
    ("offered", "complaint"),
    [
        (range(0), "does not offer DescribeCluster"),
        (range(7, 9), "offers DescribeCluster in versions 7 to 8, this client speaks 0 to 2"),
    ],
)
async def test_what_no_version_is_common_of_is_said_to_be_unsupported(offered: range, complaint: str) -> None:
    scripted = ScriptedCluster(Broker(0, {"DescribeCluster": offered}))
    async with cluster_of(scripted) as cluster:
        with pytest.raises(Unsupported, match=complaint):
            await cluster.ask(ANYONE, ASKED, DescribeClusterResponse)


async def test_connections_are_closed_at_the_end() -> None:
    scripted = ScriptedCluster(Broker(0))
    async with cluster_of(scripted) as cluster:
        connection = (await cluster.reach(ANYONE)).connection
        assert connection.closed is None
    assert connection.closed is not None
