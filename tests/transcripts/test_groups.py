"""Every dialogue of `groups/` was recorded from Apache Kafka 3.9.2; we answer the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.testing.group_dialogue import Dialogue, settings
from odradek.testing.sim_broker import sim_broker
from odradek.testing.sim_clock import run

SETTLES_S = 0.25  # as when they were recorded: dialogues count the seconds
DIALOGUES = sorted((Path(__file__).parent / "groups").glob("*.txt"))
INSTANTLY = {"group.initial.rebalance.delay.ms": "0"}


@pytest.mark.parametrize("path", DIALOGUES, ids=lambda path: path.stem)
def test_we_answer_as_kafka_does(path: Path) -> None:
    text = path.read_text()

    async def play() -> str:
        async with sim_broker(INSTANTLY | settings(text)) as broker:
            return await Dialogue(broker.connect, path.stem, SETTLES_S).play(text)

    assert run(play()) == text
