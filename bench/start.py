"""How fast is a start? From a cold shell to `ready`, to the first acknowledged record of a client that was
already waiting, and how much memory an idle broker takes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _peers import free_port, memory_mib
from _report import report

ROUNDS = 7
# Of the client: it waits in short steps, like one that was told to be patient.
WAITING = {
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 20,
    "retry.backoff.ms": 10,
    "topic.metadata.refresh.fast.interval.ms": 20,
    "linger.ms": 0,
    "log_level": 0,
}


def one_start(home: str) -> tuple[float, float, float]:
    """Seconds to `ready`, seconds to the first acknowledged record, MiB when idle."""
    from confluent_kafka import Producer

    address = f"127.0.0.1:{free_port()}"
    acknowledged: list[float] = []

    def delivered(error: object, message: object) -> None:
        del message
        assert error is None, error
        acknowledged.append(time.perf_counter())

    producer = Producer({"bootstrap.servers": address, **WAITING})
    producer.produce("first", b"x", on_delivery=delivered)
    producer.poll(0.2)  # it has tried by now, and waits
    # As a shell starts it: with compiled modules, which this shell may have been told not to write.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [str(Path(sys.executable).with_name("odradek")), "start", "--data", home, "--listen", address]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(b"ready "), line
        ready = time.perf_counter() - began
        producer.flush(10)
        return ready, acknowledged[0] - began, memory_mib(process.pid)
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="start-") as folder:
        one_start(f"{folder}/warm")  # compiles what has not been
        fresh = [one_start(f"{folder}/{number}") for number in range(ROUNDS)]
        again = [one_start(f"{folder}/0") for _ in range(ROUNDS)]
    rows = []
    for name, starts in (("an empty directory", fresh), ("the same again", again)):
        ready, record, memory = (statistics.median(each) for each in zip(*starts, strict=True))
        rows.append([name, ready, record, memory])
    report("start", ("start in", "ready, s", "first record, s", "idle, MiB"), rows)
    print("  wanted: ready under 0.35 s, first record under 0.6 s, under 60 MiB")


if __name__ == "__main__":
    main()
