"""Coordinators come and go with their partitions, and tell nothing that could yet be lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from odradek.broker.context import RequestContext
from odradek.broker.handlers import groups as handlers
from odradek.broker.partition import HostedPartition
from odradek.broker.shards import bucket
from odradek.groups.committing import Committer
from odradek.groups.offsets import Place
from odradek.log.log import ReadUpTo
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import BrokerId
from odradek.model.topic_names import CONSUMER_OFFSETS
from odradek.net.peer import Peer
from odradek.replication.replica import Order
from odradek.testing.group_words import Self, asked
from odradek.testing.sim_broker import SimBroker, sim_broker
from odradek.testing.sim_clock import run
from odradek.wire.apis import API_BY_KEY
from odradek.wire.batch import split
from odradek.wire.messages.group_offsets import OffsetCommitResponse, OffsetFetchResponse
from odradek.wire.messages.groups import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupResponse,
    ListGroupsRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from odradek.wire.messages.metadata import FindCoordinatorRequest, MetadataRequest, MetadataRequestTopic
from odradek.wire.messages.stored import OffsetCommitValue

API_BY_NAME = {api.name: api for api in API_BY_KEY.values()}
US, OTHER = BrokerId(0), BrokerId(1)
COMMIT_WITHIN_S = 5


@dataclass
class Scene:
    """A broker that coordinates group `g`, a client of it, and the controller's word on the partition."""

    broker: SimBroker
    client: Peer
    epoch: int = 0

    @property
    def partition(self) -> HostedPartition:
        return self.broker.node.replicas.hosted(CONSUMER_OFFSETS, 0)

    def order(self, leader: BrokerId, *in_sync: BrokerId) -> None:
        self.epoch += 1
        order = Order(leader, self.epoch, self.epoch, frozenset(in_sync), (US, OTHER))
        self.broker.node.replicas.obey(self.partition.name, self.partition.id, order)

    async def say(self, words: str, me: Self | None = None) -> object:
        verb, *pairs = words.split()
        options = dict(pair.split("=") for pair in pairs)
        request, version = asked(verb, options, "g", me or Self())
        name = type(request).__name__.removesuffix("Request")
        return await self.client.request(API_BY_NAME[name], version, request)

    def saying(self, words: str, me: Self | None = None) -> asyncio.Task[object]:
        return asyncio.ensure_future(self.say(words, me))


@asynccontextmanager
async def scene(**settings: str) -> AsyncIterator[Scene]:
    told = {key.replace("_", "."): value for key, value in settings.items()}
    async with sim_broker({"group.initial.rebalance.delay.ms": "0", **told}) as broker:
        client = await broker.connect("ann")
        await client.request(API_BY_KEY[10], 4, FindCoordinatorRequest(coordinator_keys=("g",)))
        await client.request(API_BY_KEY[3], 12, MetadataRequest(topics=(MetadataRequestTopic(name="t"),)))
        yield Scene(broker, client)


def play(act: Callable[[Scene], Awaitable[None]], **settings: str) -> None:
    async def main() -> None:
        async with scene(**settings) as it:
            await act(it)

    run(main())


def commit_error(response: object) -> ErrorCode:
    assert isinstance(response, OffsetCommitResponse)
    return ErrorCode.of(response.topics[0].partitions[0].error_code)


def fetched(response: object) -> tuple[ErrorCode, int | None]:
    assert isinstance(response, OffsetFetchResponse)
    (group,) = response.groups
    offset = group.topics[0].partitions[0].committed_offset if group.topics else None
    return ErrorCode.of(group.error_code), offset


# -- held until committed ----------------------------------------------------------------------------------


def test_a_commit_is_answered_when_all_in_sync_hold_it() -> None:
    async def act(it: Scene) -> None:
        it.order(US, US, OTHER)
        waiting = it.saying("commit offset=7")
        await asyncio.sleep(1)
        assert not waiting.done()
        it.order(US, US)  # the other is not in sync any more: everybody who is holds it
        assert commit_error(await waiting) is ErrorCode.NONE

    play(act)


