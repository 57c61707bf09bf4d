"""Client metrics: what we want of a client, and what it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.client_telemetry import CODECS
from odradek.model.config import client_metrics
from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.messages.telemetry import GetTelemetrySubscriptionsResponse, PushTelemetryResponse

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.wire.messages.telemetry import GetTelemetrySubscriptionsRequest, PushTelemetryRequest

NOBODY = bytes(16)
RESERVED = (NOBODY, bytes(15) + b"\x01")  # ids that no client has


def get_telemetry_subscriptions(
    ctx: RequestContext, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    telemetry = ctx.services.client_telemetry
    instance = request.client_instance_id
    if instance == NOBODY:
        instance = ctx.services.entropy.random_bytes(16)
    wanted = telemetry.ask(instance, _facts(ctx))
    return GetTelemetrySubscriptionsResponse(
        error_code=0,
        client_instance_id=instance,
        subscription_id=wanted.number,
        accepted_compression_types=CODECS,
        push_interval_ms=wanted.interval_ms,
        telemetry_max_bytes=telemetry.size_max,
        delta_temporality=True,
        requested_metrics=wanted.metrics,
    )


def refuse_get_telemetry_subscriptions(
    request: GetTelemetrySubscriptionsRequest, refusal: ApiError
) -> GetTelemetrySubscriptionsResponse:
    del request
    return GetTelemetrySubscriptionsResponse(
        error_code=refusal.error.code,
        client_instance_id=NOBODY,
        subscription_id=0,
        accepted_compression_types=(),
        push_interval_ms=0,
        telemetry_max_bytes=0,
        delta_temporality=False,
        requested_metrics=(),
    )


def push_telemetry(ctx: RequestContext, request: PushTelemetryRequest) -> PushTelemetryResponse:
    if request.client_instance_id in RESERVED:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    ctx.services.client_telemetry.push(request, _facts(ctx))
    return PushTelemetryResponse(error_code=0)


def _facts(ctx: RequestContext) -> dict[str, str]:
    """What subscriptions can be matched with."""
    peer = ctx.connection.peer
    return {
        client_metrics.CLIENT_ID: ctx.client_id or "",
        client_metrics.SOFTWARE_NAME: ctx.software.name,
        client_metrics.SOFTWARE_VERSION: ctx.software.version,
        client_metrics.SOURCE_ADDRESS: peer.host,
        client_metrics.SOURCE_PORT: str(peer.port),
    }
