"""What the whole cluster may use: transactions v2 (KIP-890), as long as this broker is the whole cluster.

A ZooKeeper-mode Kafka has no features that brokers agree on, and does not speak transactions v2, so it would
refuse what a client then leaves to the brokers. There is no feature to raise or to lower, and every update is
told so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.messages.features import FeatureUpdateResult, UpdateFeaturesResponse
from odradek.wire.messages.metadata import FinalizedFeature, SupportedFeature

if TYPE_CHECKING:
    from odradek.broker.context import RequestContext
    from odradek.model.image import ClusterImage
    from odradek.wire.messages.features import FeatureUpdate, UpdateFeaturesRequest

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
KIND_SINCE = 1
ONE_ANSWER_SINCE = 2
ZERO_SINCE = 4  # of ApiVersions: clients that ask by less take no feature that begins at 0

_TRANSACTION_VERSION = "transaction.version"
_TRANSACTIONS_V2 = 2
_FIRST_EPOCH, _NO_EPOCH = 0, -1


class Features(NamedTuple):
    """As ApiVersions tells them."""

    epoch: int
    supported: tuple[SupportedFeature, ...]
    finalized: tuple[FinalizedFeature, ...]


_NO_FEATURES = Features(_NO_EPOCH, (), ())


def features(image: ClusterImage, version: int) -> Features:
    """In a version of ApiVersions."""
    if len(image.brokers) > 1:
        return _NO_FEATURES
    oldest = 0 if version >= ZERO_SINCE else 1
    return Features(
        _FIRST_EPOCH,
        (SupportedFeature(name=_TRANSACTION_VERSION, min_version=oldest, max_version=_TRANSACTIONS_V2),),
        (
            FinalizedFeature(
                name=_TRANSACTION_VERSION,
                max_version_level=_TRANSACTIONS_V2,
                min_version_level=_TRANSACTIONS_V2,
            ),
        ),
    )


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
