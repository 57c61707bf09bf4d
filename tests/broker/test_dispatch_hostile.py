"""Peers that mean harm, against a whole broker: it answers or closes, its memory stays bounded, and nobody
else notices. What the connections themselves promise is in tests/net/test_server_hostile.py.
"""

from __future__ import annotations

import resource
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.broker.test_dispatch import framed, header
from tests.compatibility.served import Served, start_odradek
from tests.wire.test_codec_properties import any_message

from odradek.broker.dispatch import REQUEST_ITEMS_MAX
from odradek.broker.registry import routes
from odradek.testing.batches import batch_of
from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.frame import request_frame
from odradek.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.wire.messages.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from odradek.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.wire.messages.produce import PartitionData, ProduceRequest, ProduceResponse, TopicData
from odradek.wire.parts import FileSlice

MIB = 1 << 20
NOTICED_S = 1.0  # others are served within this, also on a busy machine with two cores
IDLE_CONNECTION_SIZE_MAX = 12 * 1024
ROUTES = routes()
TOPICS = ("t", "orders")


def is_served(client: Conversation) -> bool:
    """Another client is answered, and does not wait for it."""
    began = time.monotonic()
    answer = client.ask(ApiVersionsRequest(client_software_name="well", client_software_version="1"), 3)
    assert isinstance(answer, ApiVersionsResponse)
    return answer.error_code == 0 and time.monotonic() - began < NOTICED_S


def connected(bootstrap: str) -> socket.socket:
    host, _, port = bootstrap.partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def is_closed(peer: socket.socket) -> bool:
    try:
        while peer.recv(1 << 20):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """Its end fails the tests, if any peer made it stop with a bug."""
    with Broker() as broker:
        for topic in TOPICS:
            broker.create_topic(topic, partitions=2)
        yield broker


@pytest.fixture(scope="module")
def well(broker: Broker) -> Iterator[Conversation]:
    with Conversation(broker.bootstrap) as well:
        yield well


# -- bytes -------------------------------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_random_bytes_are_waited_for_or_closed(broker: Broker, well: Conversation, data: bytes) -> None:
    with connected(broker.bootstrap) as peer:
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)
        assert is_closed(peer)
    assert is_served(well)


@given(st.integers(0, 60), st.integers(-1, 20), st.binary(max_size=200))
def test_random_bodies_of_requests_are_answered_or_closed(
    broker: Broker, well: Conversation, key: int, version: int, body: bytes
) -> None:
    with connected(broker.bootstrap) as peer:
        peer.sendall(framed(header(key, version) + body))
        peer.shutdown(socket.SHUT_WR)
        assert is_closed(peer)
    assert is_served(well)


@pytest.mark.parametrize("size", [-1, 2**31 - 1, 100 * MIB + 1])
def test_a_size_that_cannot_be_is_closed_at_once(broker: Broker, size: int) -> None:
    with connected(broker.bootstrap) as peer:
        peer.sendall(struct.pack(">i", size) + b"some of it")
        assert is_closed(peer)


# -- mutated requests --------------------------------------------------------------------------------------


class Change(NamedTuple):
    """Where in a frame, how much of it goes, and what comes instead."""

    at: float
    cut: int
    put: bytes


class Plan(NamedTuple):
    """A request of any kind that is served."""

    key: int
    version: int
    seed: int
    changes: list[Change]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    key = draw(st.sampled_from(sorted(ROUTES)))
    lengths = st.sampled_from([b"\xff" * 4, b"\x7f\xff\xff\xff", b"\0\x0f\x42\x40", b"\xff\xff\xff\xff\x07"])
    change = st.builds(
        Change, st.floats(0, 1, exclude_max=True), st.integers(0, 8), st.binary(max_size=8) | lengths
    )
    changes = st.lists(change, max_size=3)
    return Plan(
        key, draw(st.sampled_from(ROUTES[key].versions)), draw(st.integers(0, 1 << 32)), draw(changes)
    )


