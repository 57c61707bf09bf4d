"""What a subscription to client metrics says."""

from __future__ import annotations

import pytest

from odradek.model.config.client_metrics import MATCHABLE, Subscription
from odradek.model.config.setting import ConfigError

JAVA = {"client_software_name": "apache-kafka-java", "client_software_version": "3.9.2", "client_id": "app-1"}


def test_without_a_word_it_asks_every_client_for_nothing() -> None:
    subscription = Subscription.of({})
    assert (subscription.interval_ms, subscription.metrics) == (300_000, ())
    assert subscription.matches(JAVA)
    assert subscription.matches({})


@pytest.mark.parametrize(
    ("match", "meant"),
    [
        ("client_id=app-1", True),
        ("client_id=app", False),  # all of it has to match
        ("client_id=app.*", True),
        ("client_id=app.*,client_software_version=3\\.9\\..*", True),
        ("client_id=app.*, client_software_version=4.*", False),
        ("client_source_address=.+", False),  # not known of this one
    ],
)
def test_it_means_clients_of_whom_everything_matches(match: str, meant: bool) -> None:
    assert Subscription.of({"match": match}).matches(JAVA) is meant


def test_everything_that_is_known_of_a_client_can_be_matched() -> None:
    for what in MATCHABLE:
        assert Subscription.of({"match": f"{what}=a"}).matches({what: "a"})


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("interval.ms", "99"),
        ("interval.ms", "3600001"),
        ("interval.ms", "often"),
        ("match", "client_id"),
        ("match", "shoe_size=4"),
        ("match", "client_id=(("),
        ("nope", "1"),
    ],
)
def test_what_cannot_be_meant_is_refused(key: str, text: str) -> None:
    with pytest.raises(ConfigError):
        Subscription.of({key: text})
