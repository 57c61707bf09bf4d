"""What every client may rely on. Written once; each test_clients_*.py inherits what its client can do.

A class here takes the client as a fixture. Where a client cannot read what it wrote, or write what it is to
read, `reader` or `writer` is another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import ClassVar

import pytest
from tests.compatibility.clients import (
    ACKS,
    CODECS,
    EARLIEST,
    LATEST,
    Administrator,
    Consumer,
    Found,
    LogDirReader,
    Member,
    Position,
    Producer,
    Record,
    Refused,
)
from tests.compatibility.served import Served

from odradek.wire.batch import COMPRESSION_MASK, split
from odradek.wire.compression import Codec

T0 = 1_700_000_000_000
MIB = 1024 * 1024
MESSAGE_TOO_LARGE, TOPIC_ALREADY_EXISTS, UNKNOWN_TOPIC, INVALID_CONFIG = 10, 36, 3, 40
_numbers = count(1)

RECORDS: tuple[Record, ...] = (
    Record("key", "value", T0),
    Record("key", None, T0 + 1),
    Record(None, "no key", T0 + 2),
    Record("", "", T0 + 1),  # older than the one before
    Record("headed", "value", T0 + 3, (("name", "1"), ("name", "2"), ("none", None), ("empty", ""))),
    *(Record(f"key-{number}", "compressible " * number, T0 + number) for number in range(4, 40)),
)
WITHOUT_NULL_HEADERS = tuple(
    record._replace(headers=tuple(header for header in record.headers if header[1] is not None))
    for record in RECORDS
)


class _OnTopics:
    records: ClassVar[Sequence[Record]] = RECORDS  # what this client can say

    @pytest.fixture
    def topic(self, served: Served) -> str:
        name = fresh_name()
        served.create_topic(name)
        return name


class Produces(_OnTopics):
    @pytest.mark.parametrize("acks", ACKS)
    @pytest.mark.parametrize("codec", CODECS)
    def test_records_arrive_as_they_were_sent(
        self, client: Producer, reader: Consumer, served: Served, topic: str, codec: str, acks: str
    ) -> None:
        client.produce(topic, self.records, codec=codec, acks=acks)
        assert_same(read_all(reader, topic, len(self.records)), self.records)
        assert stored_codec(served, topic) == codec

    @pytest.mark.parametrize("codec", CODECS)
    def test_the_codec_of_a_topic_wins(
        self, client: Producer, reader: Consumer, served: Served, codec: str
    ) -> None:
        topic, own = fresh_name(), "gzip" if codec == "zstd" else "zstd"
        served.create_topic(topic, compression_type=own)
        client.produce(topic, self.records, codec=codec)
        assert_same(read_all(reader, topic, len(self.records)), self.records)
        assert stored_codec(served, topic) == own

    def test_requests_one_after_the_other_stay_in_order(
        self, client: Producer, reader: Consumer, topic: str
    ) -> None:
        sent = [[Record(f"{request}", f"{number}") for number in range(3)] for request in range(5)]
        for records in sent:
            client.produce(topic, records)
        assert_same(read_all(reader, topic, 15), [record for records in sent for record in records])

    @pytest.mark.parametrize("size", [MIB, 10 * MIB])
    def test_a_large_message_passes(
        self, client: Producer, reader: Consumer, served: Served, size: int
    ) -> None:
        topic = fresh_name()
        served.create_topic(topic, max_message_bytes=str(size + 200))
        records = [Record("key", value) for value in ("small", "x" * size, "small")]
        for record in records:
            client.produce(topic, [record])
        assert_same(read_all(reader, topic, 3), records)

    def test_a_message_that_is_too_large_is_refused(self, client: Producer, topic: str) -> None:
        with pytest.raises(Refused) as refused:
            client.produce(topic, [Record("large", "x" * 2 * MIB)])
        assert refused.value.code == MESSAGE_TOO_LARGE

    def test_a_topic_is_made_for_who_produces_to_it(self, client: Producer, reader: Consumer) -> None:
        topic = fresh_name()
        client.produce(topic, self.records[:1])
        assert_same(read_all(reader, topic, 1), self.records[:1])


class ProducesIdempotently(_OnTopics):
    def test_an_idempotent_producer_is_served(self, client: Producer, reader: Consumer, topic: str) -> None:
        for _ in range(2):
            client.produce(topic, self.records, idempotent=True)
        assert_same(read_all(reader, topic, 2 * len(self.records)), [*self.records, *self.records])


class Consumes(_OnTopics):
    @pytest.mark.parametrize(
        ("position", "first"),
        [
            (EARLIEST, 0),
            (Position("offset", 0), 0),
            (Position("offset", 3), 3),  # inside a batch
            (Position("offset", 9), 9),
            (Position("time", T0 - 1), 0),
            (Position("time", T0 + 4000), 4),
            (Position("time", T0 + 4001), 5),
        ],
    )
    def test_reading_begins_anywhere(
        self, client: Consumer, written: str, position: Position, first: int
    ) -> None:
        client.assign([written], position)
        found = client.read(10 - first)
        assert [each.offset for each in found] == list(range(first, 10))
        assert [each.record for each in found] == [tenth(number) for number in range(first, 10)]

    @pytest.mark.parametrize("position", [LATEST, Position("offset", 2)])
    def test_the_tail_is_followed(
        self, client: Consumer, writer: Producer, topic: str, position: Position
    ) -> None:
        writer.produce(topic, [tenth(0), tenth(1)])
        client.assign([topic], position)
        for number in range(2, 5):
            writer.produce(topic, [tenth(number)])
            assert client.read(1) == [Found(topic, number, tenth(number))]

    def test_an_offset_out_of_range_leads_back_to_the_beginning(self, client: Consumer, written: str) -> None:
        client.assign([written], Position("offset", 5000))
        assert client.read(1) == [Found(written, 0, tenth(0))]

    @pytest.mark.parametrize("codec", CODECS[1:])
    def test_what_the_broker_compressed_is_read(
        self, client: Consumer, writer: Producer, served: Served, codec: str
    ) -> None:
        topic = fresh_name()
        served.create_topic(topic, compression_type=codec)
        writer.produce(topic, self.records, codec="none")
        assert_same(read_all(client, topic, len(self.records)), self.records)
        assert stored_codec(served, topic) == codec


class JoinsGroups(_OnTopics):
    def test_a_group_goes_on_where_it_committed(self, client: Member, writer: Producer, topic: str) -> None:
        writer.produce(topic, [tenth(number) for number in range(10)])
        client.join(topic, topic)
        assert [each.offset for each in client.read(6)] == list(range(6))
        client.commit()
        assert [each.offset for each in client.read(1)] == [6]
        client.leave()
        client.join(topic, topic)
        assert [each.offset for each in client.read(4)] == list(range(6, 10))
        client.leave()

    def test_members_share_the_partitions(self, client: Member, other: Member, served: Served) -> None:
        topic = fresh_name()
        served.create_topic(topic, partitions=4)
        client.join(topic, topic)
        client.await_partitions(4)
        other.join(topic, topic)
        with ThreadPoolExecutor() as threads:  # both are at it at once, since one may wait for the other
            list(threads.map(lambda member: member.await_partitions(2), (client, other)))
        other.leave()
        client.await_partitions(4)
        client.leave()


class Administers(_OnTopics):
    def test_topics_come_and_go(self, client: Administrator) -> None:
        names = [fresh_name(), fresh_name()]
        client.create_topics(names, 3, {})
        assert [client.topics().get(name) for name in names] == [3, 3]
        with pytest.raises(Refused) as refused:
            client.create_topics(names[:1], 3, {})
        assert refused.value.code == TOPIC_ALREADY_EXISTS
        client.delete_topics(names)
        assert not client.topics().keys() & names
        with pytest.raises(Refused) as refused:
            client.delete_topics(names[:1])
        assert refused.value.code == UNKNOWN_TOPIC

    def test_settings_are_told_and_changed(self, client: Administrator) -> None:
        topic = fresh_name()
        client.create_topics([topic], 1, {"retention.ms": "1234", "cleanup.policy": "compact,delete"})
        told = client.settings(topic)
        assert told["retention.ms"] == "1234"
        assert told["cleanup.policy"] == "compact,delete"
        assert told["segment.bytes"] == "1073741824"
        client.change_settings(topic, {"retention.ms": "5678", "cleanup.policy": "delete"})
        told = client.settings(topic)
        assert (told["retention.ms"], told["cleanup.policy"]) == ("5678", "delete")
        with pytest.raises(Refused) as refused:
            client.change_settings(topic, {"retention.ms": "long"})
        assert refused.value.code == INVALID_CONFIG

    def test_partitions_are_added(self, client: Administrator, topic: str) -> None:
        client.add_partitions(topic, 4)
        assert client.topics()[topic] == 4

    def test_offsets_are_listed_and_records_deleted(
        self, client: Administrator, writer: Producer, topic: str
    ) -> None:
        positions = [EARLIEST, LATEST, Position("time", T0 + 4000), Position("time", T0 + 60_000)]
        writer.produce(topic, [tenth(number) for number in range(10)])
        assert [client.offset(topic, position) for position in positions] == [0, 10, 4, -1]
        client.delete_records(topic, before=6)
        assert [client.offset(topic, position) for position in positions] == [6, 10, 6, -1]


class ManyTopics(_OnTopics):
    def test_two_hundred_topics(
        self, client: Administrator, writer: Producer, reader: Consumer, topic: str
    ) -> None:
        """Made and deleted at once, written to one by one, read together."""
        topics = [fresh_name() for _ in range(200)]
        client.create_topics(topics, 1, {})
        assert client.topics().keys() >= set(topics)
        for topic in topics[::10]:
            writer.produce(topic, [Record("key", topic, T0)])
        reader.assign(topics, EARLIEST)
        assert {(each.topic, each.record.value) for each in reader.read(20)} == {(t, t) for t in topics[::10]}
        reader.assign([topic], EARLIEST)  # who still asks for a topic that is gone may make it anew
        client.delete_topics(topics)
        assert not client.topics().keys() & set(topics)


class SeesLogDirs(_OnTopics):
    def test_a_log_has_a_size(self, client: LogDirReader, writer: Producer, topic: str) -> None:
        writer.produce(topic, [Record("key", "x" * 5000, T0)])
        assert 5000 < client.log_sizes()[topic] < 6000


def fresh_name() -> str:
    return f"topic-{next(_numbers)}"


def read_all(reader: Consumer, topic: str, count: int) -> list[Found]:
    reader.assign([topic], EARLIEST)
    return reader.read(count)


def stored_codec(served: Served, topic: str) -> str:
    """What batches are compressed with. A small one may be left as it is."""
    stored = served.log_file(topic).read_bytes()
    codecs = {Codec(header.attributes & COMPRESSION_MASK) for _, header in split(stored)}
    (codec,) = codecs - {Codec.NONE} or {Codec.NONE}
    return codec.name.lower()


def assert_same(found: Sequence[Found], sent: Sequence[Record]) -> None:
    assert [each.offset for each in found] == list(range(len(sent)))
    for each, record in zip(found, sent, strict=True):
        if record.timestamp is None:
            assert each.record._replace(timestamp=None) == record
        else:
            assert each.record == record


def tenth(number: int) -> Record:
    return Record(f"key {number}", f"value {number}", T0 + 1000 * number)