def spoken(plan: Plan, ids: Sequence[bytes]) -> bytes:
    """It speaks of what is there; then it is changed. The size in front is always true."""
    rng = Random(plan.seed)
    api = ROUTES[plan.key].api
    message = familiar(any_message(api.request, plan.version, rng), ids, rng)
    parts = request_frame(api, plan.version, 1, "hostile", message)
    frame = bytearray().join(part.read() if isinstance(part, FileSlice) else part for part in parts)[4:]
    for at, cut, put in plan.changes:
        begin = int(at * len(frame))
        frame[begin : begin + cut] = put
    return framed(bytes(frame))


def familiar(value: object, ids: Sequence[bytes], rng: Random) -> object:
    """Names and ids of topics that are there, small numbers, and batches that are right."""
    match value:
        case bool():
            return value
        case str():
            return rng.choice((*TOPICS, "group", "")) if rng.random() < 0.6 else value
        case bytes() if len(value) == 16:
            return rng.choice(ids) if rng.random() < 0.7 else value
        case int():
            return rng.choice((0, 0, 1, 2, -1)) if rng.random() < 0.7 else value
        case tuple():
            return tuple(familiar(each, ids, rng) for each in value)
        case PartitionData():
            return PartitionData(index=rng.randrange(3), records=bytes(batch_of(*range(rng.randrange(1, 4)))))
        case _ if is_dataclass(value):
            for name in (each.name for each in fields(value) if hasattr(value, each.name)):
                setattr(value, name, familiar(getattr(value, name), ids, rng))
    return value


@pytest.fixture(scope="module")
def ids(well: Conversation) -> list[bytes]:
    answer = well.ask(MetadataRequest(topics=None), 12)
    assert isinstance(answer, MetadataResponse)
    return [topic.topic_id for topic in answer.topics]


@settings(max_examples=200)
@given(plans())
def test_a_mutated_request_keeps_nobody_waiting(
    broker: Broker, well: Conversation, ids: list[bytes], plan: Plan
) -> None:
    with connected(broker.bootstrap) as peer:
        peer.sendall(spoken(plan, ids))
        assert is_served(well)


@pytest.mark.slow
@settings(max_examples=4000)
@given(plans())
def test_thousands_of_mutated_requests_keep_nobody_waiting(
    broker: Broker, well: Conversation, ids: list[bytes], plan: Plan
) -> None:
    with connected(broker.bootstrap) as peer:
        peer.sendall(spoken(plan, ids))
        assert is_served(well)


# -- large requests ----------------------------------------------------------------------------------------


def listing(count: int) -> ListOffsetsRequest:
    partition = ListOffsetsPartition(partition_index=0, timestamp=-1)
    return ListOffsetsRequest(
        replica_id=-1, topics=(ListOffsetsTopic(name="t", partitions=(partition,)),) * count
    )


def looking_back(count: int) -> OffsetForLeaderEpochRequest:
    partition = OffsetForLeaderPartition(partition=0, current_leader_epoch=-1, leader_epoch=0)
    return OffsetForLeaderEpochRequest(
        replica_id=-1, topics=(OffsetForLeaderTopic(topic="t", partitions=(partition,)),) * count
    )


def looking_for(count: int) -> MetadataRequest:
    return MetadataRequest(
        topics=(MetadataRequestTopic(name="none"),) * count, allow_auto_topic_creation=False
    )


