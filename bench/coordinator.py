"""What does it take to load a coordinator with a million committed offsets? How long, how much memory, and
how long somebody else waits for an answer meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _peers import free_port, memory_mib
from _report import Cell, report
from odradek.groups.records import offset_record
from odradek.log.disk import OsDisk
from odradek.log.log import Origin, PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.settings import LogSettings
from odradek.testing.conversation import Conversation
from odradek.wire.messages.group_offsets import OffsetFetchGroup, OffsetFetchRequest, OffsetFetchResponse
from odradek.wire.messages.metadata import ApiVersionsRequest, FindCoordinatorRequest
from odradek.wire.messages.stored import OffsetCommitKey, OffsetCommitValue
from odradek.wire.records import BatchBuilder

OFFSETS = 1_000_000
PARTITIONS_A_GROUP = 1000
A_BATCH = 1000
LOADING = 14  # COORDINATOR_LOAD_IN_PROGRESS
NOT_HERE = 16  # NOT_COORDINATOR
SETTINGS = {"offsets.topic.num.partitions": "1"}


def fill(directory: Path) -> None:
    """A data directory whose one shard of groups holds so many offsets."""
    with running(directory) as (_, address), Conversation(address) as client:
        client.ask(FindCoordinatorRequest(key="any"), 1)
        while not (directory / "__consumer_offsets-0").exists():
            time.sleep(0.01)
    log = PartitionLog.open(
        OpenFiles(OsDisk()), str(directory / "__consumer_offsets-0"), LogSettings(), now_ms=0
    )
    now_ms = time.time_ns() // 1_000_000
    for first in range(0, OFFSETS, A_BATCH):
        builder = BatchBuilder()
        for number in range(first, first + A_BATCH):
            key = OffsetCommitKey(
                group=f"group-{number // PARTITIONS_A_GROUP}",
                topic="orders",
                partition=number % PARTITIONS_A_GROUP,
            )
            value = OffsetCommitValue(
                offset=number, leader_epoch=0, metadata="", commit_timestamp=now_ms, expire_timestamp=-1
            )
            stored = offset_record(key, value)
            builder.append(now_ms, stored.key, stored.value)
        log.append(builder.build(), 0, now_ms, Origin.COORDINATOR)
    log.close(now_ms)


class Pinger:
    """Somebody else, who asks all the time and notes the longest wait."""

    def __init__(self, bootstrap: str) -> None:
        self.longest_ms = 0.0
        self._client = Conversation(bootstrap)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self._client.close()

    def _run(self) -> None:
        request = ApiVersionsRequest(client_software_name="ping", client_software_version="1")
        while not self._stop.wait(0.001):
            began = time.perf_counter()
            self._client.ask(request, 3)
            self.longest_ms = max(self.longest_ms, (time.perf_counter() - began) * 1000)


@contextmanager
def running(directory: Path) -> Iterator[tuple[int, str]]:
    """A broker's process id and address."""
    address = f"127.0.0.1:{free_port()}"
    command = [str(Path(sys.executable).with_name("odradek")), "start", "--data", str(directory)]
    command += ["--listen", address, *(f"--set={key}={value}" for key, value in SETTINGS.items())]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"ready ")
        yield process.pid, address
    finally:
        process.terminate()
        process.wait()


def load(directory: Path) -> list[Cell]:
    with running(directory) as (pid, address):
        began = time.perf_counter()
        pinger = Pinger(address)
        with Conversation(address) as client:
            while not _is_loaded(client):
                time.sleep(0.02)
        took = time.perf_counter() - began
        pinger.stop()
        return [f"{OFFSETS:,} offsets", took, memory_mib(pid), pinger.longest_ms]


def _is_loaded(client: Conversation) -> bool:
    last = OFFSETS // PARTITIONS_A_GROUP - 1
    request = OffsetFetchRequest(groups=(OffsetFetchGroup(group_id=f"group-{last}", topics=None),))
    response = client.ask(request, 8)
    assert isinstance(response, OffsetFetchResponse)
    (group,) = response.groups
    if group.error_code in (LOADING, NOT_HERE):
        return False
    assert group.error_code == 0
    assert sum(len(topic.partitions) for topic in group.topics) == PARTITIONS_A_GROUP
    return True


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="coordinator-"))
    try:
        fill(folder)
        report(
            "coordinator",
            ("loads", "s", "MiB in all", "longest wait of others, ms"),
            [load(folder) for _ in range(3)],
        )
    finally:
        shutil.rmtree(folder)
    print("  wanted: 10 s pure, 5 s compiled; under 400 MiB; nobody blocked for longer than 20 ms")


if __name__ == "__main__":
    main()
