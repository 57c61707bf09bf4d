"""What the whole cluster may use. Nothing of ours, as nothing of a ZooKeeper-mode Kafka's, depends on a level
that all brokers agreed on: there is no feature to raise or to lower, and every update is told so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.messages.features import FeatureUpdateResult, UpdateFeaturesResponse

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.wire.messages.features import FeatureUpdate, UpdateFeaturesRequest

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
KIND_SINCE = 1
ONE_ANSWER_SINCE = 2


def update_features(ctx: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    ctx.require_controller()
    refusals = [(update.feature, _refusal(ctx, update)) for update in request.feature_updates]
    if ctx.version >= ONE_ANSWER_SINCE and refusals:
        name, refusal = refusals[0]
        raise ApiError(
            refusal.error,
            "The update failed for all features since the following feature had an error: "
            f"{name}: {refusal.detail}",
        )
    return UpdateFeaturesResponse(
        error_code=0,
        error_message=None,
        results=tuple(
            FeatureUpdateResult(feature=name, error_code=refusal.error.code, error_message=refusal.detail)
            for name, refusal in refusals
        ),
    )


def _refusal(ctx: RequestContext, update: FeatureUpdate) -> ApiError:
    is_downgrade = update.allow_downgrade
    if ctx.version >= KIND_SINCE:
        is_downgrade = update.upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
    if not update.feature:
        complaint = "Feature name can not be empty."
    elif not (is_downgrade or update.upgrade_type == UPGRADE):
        complaint = "Received unknown upgrade type."
    elif update.max_version_level >= 1:
        complaint = "Could not apply finalized feature update because the provided feature is not supported."
    elif is_downgrade:
        complaint = "Can not delete non-existing finalized feature."
    else:
        complaint = (
            f"Can not provide versionLevel: {update.max_version_level} less than 1 without setting the SAFE "
            "downgradeType in the request."
        )
    return ApiError(ErrorCode.INVALID_REQUEST, complaint)
