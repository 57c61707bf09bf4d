"""Logging in, and the SCRAM credentials it may need.

SaslHandshake (key 17): choose a mechanism.
  v0  what follows is the mechanism's own bytes, without our header.
  v1  what follows comes in SaslAuthenticate.

SaslAuthenticate (key 36): one step of the mechanism.
  v1  answers how long the session lives (KIP-368).
  v2  flexible versions.

DescribeUserScramCredentials (key 50), AlterUserScramCredentials (key 51): KIP-554.
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bytes, Int8, Int16, Int32, Int64, Since, String, message


@message(versions=range(2))
class SaslHandshakeRequest:
    mechanism: String


@message(versions=range(2))
class SaslHandshakeResponse:
    error_code: Int16
    mechanisms: tuple[String, ...]


@message(versions=range(3), flexible=2)
class SaslAuthenticateRequest:
    auth_bytes: Bytes


@message(versions=range(3), flexible=2)
class SaslAuthenticateResponse:
    error_code: Int16
    error_message: String | None
    auth_bytes: Bytes
    session_lifetime_ms: Annotated[Int64, Since(1)] = 0  # 0: no end


@message
class UserName:
    name: String


@message(versions=range(1), flexible=0)
class DescribeUserScramCredentialsRequest:
    users: tuple[UserName, ...] | None  # null: all of them


@message
class ScramCredentialInfo:
    mechanism: Int8  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    iterations: Int32


@message
class DescribedScramUser:
    user: String
    error_code: Int16
    error_message: String | None
    credential_infos: tuple[ScramCredentialInfo, ...]


@message(versions=range(1), flexible=0)
class DescribeUserScramCredentialsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None
    results: tuple[DescribedScramUser, ...]


@message
class ScramCredentialDeletion:
    name: String
    mechanism: Int8


@message
class ScramCredentialUpsertion:
    name: String
    mechanism: Int8
    iterations: Int32
    salt: Bytes
    salted_password: Bytes


@message(versions=range(1), flexible=0)
class AlterUserScramCredentialsRequest:
    deletions: tuple[ScramCredentialDeletion, ...]
    upsertions: tuple[ScramCredentialUpsertion, ...]


@message
class AlteredScramUser:
    user: String
    error_code: Int16
    error_message: String | None


@message(versions=range(1), flexible=0)
class AlterUserScramCredentialsResponse:
    throttle_time_ms: Int32 = 0
    results: tuple[AlteredScramUser, ...]
