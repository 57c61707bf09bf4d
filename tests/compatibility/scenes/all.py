"""Every scene, by name."""

from __future__ import annotations

from tests.compatibility.scenes import configs, topics

SCENES = {scene.name: scene for theme in (topics, configs) for scene in theme.SCENES}
