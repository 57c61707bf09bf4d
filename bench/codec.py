"""What do the messages of the hot path cost to decode and encode, next to bare `struct` on the same bytes?

The bare way knows the shape of this one message beforehand: one precompiled `struct.Struct` for all of it,
one call, a tuple out or in and no message. It is what no codec can beat.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from _report import best_of, report
from odradek.wire.codec import decoder, encode, encoder
from odradek.wire.messages.fetch import (
    FetchedPartition,
    FetchedTopic,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from odradek.wire.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataResponse,
    MetadataTopic,
)
from odradek.wire.messages.produce import (
    PartitionData,
    PartitionResponse,
    ProduceRequest,
    ProduceResponse,
    TopicData,
    TopicResponse,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = 2_000
ROUNDS = 25
TOPIC_ID = bytes(range(16))


class Case(NamedTuple):
    what: str
    message: object
    version: int
    decodes: bool
    bare: str  # the struct format of the whole message
    budget_us: float | None = None


def main() -> None:
    rows = []
    for case in CASES:
        ours = microseconds(codec_work(case))
        bare = microseconds(bare_work(case))
        verb = "decode" if case.decodes else "encode"
        budget = "-" if case.budget_us is None else f"{case.budget_us:g}"
        rows.append((f"{verb} {case.what} v{case.version}", ours, budget, bare, ours / bare))
    report("codec", ("message", "us", "budget us", "bare struct us", "ratio"), rows)


def codec_work(case: Case) -> Callable[[], object]:
    if case.decodes:
        decode, data = (
            decoder(type(case.message), case.version),
            memoryview(encode(case.message, case.version)),
        )
        return lambda: decode(data, 0)
    encode_it = encoder(type(case.message), case.version)
    return lambda: encode_it(case.message, bytearray(8))


def bare_work(case: Case) -> Callable[[], object]:
    whole = struct.Struct(">" + case.bare)
    data = encode(case.message, case.version)
    assert whole.size == len(data), f"{case.what}: {whole.size} against {len(data)} bytes"
    if case.decodes:
        view = memoryview(data)
        return lambda: whole.unpack_from(view, 0)
    values = whole.unpack(data)
    return lambda: whole.pack(*values)


def microseconds(work: Callable[[], object]) -> float:
    def many() -> None:
        for _ in range(CALLS):
            work()

    return best_of(ROUNDS, many) / CALLS * 1e6


# -- the messages ------------------------------------------------------------------------------------------


def produce_request(records_size: int) -> ProduceRequest:
    data = PartitionData(index=3, records=bytes(records_size))
    topic = TopicData(name="orders", topic_id=TOPIC_ID, partition_data=(data,))
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=(topic,))


def produce_response() -> ProduceResponse:
    answer = PartitionResponse(index=3, error_code=0, base_offset=1 << 40, log_start_offset=0)
    return ProduceResponse(
        responses=(TopicResponse(name="orders", topic_id=TOPIC_ID, partition_responses=(answer,)),)
    )


def fetch_request(partitions: int) -> FetchRequest:
    asked = tuple(
        FetchPartition(
            partition=index, fetch_offset=1 << 40, partition_max_bytes=1 << 20, current_leader_epoch=7
        )
        for index in range(partitions)
    )
    topic = FetchTopic(topic="orders", topic_id=TOPIC_ID, partitions=asked)
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=(topic,))


def fetch_response(partitions: int) -> FetchResponse:
    answers = tuple(
        FetchedPartition(
            partition_index=index, error_code=0, high_watermark=9, aborted_transactions=None, records=None
        )
        for index in range(partitions)
    )
    return FetchResponse(responses=(FetchedTopic(topic="orders", topic_id=TOPIC_ID, partitions=answers),))


def metadata_response(partitions: int) -> MetadataResponse:
    brokers = tuple(MetadataBroker(node_id=node, host="broker-0.example", port=9092) for node in range(3))
    described = tuple(
        MetadataPartition(
            error_code=0,
            partition_index=index,
            leader_id=index % 3,
            leader_epoch=7,
            replica_nodes=(0, 1, 2),
            isr_nodes=(0, 1, 2),
        )
        for index in range(partitions)
    )
    topic = MetadataTopic(error_code=0, name="orders", topic_id=TOPIC_ID, partitions=described)
    return MetadataResponse(brokers=brokers, cluster_id="c" * 22, controller_id=1, topics=(topic,))


BROKERS_V8 = "i" + "ih16sih" * 3 + "h22si"
BROKERS_V12 = "B" + "iB16siBB" * 3 + "B22si"
PRODUCE = "produce request, 1 partition"
FETCH = "fetch request, 10 partitions"
METADATA = "metadata response, 100 partitions"
PRODUCED = "produce response, 1 partition"
FETCHED = "fetch response, 10 partitions"
# The last classic version, the last flexible one with names, and the last or one of the last with ids.
CASES = (
    Case(PRODUCE, produce_request(1000), 8, True, "hhiih6siii1000s", 6),
    Case(PRODUCE, produce_request(1000), 11, True, "BhiBB6sBiH1000sBBB", 6),
    Case(PRODUCE, produce_request(1000), 13, True, "BhiB16sBiH1000sBBB", 6),
    Case(FETCH, fetch_request(10), 11, True, "iiiibiiih6si" + "iiqqi" * 10 + "ih", 12),
    Case(FETCH, fetch_request(10), 12, True, "iiiibiiBB6sB" + "iiqiqiB" * 10 + "BBBB", 12),
    Case(FETCH, fetch_request(10), 17, True, "iiibiiB16sB" + "iiqiqiB" * 10 + "BBBB", 12),
    Case(
        METADATA, metadata_response(100), 8, False, f"i{BROKERS_V8}ihh6sbi" + "hiiii3ii3ii" * 100 + "ii", 150
    ),
    Case(
        METADATA,
        metadata_response(100),
        12,
        False,
        f"i{BROKERS_V12}BhB6s16sbB" + "hiiiB3iB3iBB" * 100 + "iBB",
        150,
    ),
    Case(PRODUCED, produce_response(), 8, False, "ih6siihqqqihi"),
    Case(PRODUCED, produce_response(), 11, False, "BB6sBihqqqBBBBiB"),
    Case(FETCHED, fetch_response(10), 11, False, "ihiih6si" + "ihqqqiii" * 10),
    Case(FETCHED, fetch_response(10), 17, False, "ihiB16sB" + "ihqqqBiBB" * 10 + "BB"),
)

if __name__ == "__main__":
    main()
