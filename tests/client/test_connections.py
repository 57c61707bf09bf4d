"""A broker that is asked over a real socket, the question about versions first."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from odradek.client.connections import API_VERSIONS, PeerConnector
from odradek.client.settings import ClientSettings
from odradek.net.peer import PeerLost
from odradek.net.port import Address
from odradek.wire.frame import read_request_header, response_frame
from odradek.wire.messages.metadata import ApiVersion, ApiVersionsRequest, ApiVersionsResponse

UNSUPPORTED_VERSION = 35
OFFER = ApiVersionsResponse(
    error_code=0, api_keys=(ApiVersion(api_key=18, min_version=0, max_version=3),), throttle_time_ms=9
)


@asynccontextmanager
async def answering(answer: Callable[[int, int], bytes]) -> AsyncIterator[Address]:
    """A server that gives each request, by its version and correlation id, this answer."""
    served: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while size := await reader.read(4):
            frame = await reader.readexactly(struct.unpack(">i", size)[0])
            header = read_request_header(memoryview(frame))
            writer.write(answer(header.version, header.correlation_id))
        writer.close()
        await writer.wait_closed()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accepted, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        yield Address(host, port)
    await asyncio.gather(*served)


async def versions_from(address: Address, version: int) -> ApiVersionsResponse:
    settings = ClientSettings.of(str(address))
    connection = await PeerConnector(settings).connect(address)
    try:
        found = await connection.ask(API_VERSIONS, version, ApiVersionsRequest())
    finally:
        connection.close()
    assert isinstance(found, ApiVersionsResponse)
    return found


def frame(version: int, correlation_id: int, response: ApiVersionsResponse) -> bytes:
    return b"".join(bytes(each) for each in response_frame(API_VERSIONS, version, correlation_id, response))  # type: ignore[arg-type]


async def test_a_broker_answers_in_the_version_that_was_asked() -> None:
    async with answering(lambda version, id: frame(version, id, OFFER)) as address:
        found = await versions_from(address, 4)
    assert found.throttle_time_ms == 9
    assert found.api_keys == OFFER.api_keys


async def test_a_broker_that_does_not_speak_the_version_answers_in_the_oldest() -> None:
    refused = ApiVersionsResponse(error_code=UNSUPPORTED_VERSION, api_keys=OFFER.api_keys)
    async with answering(lambda _, id: frame(0, id, refused)) as address:
        found = await versions_from(address, 4)
    assert found.error_code == UNSUPPORTED_VERSION
    assert found.api_keys == OFFER.api_keys


async def test_an_answer_that_is_none_loses_the_broker() -> None:
    async with answering(lambda _, id: struct.pack(">iihb", 7, id, 0, 100)) as address:
        with pytest.raises(PeerLost):
            await versions_from(address, 4)


async def test_nobody_is_there() -> None:
    async with answering(lambda _, id: frame(0, id, OFFER)) as address:
        pass
    with pytest.raises(PeerLost, match=f"{address} cannot be reached"):
        await versions_from(address, 4)
