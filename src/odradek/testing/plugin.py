"""The pytest plugin: `odradek`, a broker for the whole session, and `odradek_topic`, a fresh topic on it.

Installed with the package; nothing is imported before a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from odradek.testing.broker import Broker


@pytest.fixture(scope="session")
def odradek() -> Iterator[Broker]:
    """A broker that all tests of the session share; `odradek.bootstrap` is what clients connect to."""
    from odradek.testing.broker import Broker

    with Broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def _odradek_topic_numbers() -> Iterator[int]:
    return count(1)


@pytest.fixture
def odradek_topic(
    request: pytest.FixtureRequest, odradek: Broker, _odradek_topic_numbers: Iterator[int]
) -> Iterator[str]:
    """The name of a new topic of one partition, deleted after the test. Parametrize it (indirectly) with a
    number for more partitions."""
    name = f"odradek-{next(_odradek_topic_numbers)}"
    odradek.create_topic(name, partitions=getattr(request, "param", 1))
    yield name
    odradek.delete_topic(name)
