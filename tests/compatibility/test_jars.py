"""The jars are Kafka's, and of the version that we are compared with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = [pytest.mark.compatibility, pytest.mark.slow]


def test_the_tools_are_those_of_kafka_3_9(run_java: Callable[..., str]) -> None:
    assert run_java("org.apache.kafka.tools.TopicCommand", "--version").startswith("3.9.2")
