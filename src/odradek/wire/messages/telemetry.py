"""Clients send us their metrics (KIP-714): GetTelemetrySubscriptions (key 71), PushTelemetry (key 72)."""

from __future__ import annotations

from odradek.wire.schema import Bool, Bytes, Int8, Int16, Int32, String, Uuid, message


@message(versions=range(1), flexible=0)
class GetTelemetrySubscriptionsRequest:
    client_instance_id: Uuid  # zero: give me one


@message(versions=range(1), flexible=0)
class GetTelemetrySubscriptionsResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    client_instance_id: Uuid
    subscription_id: Int32
    accepted_compression_types: tuple[Int8, ...]
    push_interval_ms: Int32
    telemetry_max_bytes: Int32
    delta_temporality: Bool
    requested_metrics: tuple[String, ...]  # prefixes; one empty: all; none: no metrics


@message(versions=range(1), flexible=0)
class PushTelemetryRequest:
    client_instance_id: Uuid
    subscription_id: Int32
    terminating: Bool  # the last before it closes
    compression_type: Int8
    metrics: Bytes  # OTLP, perhaps compressed


@message(versions=range(1), flexible=0)
class PushTelemetryResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
