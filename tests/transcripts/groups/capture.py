"""Has Apache Kafka answer the dialogues of this folder anew, and writes down what it says:

python tests/transcripts/groups/capture.py CLASSPATH [NAME...]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from tests.compatibility.kafka import start_kafka  # noqa: E402

from odradek.net.peer import Peer, PeerSettings, connect  # noqa: E402
from odradek.net.port import Address  # noqa: E402
from odradek.net.sockets import SocketNetwork  # noqa: E402
from odradek.testing.group_dialogue import Dialogue, settings  # noqa: E402

SETTLES_S = 0.25
TIMEOUT_MS = 600_000


def main(jars: str, names: list[str]) -> None:
    paths = [path for path in Path(__file__).parent.glob("*.txt") if not names or path.stem in names]

    def of_kafka(path: Path) -> list[tuple[str, str]]:
        return sorted(settings(path.read_text()).items())

    for chosen, same in groupby(sorted(paths, key=of_kafka), key=of_kafka):
        with (
            tempfile.TemporaryDirectory() as home,
            start_kafka(jars, Path(home), settings=dict(chosen)) as kafka,
        ):
            host, _, port = kafka.bootstrap.rpartition(":")
            asyncio.run(capture(Address(host, int(port)), same))


async def capture(broker: Address, paths: Iterable[Path]) -> None:
    network = SocketNetwork()

    async def to_broker(client_id: str) -> Peer:
        return await connect(
            network, broker, PeerSettings(client_id=client_id, request_timeout_ms=TIMEOUT_MS)
        )

    async def play(path: Path) -> None:
        path.write_text(await Dialogue(to_broker, path.stem, SETTLES_S).play(path.read_text()))

    await asyncio.gather(*map(play, paths))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
