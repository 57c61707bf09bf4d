"""A broker that the tests of this folder share, and conversations with it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from odradek.testing.broker import Broker
from odradek.testing.conversation import Conversation

_numbers = count()


@pytest.fixture(scope="session")
def shared_broker() -> Iterator[Broker]:
    with Broker({"num.partitions": "1"}) as broker:
        yield broker


@pytest.fixture
def client(shared_broker: Broker) -> Iterator[Conversation]:
    with Conversation(shared_broker.bootstrap) as client:
        yield client


@pytest.fixture
def topic(client: Conversation) -> str:
    """A fresh topic of one partition."""
    from odradek.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

    name = f"topic-{next(_numbers)}"
    client.ask(MetadataRequest(topics=(MetadataRequestTopic(name=name),)), 12)
    return name