LARGE = {
    "ListOffsets": (listing, 7, 3),
    "OffsetForLeaderEpoch": (looking_back, 4, 3),
    "Metadata": (looking_for, 12, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_as_many_topics_as_are_taken_keep_nobody_waiting(
    broker: Broker, well: Conversation, name: str
) -> None:
    make, version, items = LARGE[name]
    with Conversation(broker.bootstrap) as client:
        api = client.send(make((REQUEST_ITEMS_MAX - 1) // items), version)
        assert is_served(well)
        assert client.answer(api, version)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_a_million_topics_are_not_taken(broker: Broker, well: Conversation, name: str) -> None:
    make, version, _ = LARGE[name]
    with Conversation(broker.bootstrap) as client:
        api = client.send(make(1_000_000), version)
        assert is_served(well)
        with pytest.raises((EOFError, ConnectionResetError)):
            client.answer(api, version)


# -- memory: brokers in processes of their own -------------------------------------------------------------


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    with start_odradek(tmp_path, {"socket.listen.backlog.size": "1000"}) as served:
        served.create_topic("t")
        yield served
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)


@contextmanager
def many(served: Served, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(connected(served.bootstrap)) for _ in range(count)]


def asked(peer: socket.socket, request: bytes) -> None:
    """It was answered: all that was sent before has been seen."""
    peer.sendall(request)
    (size,) = struct.unpack(">i", peer.recv(4, socket.MSG_WAITALL))
    peer.recv(size, socket.MSG_WAITALL)


METADATA = framed(header(3, 1) + struct.pack(">i", -1))  # of all topics


@pytest.mark.slow
def test_ten_thousand_idle_connections_cost_little(served: Served) -> None:
    with many(served, 100) as some:
        for peer in some:
            asked(peer, METADATA)
        before = served.memory
        with many(served, 10_000) as idle:
            for peer in idle:
                asked(peer, METADATA)
            each = (served.memory - before) / len(idle)
            with Conversation(served.bootstrap) as well:
                assert is_served(well)
    print(f"{each:,.0f} bytes for each of {len(idle):,} idle connections")
    assert each < IDLE_CONNECTION_SIZE_MAX


@pytest.mark.slow
def test_readers_that_do_not_read_hold_no_memory(served: Served) -> None:
    """Each asks for a gigabyte of records, and ten thousand times for all there is to know."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100 * MIB)
    fetch = FetchRequest(max_wait_ms=0, min_bytes=0, topics=(FetchTopic(topic="t", partitions=(partition,)),))
    with Conversation(served.bootstrap) as well, many(served, 200) as deaf:
        fill(well, 20)
        before = served.memory
        for number, peer in enumerate(deaf):
            peer.setblocking(False)
            with suppress(BlockingIOError):
                peer.sendall(METADATA * 10_000 if number % 2 else encoded(fetch, 11) * 50)
        for _ in range(20):
            assert is_served(well)
        each = (served.memory - before) / len(deaf)
    print(f"{each:,.0f} bytes for each of {len(deaf)} readers that do not read")
    assert each < MIB


def encoded(request: object, version: int) -> bytes:
    api = next(each.api for each in ROUTES.values() if each.api.request is type(request))
    parts = request_frame(api, version, 1, None, request)
    return b"".join(part.read() if isinstance(part, FileSlice) else part for part in parts)


def fill(client: Conversation, batches: int) -> None:
    """The topic `t` with batches of a megabyte."""
    for _ in range(batches):
        data = PartitionData(index=0, records=bytes(batch_of(value=bytes(MIB - 1000))))
        topic = TopicData(name="t", partition_data=(data,))
        answer = client.ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=(topic,)), 9)
        assert isinstance(answer, ProduceResponse)
        assert answer.responses[0].partition_responses[0].error_code == 0


@pytest.mark.slow
def test_large_frames_that_never_end_cost_in_proportion_to_what_was_sent(served: Served) -> None:
    with Conversation(served.bootstrap) as well, many(served, 1_000) as slow:
        for peer in slow:
            asked(peer, METADATA)
        before = served.memory
        for peer in slow:
            peer.sendall(struct.pack(">i", 100 * MIB) + header(0, 9) + bytes(10_000))
        for _ in range(100):  # by then it has seen all of them
            assert is_served(well)
        each = (served.memory - before) / len(slow)
    print(f"{each:,.0f} bytes for each of {len(slow):,} connections with 10 kB of a frame")
    assert 10_000 < each < 100_000


@pytest.mark.slow
def test_connections_that_come_and_go_in_thousands_leave_nothing(served: Served) -> None:
    """A heap that is used in turns grows a little for a while; a connection that stayed would cost more."""
    with Conversation(served.bootstrap) as well:
        after = []
        for _ in range(10):
            with many(served, 1_000) as flood:
                assert is_served(well)
                for number, peer in enumerate(flood):
                    if number % 2:  # they leave by a reset
                        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    peer.sendall(METADATA if number % 3 else METADATA[:-1])
            assert is_served(well)
            after.append(served.memory)
        each = (after[-1] - after[1]) / 8_000
    print(f"{each:,.0f} bytes for each of 8,000 connections that are gone")
    assert each < 1_000
