"""Features: what every broker could use, and what the cluster has agreed to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from odradek.client.cluster import ANYONE, CONTROLLER
from odradek.client.failures import check
from odradek.wire.messages.features import FeatureUpdate, UpdateFeaturesRequest, UpdateFeaturesResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odradek.client.cluster import Cluster


class Feature(NamedTuple):
    name: str
    supported_min: int
    supported_max: int
    finalized: int  # 0: not in use


async def features(cluster: Cluster) -> tuple[tuple[Feature, ...], int]:
    """By name, and the epoch of the agreement, -1 if there is none."""

    async def attempt() -> tuple[tuple[Feature, ...], int]:
        offer = (await cluster.reach(ANYONE)).versions
        levels = {each.name: each.max_version_level for each in offer.finalized_features}
        found = (
            Feature(each.name, each.min_version, each.max_version, levels.get(each.name, 0))
            for each in offer.supported_features
        )
        return tuple(sorted(found)), offer.finalized_features_epoch

    return await cluster.one("features", attempt)


async def update_features(
    cluster: Cluster, updates: Sequence[FeatureUpdate], *, validate_only: bool = False
) -> None:
    async def attempt() -> None:
        request = UpdateFeaturesRequest(
            timeout_ms=cluster.settings.request_timeout_ms,
            feature_updates=tuple(updates),
            validate_only=validate_only,
        )
        answer = await cluster.ask(CONTROLLER, request, UpdateFeaturesResponse)
        check(answer.error_code, answer.error_message, asked="update of features")
        for each in answer.results:
            check(each.error_code, each.error_message, asked=f"update of feature {each.feature}")

    await cluster.one("update of features", attempt)
