"""What a running broker makes of new settings of its listeners."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator

import pytest

from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation
from odradek.wire.messages.configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
)
from odradek.wire.messages.metadata import MetadataRequest, MetadataResponse

BROKER = 4
MAP = {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT,SECURE:SSL"}
DEADLINE_S = 5


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(MAP) as broker:
        yield broker


def change(broker: Broker, **settings: str) -> IncrementalAlterConfigsResponse:
    """Settings of this broker, named with underscores for their dots."""
    configs = tuple(
        IncrementalAlterableConfig(name=key.replace("_", "."), config_operation=0, value=value)
        for key, value in settings.items()
    )
    resource = IncrementalAlterConfigsResource(resource_type=BROKER, resource_name="0", configs=configs)
    with Conversation(broker.bootstrap) as client:
        answer = client.ask(IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False), 1)
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    assert answer.responses[0].error_code == 0, answer
    return answer


def told(client: Conversation) -> list[tuple[str, int]]:
    answer = client.ask(MetadataRequest(topics=()), 12)
    assert isinstance(answer, MetadataResponse)
    return [(broker.host, broker.port) for broker in answer.brokers]


def eventually(holds: Callable[[], bool]) -> None:
    """Brokers are told a moment after the one that changed."""
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def test_a_listener_is_opened_while_the_broker_runs(broker: Broker) -> None:
    port = free_port()
    change(broker, listeners=f"PLAINTEXT://{broker.bootstrap},OTHER://127.0.0.1:{port}")
    with Conversation(f"127.0.0.1:{port}") as client:
        eventually(lambda: told(client) == [("127.0.0.1", port)])


def test_a_listener_is_closed_and_who_came_by_it_stays(broker: Broker) -> None:
    port = free_port()
    both = f"PLAINTEXT://{broker.bootstrap},OTHER://127.0.0.1:{port}"
    change(broker, listeners=both)
    with Conversation(f"127.0.0.1:{port}") as client:
        eventually(lambda: told(client) != [])
        change(broker, listeners=f"PLAINTEXT://{broker.bootstrap}")
        with pytest.raises(ConnectionRefusedError):
            Conversation(f"127.0.0.1:{port}")
        eventually(lambda: told(client) == [])  # nobody is to be found there any more


def test_what_is_advertised_changes_for_everybody(broker: Broker) -> None:
    with Conversation(broker.bootstrap) as client:
        change(broker, advertised_listeners="PLAINTEXT://broker.example:19092")
        eventually(lambda: told(client) == [("broker.example", 19092)])


def test_an_address_that_cannot_be_had_hurts_no_other_listener(broker: Broker) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        change(broker, listeners=f"PLAINTEXT://{broker.bootstrap},OTHER://127.0.0.1:{port}")
    with Conversation(broker.bootstrap) as client:
        assert len(told(client)) == 1


def test_a_listener_without_a_certificate_stays_closed(broker: Broker) -> None:
    port = free_port()
    change(broker, listeners=f"PLAINTEXT://{broker.bootstrap},SECURE://127.0.0.1:{port}")
    with pytest.raises(ConnectionRefusedError):
        Conversation(f"127.0.0.1:{port}")


@pytest.mark.parametrize("key", ["max_connections", "listener_name_plaintext_max_connections"])
def test_a_new_bound_holds_for_who_comes_next(broker: Broker, key: str) -> None:
    with Conversation(broker.bootstrap) as first:
        assert told(first)
        change(broker, **{key: "1"})
        with Conversation(broker.bootstrap) as second:  # waits in the backlog
            second._socket.settimeout(0.05)
            with pytest.raises(TimeoutError):
                told(second)
            assert told(first)
            first.close()
            second._socket.settimeout(DEADLINE_S)
            assert second.answer(second.send(MetadataRequest(topics=()), 12), 12)
