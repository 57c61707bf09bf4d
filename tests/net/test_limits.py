from __future__ import annotations

import math

import pytest

from odradek.net.limits import Admission, ConnectionLimits, CreationRate, ListenerLimits


def an_admission(limits: ConnectionLimits, **listeners: ListenerLimits) -> Admission:
    admission = Admission(limits, now=0)
    for name, each in (listeners or {"L": ListenerLimits()}).items():
        admission.add_listener(name, each, now=0)
    return admission


def test_without_limits_it_is_always_open() -> None:
    admission = an_admission(ConnectionLimits())
    assert all(admission.arrived("L", "host", now=0) for _ in range(1_000))
    assert admission.opens_at("L") <= 0


def test_an_address_has_its_limit_and_another_its_own() -> None:
    admission = an_admission(
        ConnectionLimits(per_address_max=2, per_address_overrides={"friend": 3, "foe": 0})
    )
    assert [admission.arrived("L", "anyone", now=0) for _ in range(3)] == [True, True, False]
    assert [admission.arrived("L", "friend", now=0) for _ in range(4)] == [True, True, True, False]
    assert not admission.arrived("L", "foe", now=0)


def test_who_leaves_makes_room_for_its_address() -> None:
    admission = an_admission(ConnectionLimits(per_address_max=1))
    admission.arrived("L", "host", now=0)
    assert not admission.arrived("L", "host", now=0)  # turned away, so it does not count
    admission.left("L", "host")
    assert admission.arrived("L", "host", now=0)


def test_a_listener_is_closed_while_it_is_full() -> None:
    admission = an_admission(ConnectionLimits(), A=ListenerLimits(connections_max=1), B=ListenerLimits())
    admission.arrived("A", "host", now=0)
    assert admission.opens_at("A") == math.inf
    assert admission.opens_at("B") <= 0
    admission.left("A", "host")
    assert admission.opens_at("A") <= 0


def test_a_full_server_closes_all_listeners_but_that_of_the_brokers() -> None:
    listeners = {"A": ListenerLimits(), "BROKERS": ListenerLimits(is_for_brokers=True)}
    admission = an_admission(ConnectionLimits(connections_max=2), **listeners)
    admission.arrived("A", "host", now=0)
    admission.arrived("BROKERS", "host", now=0)
    assert admission.opens_at("A") == math.inf
    assert admission.opens_at("BROKERS") <= 0


@pytest.mark.parametrize("rate", [1, 3, 50])
def test_a_rate_lets_through_one_second_of_connections_and_then_one_at_a_time(rate: int) -> None:
    bucket = CreationRate(rate, now=100)
    for _ in range(rate):
        assert bucket.next_at() <= 100
        bucket.accepted(100)
    for number in range(1, 4):
        assert bucket.next_at() == pytest.approx(100 + number / rate)
        bucket.accepted(bucket.next_at())


def test_a_quiet_hour_is_not_saved_up() -> None:
    bucket = CreationRate(2, now=0)
    for _ in range(3):
        bucket.accepted(3_600)
    assert bucket.next_at() > 3_600


def test_a_rate_of_none_lets_nobody_in() -> None:
    assert CreationRate(0, now=0).next_at() == math.inf


def test_the_slower_of_two_rates_counts() -> None:
    admission = an_admission(ConnectionLimits(creation_rate_max=10), L=ListenerLimits(creation_rate_max=1))
    admission.arrived("L", "host", now=0)
    assert admission.opens_at("L") == pytest.approx(1)


def test_new_limits_leave_who_is_there() -> None:
    admission = an_admission(ConnectionLimits())
    for _ in range(5):
        admission.arrived("L", "host", now=0)
    admission.reconfigure(ConnectionLimits(connections_max=5, creation_rate_max=1), now=0)
    assert admission.opens_at("L") == math.inf
    admission.left("L", "host")
    assert admission.opens_at("L") <= 0
