"""The reference of settings: all that is known about each, for people, for programs, for a web page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from odradek.model.config.registry import BROKER_SETTINGS, TOPIC_SETTINGS, Settings
from odradek.model.config.setting import SERVED, Setting

if TYPE_CHECKING:
    from odradek.cli.output import Row

SCOPES: Mapping[str, Settings] = {"brokers": BROKER_SETTINGS, "topics": TOPIC_SETTINGS}
_WIDTH = 100
_BAR = "\\|"


def as_text(scope: str, settings: Iterable[Setting]) -> Iterator[str]:
    """A paragraph a setting."""
    for each in settings:
        yield each.name
        yield from textwrap.wrap(each.meaning, _WIDTH, initial_indent="    ", subsequent_indent="    ")
        yield from (f"    {name}: {value}" for name, value in _facts(scope, each).items())
        yield ""


def as_markdown(scope: str, settings: Iterable[Setting]) -> Iterator[str]:
    yield f"## Settings of {scope}"
    yield ""
    yield "| name | type | default | valid | updated | served | meaning |"
    yield "|---|---|---|---|---|---|---|"
    for each in settings:
        facts = _facts(scope, each)
        cells = [f"`{each.name}`", facts["type"], f"`{facts['default']}`", facts["valid"]]
        cells += [facts["updated"], facts["served"], each.meaning]
        yield f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |"
    yield ""


def as_json(scope: str, setting: Setting) -> Row:
    return {
        "scope": scope,
        "name": setting.name,
        "type": setting.kind.name.lower(),
        "default": setting.default_text(),
        "valid": str(setting.valid),
        "importance": setting.importance.value,
        "updated": _updated(setting),
        "served": setting.status.support.value,
        "reason": setting.status.reason,
        "broker_settings": list(setting.server_names),
        "meaning": setting.meaning,
    }


def _facts(scope: str, setting: Setting) -> dict[str, str]:
    served = setting.status.support.value
    facts = {
        "type": setting.kind.name.lower(),
        "default": _default(setting),
        "valid": str(setting.valid) or "anything",
        "updated": _updated(setting),
        "served": served if setting.status is SERVED else f"{served}: {setting.status.reason}",
    }
    if scope == "topics" and setting.server_names:
        facts["default from the broker's"] = ", ".join(setting.server_names)
    return facts


def _default(setting: Setting) -> str:
    found = setting.default_text()
    return "null" if found is None else found or '""'


def _updated(setting: Setting) -> str:
    return setting.update.value or "per-topic"
