"""Headers as bytes written out by hand, and whole frames there and back."""

from __future__ import annotations

import pytest

from odradek.wire import frame
from odradek.wire.apis import API_BY_KEY, Api
from odradek.wire.codec import encode
from odradek.wire.messages.cluster import ControlledShutdownRequest
from odradek.wire.messages.fetch import FetchedPartition, FetchedTopic, FetchResponse
from odradek.wire.messages.headers import RequestHeader
from odradek.wire.messages.metadata import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest
from odradek.wire.parts import FileSlice, Part
from odradek.wire.primitives import Malformed

FETCH, METADATA, CONTROLLED_SHUTDOWN, API_VERSIONS = (API_BY_KEY[key] for key in (1, 3, 7, 18))


def joined(parts: list[Part]) -> bytes:
    return b"".join(part for part in parts if not isinstance(part, FileSlice))


@pytest.mark.parametrize(
    ("api", "version", "client_id", "request_", "expected"),
    [
        (METADATA, 8, "me", MetadataRequest(topics=()), "0003 0008 0000002a 0002 6d65 | 00000000 01 00 00"),
        (METADATA, 8, None, MetadataRequest(topics=()), "0003 0008 0000002a ffff | 00000000 01 00 00"),
        (METADATA, 9, "me", MetadataRequest(topics=()), "0003 0009 0000002a 0002 6d65 00 | 01 01 00 00 00"),
        (API_VERSIONS, 0, "", ApiVersionsRequest(), "0012 0000 0000002a 0000 |"),
        (
            CONTROLLED_SHUTDOWN,
            0,
            "me",
            ControlledShutdownRequest(broker_id=5),
            "0007 0000 0000002a | 00000005",
        ),
    ],
)
def test_a_request_frame_is_its_size_its_header_and_its_body(
    api: Api, version: int, client_id: str | None, request_: object, expected: str
) -> None:
    sent = joined(frame.request_frame(api, version, 42, client_id, request_))
    head, body = (bytes.fromhex(each) for each in expected.split("|"))
    assert sent == (len(head) + len(body)).to_bytes(4) + head + body
    read = frame.read_request_header(memoryview(sent)[4:])
    named = client_id if version >= api.client_id_since else None
    assert read == (api, version, 42, named, len(head))
    assert api.request_decoders[version](memoryview(sent)[4:], read.body_at) == (request_, len(sent) - 4)


def test_a_request_header_is_as_declared() -> None:
    for version, api, api_version in ((0, CONTROLLED_SHUTDOWN, 0), (1, METADATA, 8), (2, METADATA, 9)):
        declared = RequestHeader(
            request_api_key=api.key, request_api_version=api_version, correlation_id=-7, client_id="é"
        )
        read = frame.read_request_header(memoryview(encode(declared, version) + b"body"))
        assert read == (api, api_version, -7, "é" if version else None, len(encode(declared, version)))


def test_tagged_fields_of_a_request_header_are_skipped() -> None:
    header = bytes.fromhex("0003 0009 0000002a ffff 02 00 03 aabbcc 05 00 99")
    assert frame.read_request_header(memoryview(header)).body_at == len(header) - 1


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("03e7 0000 00000000 ffff", "no API 999"),
        ("ffff 0000 00000000 ffff", "no API -1"),
        ("0003 0000 00000000 ff", "end before"),
        ("0003 0000 00000000 0004 616263", "end before"),
        ("0003 0000 00000000 0001 ff", "utf-8"),
        ("0003 0009 00000000 ffff", "end before"),
        ("0003 0009 00000000 ffff 01 00 05 00", "end before"),
        ("0003 0009 00000000 ffff 914e", "10000 at most"),
    ],
)
def test_a_request_header_that_is_none_is_refused(header: str, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        frame.read_request_header(memoryview(bytes.fromhex(header)))


def test_every_truncated_request_header_is_refused() -> None:
    whole = bytes.fromhex("0003 0009 0000002a 0002 6d65 02 00 03 aabbcc 05 00")
    for size in range(len(whole)):
        with pytest.raises(Malformed):
            frame.read_request_header(memoryview(whole)[:size])


def test_a_response_frame_counts_slices_of_files_by_their_size() -> None:
    class Segment:
        def fileno(self) -> int:
            raise AssertionError("nobody sends it")

        def read(self, position: int, size: int) -> bytes:
            return b"\x09" * size

    piece = FileSlice(Segment(), 0, 1000)
    response = FetchResponse(
        responses=(
            FetchedTopic(
                topic="t",
                partitions=(
                    FetchedPartition(partition_index=0, error_code=0, high_watermark=9, records=piece),
                ),
            ),
        )
    )
    for version in (11, 12):
        parts = frame.response_frame(FETCH, version, 42, response)
        assert parts[1] is piece
        size = len(joined(parts)) - 4 + piece.size
        assert joined(parts)[:8] == size.to_bytes(4) + (42).to_bytes(4)
        whole = b"".join(part.read() if isinstance(part, FileSlice) else part for part in parts)
        back = frame.read_response(FETCH, version, memoryview(whole)[4:])
        assert isinstance(back, FetchResponse)
        assert back.responses[0].partitions[0].records == piece.read()


@pytest.mark.parametrize("version", API_VERSIONS.versions)
def test_the_answer_to_api_versions_never_has_a_tagged_header(version: int) -> None:
    sent = joined(
        frame.response_frame(API_VERSIONS, version, 42, ApiVersionsResponse(error_code=35, api_keys=()))
    )
    assert sent[4:10].hex() == "0000002a0023"
    assert frame.read_correlation_id(memoryview(sent)[4:]) == 42
    read = frame.read_response(API_VERSIONS, version, memoryview(sent)[4:])
    assert read == ApiVersionsResponse(error_code=35, api_keys=())


def test_tagged_fields_of_a_response_header_are_skipped() -> None:
    response = bytes.fromhex("0000002a 01 07 02 aabb") + encode(FetchResponse(responses=()), 12)
    assert frame.read_response(FETCH, 12, memoryview(response)) == FetchResponse(responses=())


@pytest.mark.parametrize("size", range(5))
def test_a_truncated_response_header_is_refused(size: int) -> None:
    response = memoryview(bytes(size))
    with pytest.raises(Malformed):
        frame.read_response(FETCH, 12, response)
    if size < 4:
        with pytest.raises(Malformed):
            frame.read_correlation_id(response)
