"""What a connection promises about frames, tickets and answers."""

from __future__ import annotations

import itertools
import random

import pytest

from odradek.wire.connection import (
    OWN_BUFFER_GROWTH,
    SMALL_FRAME_SIZE,
    BadFrame,
    ClientRequests,
    FrameReader,
    Replies,
)

SHARED_SIZE = 4096


def framed(*payloads: bytes) -> bytes:
    return b"".join(len(payload).to_bytes(4, "big") + payload for payload in payloads)


def feed(reader: FrameReader, chunk: bytes) -> list[bytes]:
    """Receive a chunk as a socket would: spaces filled in order, in several turns if need be."""
    seen: list[bytes] = []
    while chunk:
        count = 0
        for space in reader.spaces():
            taken = min(len(space), len(chunk))
            space[:taken] = chunk[:taken]
            chunk = chunk[taken:]
            count += taken
        reader.received(count)
        while (frame := reader.next()) is not None:
            seen.append(frame.tobytes())
        reader.keep()
    return seen


def a_reader(frame_size_max: int = 1 << 20, shared_size: int = SHARED_SIZE) -> FrameReader:
    return FrameReader(memoryview(bytearray(shared_size)), frame_size_max)


PAYLOADS = [
    [b"one", b"", b"three"],
    [bytes(range(256)) * 9, b"x", bytes(3000)],
    [b"y" * (SMALL_FRAME_SIZE - 4), b"z" * (SMALL_FRAME_SIZE - 3), b"w" * (SMALL_FRAME_SIZE - 5)],
]


@pytest.mark.parametrize("payloads", PAYLOADS, ids=len)
def test_any_chunking_yields_the_same_frames(payloads: list[bytes]) -> None:
    wire = framed(*payloads)
    sizes = range(1, len(wire) + 1) if len(wire) < 100 else [*range(1, 12), 2047, 2048, 2049, 4096, len(wire)]
    for size in sizes:
        reader = a_reader()
        seen = [frame for at in range(0, len(wire), size) for frame in feed(reader, wire[at : at + size])]
        assert seen == payloads
        assert reader.held_size == 0


def test_any_single_cut_yields_the_same_frames() -> None:
    payloads = [b"a" * 2500, b"bc", b"d" * 2100]
    wire = framed(*payloads)
    for cut in range(len(wire)):
        reader = a_reader(shared_size=8192)
        assert feed(reader, wire[:cut]) + feed(reader, wire[cut:]) == payloads


def test_any_two_cuts_yield_the_same_frames() -> None:
    wire = framed(b"one", b"", b"three")
    for first, second in itertools.combinations(range(len(wire) + 1), 2):
        reader = a_reader()
        chunks = wire[:first], wire[first:second], wire[second:]
        assert [frame for chunk in chunks for frame in feed(reader, chunk)] == [b"one", b"", b"three"]


@pytest.mark.parametrize("seed", range(20))
def test_random_chunks_of_large_frames_yield_the_same_frames(seed: int) -> None:
    rng = random.Random(seed)
    payloads = [rng.randbytes(rng.choice([0, 5, 2043, 2045, 5000, 70_000])) for _ in range(6)]
    wire, reader, seen = framed(*payloads), a_reader(), []
    while wire:
        size = rng.choice([1, 3, 100, 4096, 50_000])
        seen += feed(reader, wire[:size])
        wire = wire[size:]
    assert seen == payloads


def test_a_frame_that_arrives_whole_is_not_copied() -> None:
    shared = bytearray(SHARED_SIZE)
    reader = FrameReader(memoryview(shared), 1000)
    shared[:7] = framed(b"abc")
    reader.received(7)
    frame = reader.next()
    assert frame is not None
    frame[0] = ord("X")
    assert shared[4:7] == b"Xbc"


@pytest.mark.parametrize("size", [-1, -(2**31), 101, 2**31 - 1])
def test_a_frame_of_a_size_that_cannot_be_breaks_the_connection(size: int) -> None:
    reader = a_reader(frame_size_max=100)
    reader.spaces()[0][:12] = framed(b"fine") + size.to_bytes(4, "big", signed=True)
    reader.received(12)
    assert taken(reader, 1) == [b"fine"]
    with pytest.raises(BadFrame):
        reader.next()


def test_a_claimed_size_costs_no_memory_before_its_bytes_come() -> None:
    reader = a_reader(frame_size_max=2**31 - 1)
    feed(reader, (2**31 - 1).to_bytes(4, "big") + b"x")
    assert reader.held_size == 5
    sent = 5
    for count in (SMALL_FRAME_SIZE, 50_000, 1_000_000):
        feed(reader, bytes(count))
        sent += count
        assert sent <= reader.held_size <= OWN_BUFFER_GROWTH * sent


