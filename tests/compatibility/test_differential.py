"""We answer as Apache Kafka 3.9 does, field by field, where nothing says otherwise.

What Kafka answered lies in tests/golden/answers/. A field that we answer differently on purpose is named
where it is asked for, with the reason, and must differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeGuard

import pytest
from tests.compatibility.kafka import SETTINGS as KAFKAS_SETTINGS
from tests.compatibility.scenes.all import SCENES
from tests.compatibility.scenes.asking import GOLDEN
from tests.compatibility.scenes.playing import Json, Player

from odradek.testing.broker import Broker

pytestmark = pytest.mark.slow

ANSWERS = GOLDEN / "answers"
Path = tuple[str, ...]


@pytest.mark.parametrize("name", SCENES)
def test_we_answer_as_kafka_does(name: str) -> None:
    scene = SCENES[name]
    recorded = [json.loads(line) for line in (ANSWERS / f"{name}.jsonl").read_text().splitlines()]
    complaints: list[str] = []
    with Broker({**KAFKAS_SETTINGS, **scene.settings}) as broker:
        played = list(Player(broker.bootstrap).play(scene))
    for number, ((asked, question, ours), kafkas) in enumerate(zip(played, recorded, strict=False), 1):
        assert question == kafkas["asked"], f"{number}: this was not asked when Kafka answered; capture anew"
        differing = dict(differences(kafkas["answered"], ours, ()))
        for path, (theirs, own) in differing.items():
            if ".".join(path) not in asked.differs:
                told = f"{question['api']} v{question['version']}" if isinstance(question, dict) else ""
                complaints.append(f"{number}: {told} {'.'.join(path)}: Kafka {theirs!r}, we {own!r}")
        for told in asked.differs.keys() - {".".join(path) for path in differing}:
            complaints.append(f"{number}: {told} is said to differ and does not")
    assert not complaints, "\n".join(complaints)
    assert len(played) == len(recorded)


def test_every_recording_is_of_a_scene() -> None:
    assert {path.stem for path in ANSWERS.glob("*.jsonl")} == set(SCENES)


def differences(theirs: Json, ours: Json, at: Path) -> Iterator[tuple[Path, tuple[Json, Json]]]:
    """Every field that differs, by its path without numbers."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in theirs | ours:
            yield from differences(
                theirs.get(name, "no such field"), ours.get(name, "no such field"), (*at, name)
            )
    elif is_list_of_structs(theirs) and is_list_of_structs(ours) and len(theirs) == len(ours):
        for one, other in zip(theirs, ours, strict=True):
            yield from differences(one, other, at)
    elif theirs != ours:
        yield at, (theirs, ours)


def is_list_of_structs(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)
