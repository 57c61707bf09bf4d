"""`odradek start` in a process of its own, as its users run it.

    with start_odradek(tmp_path) as served:
        served.bootstrap                   # "127.0.0.1:port"

Leaving the block stops it as SIGTERM does, and it must have nothing to complain about by then.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from odradek.testing.conversation import Conversation
from odradek.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

STOPS_WITHIN_S = 20


@dataclass(frozen=True, slots=True)
class Served:
    """A running broker."""

    process: subprocess.Popen[str]
    bootstrap: str
    home: Path

    @property
    def log(self) -> Path:
        """What it says of itself."""
        return self.home / "log"

    def log_file(self, topic: str) -> Path:
        """The first segment of partition 0."""
        return self.home / "data" / f"{topic}-0" / f"{0:020}.log"

    @property
    def memory(self) -> int:
        """Its share of what is resident, in bytes."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        (kib,) = re.findall(r"^Pss: +(\d+) kB", rollup, re.MULTILINE)
        return int(kib) * 1024

    def create_topic(self, name: str, *, partitions: int = 1, **settings: str) -> None:
        """Settings are a topic's, with underscores for dots."""
        configs = tuple(
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in settings.items()
        )
        topic = CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1, assignments=(), configs=configs
        )
        with Conversation(self.bootstrap) as conversation:
            answer = conversation.ask(CreateTopicsRequest(topics=(topic,)), 7)
        assert isinstance(answer, CreateTopicsResponse)
        assert answer.topics[0].error_code == 0, answer

    def kill(self) -> None:
        """As the kernel kills: nothing runs any more, what was written stays."""
        self.process.kill()
        self.process.wait()


@contextmanager
def start_odradek(
    home: Path, settings: Mapping[str, str] | None = None, *, port: int = 0
) -> Iterator[Served]:
    """A broker that lives as long as the block, or until the block kills it. Its data stays in `home`."""
    home.mkdir(parents=True, exist_ok=True)
    log = home / "log"
    command = [sys.executable, "-m", "odradek", "start", "--data", str(home / "data")]
    command += ["--listen", f"127.0.0.1:{port}"]
    command += [f"--set={key}={value}" for key, value in (settings or {}).items()]
    with (
        open(log, "a") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            ready = process.stdout.readline().split()
            assert ready[:1] == ["ready"], log.read_text()
            yield Served(process, ready[1], home)
            if process.poll() != -signal.SIGKILL:
                process.terminate()
                assert process.wait(STOPS_WITHIN_S) == 0, log.read_text()
        finally:
            process.kill()
    complaints = [line for line in log.read_text().splitlines() if re.search(r"level=(ERROR|CRITICAL)", line)]
    assert not complaints, log.read_text()
