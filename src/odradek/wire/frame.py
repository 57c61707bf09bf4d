"""What a length-prefixed frame holds: a header, then a request or a response, for the server and the client.

A request begins with its API, version, correlation id and (from header version 1 on) the client's id;
flexible versions add tagged fields. The client's id keeps its classic form everywhere. A response begins with
the correlation id, and where flexible with tagged fields; that of ApiVersions never has them, because a
client that asks with it does not know yet what the broker speaks.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from odradek.wire.apis import API_BY_KEY, Api
from odradek.wire.parts import size_of
from odradek.wire.primitives import TRUNCATED, Malformed, read_unknown_tags

if TYPE_CHECKING:
    from odradek.wire.parts import Part

_REQUEST: Final = struct.Struct(">hhih")  # API key, version, correlation id, size of the client's id
_REQUEST_PREFIX: Final = struct.Struct(">ihhih")  # with the frame's size before it
_RESPONSE_PREFIX: Final = struct.Struct(">ii")  # the frame's size, correlation id
_CORRELATION_ID: Final = struct.Struct(">i")
_SIZE: Final = struct.Struct(">i")
_PREFIX_SIZE: Final = _SIZE.size
_UNNAMED_SIZE: Final = 8  # of header version 0, which ends before the client's id

_new_tuple = tuple.__new__  # half the price of calling a named tuple's class


class RequestHeader(NamedTuple):
    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    body_at: int


# -- the server's side -------------------------------------------------------------------------------------


def read_request_header(frame: memoryview) -> RequestHeader:
    """The header of a request, for the body of which the version may still turn out to be none of ours."""
    try:
        key, version, correlation_id, size = _REQUEST.unpack_from(frame)
        api = API_BY_KEY[key]
        at = 10
        client_id = None
        if version < api.client_id_since:
            at = _UNNAMED_SIZE
        elif size >= 0:
            at += size
            client_id = frame[10:at].tobytes().decode()
        if version >= api.flexible:
            tags = frame[at]
            at += 1
            if tags:
                _, at = read_unknown_tags(frame, at, tags)
    except KeyError:
        raise Malformed("request header", "api key", 0, f"there is no API {key}") from None
    except (struct.error, IndexError):
        raise Malformed("request header", "", len(frame), TRUNCATED) from None
    except ValueError as failure:
        raise Malformed("request header", "", at, str(failure)) from None
    if at > len(frame):
        raise Malformed("request header", "client id", len(frame), TRUNCATED)
    return _new_tuple(RequestHeader, (api, version, correlation_id, client_id, at))


def response_frame(api: Api, version: int, correlation_id: int, response: object) -> list[Part]:
    """A whole frame, its size in front, ready to be sent."""
    out = bytearray(_RESPONSE_PREFIX.size + api.response_is_tagged(version))
    parts = api.response_encoders[version](response, out)
    size = len(out) if len(parts) == 1 else size_of(parts)
    _RESPONSE_PREFIX.pack_into(out, 0, size - _PREFIX_SIZE, correlation_id)
    return parts


# -- the client's side -------------------------------------------------------------------------------------


def request_frame(
    api: Api, version: int, correlation_id: int, client_id: str | None, request: object
) -> list[Part]:
    """A whole frame, its size in front, ready to be sent."""
    name = b"" if client_id is None else client_id.encode()
    name_size = -1 if client_id is None else len(name)
    out = bytearray(_REQUEST_PREFIX.pack(0, api.key, version, correlation_id, name_size) + name)
    if version < api.client_id_since:
        del out[_PREFIX_SIZE + _UNNAMED_SIZE :]
    if version >= api.flexible:
        out.append(0)
    parts = api.request_encoders[version](request, out)
    _SIZE.pack_into(out, 0, size_of(parts) - _PREFIX_SIZE)
    return parts


def read_correlation_id(frame: memoryview) -> int:
    """Which request a response answers."""
    if len(frame) < _CORRELATION_ID.size:
        raise Malformed("response header", "correlation id", len(frame), TRUNCATED)
    (correlation_id,) = _CORRELATION_ID.unpack_from(frame)
    return int(correlation_id)


def read_response(api: Api, version: int, frame: memoryview) -> object:
    """The response in a frame, whatever request it answers."""
    at = _CORRELATION_ID.size
    if api.response_is_tagged(version):
        try:
            _, at = read_unknown_tags(frame, at + 1, frame[at])
        except (IndexError, ValueError) as failure:
            raise Malformed("response header", "", at, str(failure)) from None
    response, _ = api.response_decoders[version](frame, at)
    return response
