"""Records what a real Kafka 3.9 answers: `python capture.py CLASSPATH [SCENE...]`. README.md says more."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from tests.compatibility.kafka import start_kafka  # noqa: E402
from tests.compatibility.scenes.all import SCENES  # noqa: E402
from tests.compatibility.scenes.playing import Player  # noqa: E402

from odradek.testing.conversation import Conversation  # noqa: E402
from odradek.wire.messages.metadata import MetadataRequest, MetadataResponse  # noqa: E402


def capture(jars: str, name: str) -> None:
    scene = SCENES[name]
    with (
        tempfile.TemporaryDirectory() as home,
        start_kafka(jars, Path(home), settings=scene.settings) as kafka,
    ):
        await_broker(kafka.bootstrap)
        lines = [
            json.dumps({"asked": question, "answered": answer}, ensure_ascii=False)
            for _, question, answer in Player(kafka.bootstrap).play(scene)
        ]
    (HERE / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    print(f"{name}: {len(lines)} answers")


def await_broker(bootstrap: str) -> None:
    """Until it knows itself, and who is the controller."""
    with Conversation(bootstrap) as client:
        while True:
            known = client.ask(MetadataRequest(topics=()), 12)
            assert isinstance(known, MetadataResponse)
            if known.controller_id >= 0 and known.brokers:
                return
            time.sleep(0.05)


if __name__ == "__main__":
    for wanted in sys.argv[2:] or SCENES:
        capture(sys.argv[1], wanted)
