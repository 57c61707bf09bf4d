"""How far a broker has come: what those who watch it are told."""

from __future__ import annotations

from enum import Enum


class Stage(Enum):
    STARTING = "starting"
    RECOVERING = "recovering its logs"
    SERVING = "serving"
    STOPPING = "stopping"
