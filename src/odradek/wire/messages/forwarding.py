"""What brokers ask the controller for others.

Envelope (key 58): a client's request, forwarded with who sent it (KIP-590). The principal travels as
`DefaultPrincipalData`, behind two bytes of version.

AllocateProducerIds (key 67): a block of producer ids (KIP-730).
"""

from __future__ import annotations

from odradek.wire.schema import Bool, Bytes, Int16, Int32, Int64, String, message


@message(versions=range(1), flexible=0)
class EnvelopeRequest:
    request_data: Bytes
    request_principal: Bytes | None  # null: the sender is the broker itself
    client_host_address: Bytes  # four or sixteen bytes


@message(versions=range(1), flexible=0)
class EnvelopeResponse:
    response_data: Bytes | None = None
    error_code: Int16  # the envelope's own


@message(versions=range(1), flexible=0)
class AllocateProducerIdsRequest:
    broker_id: Int32
    broker_epoch: Int64 = -1


@message(versions=range(1), flexible=0)
class AllocateProducerIdsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    producer_id_start: Int64
    producer_id_len: Int32


@message(versions=range(1), flexible=0)
class DefaultPrincipalData:
    type: String
    name: String
    token_authenticated: Bool