def test_half_a_small_frame_holds_what_came_and_no_more() -> None:
    reader = a_reader()
    feed(reader, framed(bytes(1000))[:10])
    assert reader.held_size == 10


def taken(reader: FrameReader, count: int) -> list[bytes]:
    """Some of the frames that are there, as when a connection's turn ends early."""
    frames = [reader.next() for _ in range(count)]
    reader.keep()
    return [frame.tobytes() for frame in frames if frame is not None]


@pytest.mark.parametrize("a_turn", [1, 2, 5])
def test_frames_left_for_the_next_turn_outlive_the_shared_buffer(a_turn: int) -> None:
    shared = bytearray(SHARED_SIZE)
    reader = FrameReader(memoryview(shared), 1 << 20)
    payloads = [b"%d" % number * 40 for number in range(5)]
    wire = framed(*payloads) + framed(b"late")[:6]
    shared[: len(wire)] = wire
    reader.received(len(wire))
    seen: list[bytes] = []
    while len(seen) < len(payloads):
        seen += taken(reader, a_turn)
        shared[:] = bytes(SHARED_SIZE)  # another connection receives
    seen += feed(reader, framed(b"late")[6:])
    assert seen == [*payloads, b"late"]
    assert reader.held_size == 0


def test_a_large_frame_behind_one_that_was_left_is_put_together() -> None:
    reader = a_reader()
    wire = framed(b"first", b"second", b"L" * 20_000)
    reader.spaces()[0][:SHARED_SIZE] = wire[:SHARED_SIZE]
    reader.received(SHARED_SIZE)
    assert taken(reader, 1) == [b"first"]
    assert taken(reader, 2) == [b"second"]
    assert feed(reader, wire[SHARED_SIZE:]) == [b"L" * 20_000]


def test_a_broken_frame_that_was_left_is_still_found() -> None:
    reader = a_reader(frame_size_max=100)
    reader.spaces()[0][:9] = framed(b"x") + b"\xff\xff\xff\xff"
    reader.received(9)
    assert taken(reader, 1) == [b"x"]
    with pytest.raises(BadFrame):
        reader.next()


def test_a_lower_bound_counts_from_the_next_frame_on() -> None:
    reader = a_reader(frame_size_max=100)
    assert feed(reader, framed(bytes(100))) == [bytes(100)]
    reader.frame_size_max = 99
    with pytest.raises(BadFrame):
        feed(reader, framed(bytes(100)))


def test_replies_leave_in_request_order() -> None:
    replies = Replies()
    first, second, third = (replies.open_ticket() for _ in range(3))
    assert replies.reply(third, [b"C"]) == []
    assert replies.reply(first, [b"A"]) == [b"A"]
    assert replies.reply(second, []) == [b"C"]  # acks=0 unblocks the queue, sends nothing
    assert replies.unanswered == 0


def test_every_order_of_five_answers_leaves_in_request_order() -> None:
    for order in itertools.permutations(range(5)):
        replies = Replies()
        tickets = [replies.open_ticket() for _ in range(5)]
        sent = [part for number in order for part in replies.reply(tickets[number], [b"%d" % number])]
        assert sent == [b"0", b"1", b"2", b"3", b"4"]
        assert replies.unanswered == 0


def test_a_request_is_answered_once() -> None:
    replies = Replies()
    ticket = replies.open_ticket()
    replies.open_ticket()
    replies.reply(ticket, [b"A"])
    with pytest.raises(AssertionError):
        replies.reply(ticket, [b"A"])


def test_an_answer_finds_its_request() -> None:
    requests = ClientRequests[str]()
    first, second = requests.sent("first"), requests.sent("second")
    assert requests.answered(first) == "first"
    assert requests.answered(second) == "second"


def test_an_answer_out_of_turn_breaks_the_connection() -> None:
    requests = ClientRequests[str]()
    requests.sent("first")
    with pytest.raises(BadFrame):
        requests.answered(requests.sent("second"))
    assert requests.abandoned() == ["first", "second"]
    with pytest.raises(BadFrame):
        requests.answered(7)


def test_replies_that_wait_for_an_earlier_one_are_counted() -> None:
    replies = Replies()
    first, second, third = (replies.open_ticket() for _ in range(3))
    replies.reply(third, [b"CCC"])
    replies.reply(second, [b"B", b"B"])
    assert replies.held_size == 5
    replies.reply(first, [b"A"])
    assert replies.held_size == 0
