"""What stands before every request and response.

RequestHeader
  v0  without a client id: only ControlledShutdown v0.
  v2  flexible versions, yet the client id stays as it was.

ResponseHeader
  v1  flexible versions. ApiVersions never uses it.
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Classic, Int16, Int32, Since, String, message


@message(versions=range(3), flexible=2)
class RequestHeader:
    request_api_key: Int16
    request_api_version: Int16
    correlation_id: Int32
    client_id: Annotated[String | None, Since(1), Classic()] = ""


@message(versions=range(2), flexible=1)
class ResponseHeader:
    correlation_id: Int32
