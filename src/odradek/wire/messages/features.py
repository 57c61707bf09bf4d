"""UpdateFeatures (key 57): raise or lower what the whole cluster may use (KIP-584).

v1  the kind of upgrade, and validate only (KIP-778).
v2  one answer for all features.
"""

from __future__ import annotations

from typing import Annotated

from odradek.wire.schema import Bool, Int8, Int16, Int32, Since, String, Until, message


@message
class FeatureUpdate:
    feature: String
    max_version_level: Int16  # below 1: remove
    allow_downgrade: Annotated[Bool, Until(0)] = False
    upgrade_type: Annotated[Int8, Since(1)] = 1  # 1 upgrade, 2 safe downgrade, 3 unsafe downgrade


@message(versions=range(3), flexible=0)
class UpdateFeaturesRequest:
    timeout_ms: Int32 = 60000
    feature_updates: tuple[FeatureUpdate, ...]
    validate_only: Annotated[Bool, Since(1)] = False


@message
class FeatureUpdateResult:
    feature: String
    error_code: Int16
    error_message: String | None


@message(versions=range(3), flexible=0)
class UpdateFeaturesResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: String | None
    results: Annotated[tuple[FeatureUpdateResult, ...], Until(1)] = ()
