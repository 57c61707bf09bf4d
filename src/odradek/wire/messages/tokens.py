"""Delegation tokens (KIP-48): Create (key 38), Renew (key 39), Expire (key 40), Describe (key 41).

v2  flexible versions, all four.
v3  create and describe: a token may be another's, with who asked for it (KIP-373).
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bytes, Int16, Int32, Int64, Since, String, message


@message
class TokenPrincipal:
    principal_type: String
    principal_name: String


@message(versions=range(4), flexible=2)
class CreateDelegationTokenRequest:
    owner_principal_type: Annotated[String | None, Since(3)] = ""
    owner_principal_name: Annotated[String | None, Since(3)] = ""
    renewers: tuple[TokenPrincipal, ...]
    max_lifetime_ms: Int64  # -1: the broker's


@message(versions=range(4), flexible=2)
class CreateDelegationTokenResponse:
    error_code: Int16
    principal_type: String
    principal_name: String
    token_requester_principal_type: Annotated[String, Since(3)] = ""
    token_requester_principal_name: Annotated[String, Since(3)] = ""
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: String
    hmac: Bytes
    throttle_time_ms: Int32 = 0


@message(versions=range(3), flexible=2)
class RenewDelegationTokenRequest:
    hmac: Bytes
    renew_period_ms: Int64  # -1: the broker's


@message(versions=range(3), flexible=2)
class RenewDelegationTokenResponse:
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32 = 0


@message(versions=range(3), flexible=2)
class ExpireDelegationTokenRequest:
    hmac: Bytes
    expiry_time_period_ms: Int64  # negative: at once


@message(versions=range(3), flexible=2)
class ExpireDelegationTokenResponse:
    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32 = 0


@message(versions=range(4), flexible=2)
class DescribeDelegationTokenRequest:
    owners: tuple[TokenPrincipal, ...] | None  # null: all of them


@message
class DescribedToken:
    principal_type: String
    principal_name: String
    token_requester_principal_type: Annotated[String, Since(3)] = ""
    token_requester_principal_name: Annotated[String, Since(3)] = ""
    issue_timestamp: Int64
    expiry_timestamp: Int64
    max_timestamp: Int64
    token_id: String
    hmac: Bytes
    renewers: tuple[TokenPrincipal, ...]


@message(versions=range(4), flexible=2)
class DescribeDelegationTokenResponse:
    error_code: Int16
    tokens: tuple[DescribedToken, ...]
    throttle_time_ms: Int32 = 0
