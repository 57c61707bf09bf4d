"""Every scene, by name."""

from __future__ import annotations

from tests.compatibility.scenes import (
    configs,
    frames,
    metadata,
    offsets,
    placement,
    producing,
    reading,
    topics,
    transactions,
)

_THEMES = (topics, configs, placement, producing, reading, offsets, metadata, frames, transactions)

SCENES = {scene.name: scene for theme in _THEMES for scene in theme.SCENES}
