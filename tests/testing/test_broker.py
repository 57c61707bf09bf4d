"""What a broker for tests promises to the tests that use it."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from odradek.testing.broker import Broker, BrokerFailed


def test_a_broker_listens_until_it_is_left() -> None:
    with Broker() as broker:
        host, port = broker.bootstrap.split(":")
        with socket.create_connection((host, int(port))):
            pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


async def test_it_serves_asynchronous_tests_too() -> None:
    async with Broker() as broker:
        assert broker.bootstrap.startswith("127.0.0.1:")


def test_data_in_memory_goes_with_the_broker() -> None:
    with Broker() as broker:
        assert os.path.exists(broker.directory)
    assert not os.path.exists(broker.directory)


def test_a_directory_that_was_given_is_kept(tmp_path: Path) -> None:
    with Broker(directory=str(tmp_path)):
        pass
    assert (tmp_path / "meta.properties").exists()


def test_a_restarted_broker_has_the_same_port() -> None:
    with Broker() as broker:
        before = broker.bootstrap
        broker.restart()
        assert broker.bootstrap == before


@pytest.mark.parametrize("bug", ["in a callback", "in a task"])
def test_a_bug_of_the_broker_fails_the_test(bug: str) -> None:
    class Bug(Exception):
        pass

    def fail() -> None:
        raise Bug

    async def fail_later() -> None:
        fail()

    broker = Broker()
    broker.start()
    loop = broker.node.fault.get_loop()
    if bug == "in a callback":
        loop.call_soon_threadsafe(fail)
    else:
        loop.call_soon_threadsafe(lambda: broker.node.services.tasks.start(fail_later(), name="a task"))
    with pytest.raises(BrokerFailed) as failed:
        broker.stop()
    assert isinstance(failed.value.__cause__, Bug)


@pytest.mark.slow
def test_a_hundred_leave_no_thread_and_no_file_behind() -> None:
    with Broker():
        pass  # what the first one opens for good is not a leak
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    brokers = [Broker() for _ in range(100)]
    for broker in brokers:
        broker.start()
    for broker in brokers:
        broker.stop()
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) == files


def test_settings_that_cannot_be_fail_the_start() -> None:
    with pytest.raises(Exception, match=r"num\.partitions"):
        Broker({"num.partitions": "none"}).start()