def test_what_is_not_committed_is_not_told() -> None:
    async def act(it: Scene) -> None:
        await it.say("commit offset=6")
        it.order(US, US, OTHER)
        other = await it.broker.connect("bob")
        commit = it.saying("commit offset=7")
        await asyncio.sleep(0.1)
        it.client = other
        fetch = it.saying("fetch")
        await asyncio.sleep(1)
        assert not any(each.done() for each in (commit, fetch))
        it.order(US, US)
        assert fetched(await fetch) == (ErrorCode.NONE, 7)

    play(act)


def test_who_waits_too_long_is_told_so() -> None:
    async def act(it: Scene) -> None:
        it.order(US, US, OTHER)
        began = asyncio.get_running_loop().time()
        assert commit_error(await it.say("commit offset=7")) is ErrorCode.REQUEST_TIMED_OUT
        assert asyncio.get_running_loop().time() - began == pytest.approx(COMMIT_WITHIN_S, abs=0.1)
        assert fetched(await it.say("fetch")) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, None)

    play(act)


def test_an_assignment_is_told_when_it_is_committed() -> None:
    async def act(it: Scene) -> None:
        me = Self()
        joined = await it.say("join v=3", me)
        assert isinstance(joined, JoinGroupResponse)
        me.id, me.generation = joined.member_id, joined.generation_id
        it.order(US, US, OTHER)
        sync = it.saying(f"sync give={me.id}:x", me)
        await asyncio.sleep(1)
        assert not sync.done()
        it.order(US, US)
        synced = await sync
        assert isinstance(synced, SyncGroupResponse)
        assert (synced.error_code, synced.assignment) == (0, b"x")

    play(act)


def test_an_assignment_that_is_not_committed_in_time_is_to_be_made_again() -> None:
    async def act(it: Scene) -> None:
        me = Self()
        joined = await it.say("join v=3", me)
        assert isinstance(joined, JoinGroupResponse)
        me.id, me.generation = joined.member_id, joined.generation_id
        it.order(US, US, OTHER)
        synced = await it.say(f"sync give={me.id}:x", me)
        assert isinstance(synced, SyncGroupResponse)
        assert ErrorCode.of(synced.error_code) is ErrorCode.REBALANCE_IN_PROGRESS

    play(act)


def test_too_few_in_sync_write_nothing() -> None:
    async def act(it: Scene) -> None:
        it.order(US, US)
        it.partition.isr_min = 2
        end = it.partition.log.log_end
        assert commit_error(await it.say("commit offset=7")) is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert it.partition.log.log_end == end
        it.partition.isr_min = 1
        assert fetched(await it.say("fetch")) == (ErrorCode.NONE, -1)

    play(act)


# -- here, loading, elsewhere ------------------------------------------------------------------------------


def test_when_another_leads_whoever_waits_is_sent_there() -> None:
    async def act(it: Scene) -> None:
        bob = await it.broker.connect("bob")
        await it.say("join v=3")
        it.client = bob
        join = it.saying("join v=3")  # waits for the first
        await asyncio.sleep(0.1)
        it.order(OTHER, US, OTHER)
        joined = await join
        assert isinstance(joined, JoinGroupResponse)
        assert ErrorCode.of(joined.error_code) is ErrorCode.NOT_COORDINATOR
        assert commit_error(await it.say("commit offset=7")) is ErrorCode.NOT_COORDINATOR
        assert fetched(await it.say("fetch")) == (ErrorCode.NOT_COORDINATOR, None)
        heartbeat = await it.say("heartbeat")
        assert isinstance(heartbeat, HeartbeatResponse)
        assert ErrorCode.of(heartbeat.error_code) is ErrorCode.NOT_COORDINATOR

    play(act)


def test_a_commit_that_waits_when_another_leads_is_not_answered_as_done() -> None:
    async def act(it: Scene) -> None:
        it.order(US, US, OTHER)
        commit = it.saying("commit offset=7")
        await asyncio.sleep(0.1)
        it.order(OTHER, US, OTHER)
        assert commit_error(await commit) is ErrorCode.NOT_COORDINATOR

    play(act)


def test_who_leads_again_knows_what_was_stored_and_who_may_go_on() -> None:
    async def act(it: Scene) -> None:
        me = Self()
        joined = await it.say("join v=3", me)
        assert isinstance(joined, JoinGroupResponse)
        me.id, me.generation = joined.member_id, joined.generation_id
        await it.say(f"sync give={me.id}:x", me)
        await it.say("commit offset=7", me)
        it.order(OTHER, US, OTHER)
        it.order(US, US)
        await asyncio.sleep(0.1)
        heartbeat = await it.say("heartbeat", me)
        assert isinstance(heartbeat, HeartbeatResponse)
        assert heartbeat.error_code == 0
        assert fetched(await it.say("fetch", me)) == (ErrorCode.NONE, 7)

    play(act)


def test_while_it_loads_it_says_so_and_lets_members_be() -> None:
    async def act(it: Scene) -> None:
        it.order(OTHER, US, OTHER)
        it.order(US, US)
        # Nothing else runs before the next await: this is how a request finds it meanwhile.
        (connection,) = it.broker.node.server.connections
        ctx = RequestContext(it.broker.node.services, connection, 5, "ann")
        loading, groups = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ctx.services.groups
        with pytest.raises(ApiError) as refused:
            groups.hosting("g")
        assert refused.value.error is loading
        heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
        assert handlers.heartbeat(ctx, heartbeat).error_code == 0
        sync = SyncGroupRequest(
            group_id="g", generation_id=1, member_id="m", protocol_type="", protocol_name="", assignments=()
        )
        synced = handlers.sync_group(ctx, sync)
        assert isinstance(synced, SyncGroupResponse)
        assert ErrorCode.of(synced.error_code) is ErrorCode.REBALANCE_IN_PROGRESS
        assert ErrorCode.of(handlers.list_groups(ctx, ListGroupsRequest()).error_code) is loading
        await asyncio.sleep(0.1)
        assert handlers.list_groups(ctx, ListGroupsRequest()).error_code == 0

    play(act)


def test_a_leader_that_goes_on_in_the_next_epoch_keeps_what_it_knows() -> None:
    async def act(it: Scene) -> None:
        groups = it.broker.node.services.groups
        before = groups.hosting("g").shard
        it.order(US, US)
        assert groups.hosting("g").shard is before
        it.epoch += 1  # one that we never heard of
        it.order(US, US)
        await asyncio.sleep(0.1)
        assert groups.hosting("g").shard is not before

    play(act)


# -- writing and loading -----------------------------------------------------------------------------------


def test_what_does_not_fit_one_batch_is_written_in_several_and_loaded_again() -> None:
    places = [Place("g", "t" * 200, number) for number in range(1000)]

    async def act(it: Scene) -> None:
        groups = it.broker.node.services.groups
        hosted = groups.hosting("g")
        commits = [(place, OffsetCommitValue(offset=5, metadata="", commit_timestamp=1)) for place in places]
        outcome = hosted.shard.commit(Committer("g"), commits, groups.now())
        hosted.write(outcome.records)
        read = it.partition.log.read(0, 1 << 30, ReadUpTo.LOG_END)
        assert read.slice is not None
        assert [header.record_count for _, header in split(read.slice.read())] == [267, 267, 267, 199]
        it.order(OTHER, US, OTHER)
        it.order(US, US)
        await asyncio.sleep(0.1)
        shard = groups.hosting("g").shard
        assert [shard.offsets.get(place) for place in places] == [value for _, value in commits]

    play(act, message_max_bytes="65536")


@pytest.mark.parametrize(
    ("key", "hash_code"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
        ("Straße", -1808122922),
        ("\U0001f600x", 54959989),
    ],
)
def test_a_key_falls_where_java_puts_it(key: str, hash_code: int) -> None:
    for count in (1, 4, 50):
        assert bucket(key, count) == (hash_code & 0x7FFFFFFF) % count
