"""What clients are asked to push, and how often they may."""

from __future__ import annotations

import struct
from contextlib import AbstractContextManager

import pytest

from odradek.broker.client_telemetry import CODECS, SILENT_INTERVALS_MAX, ClientTelemetry, Wanted
from odradek.broker.configs import Configs
from odradek.model.config.broker_config import BrokerConfig
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.image import ClusterImage, ConfigEntity
from odradek.observe.client_metrics import ClientMetrics
from odradek.testing.sim_clock import SimClock
from odradek.wire.compression import Codec, compress
from odradek.wire.messages.telemetry import PushTelemetryRequest

INSTANCE = bytes(range(16))
JAVA = {"client_id": "app", "client_software_name": "java", "client_software_version": "3.9.2"}
MINUTE_MS = 60_000


def gauge(name: bytes, value: float) -> bytes:
    """The OTLP of one gauge with one point."""

    def field(number: int, payload: bytes) -> bytes:
        return bytes([number << 3 | 2, len(payload)]) + payload

    point = field(1, bytes([4 << 3 | 1]) + struct.pack("<d", value))
    return field(1, field(2, field(2, field(1, name) + field(5, point))))


class House:
    """A broker's side of it, with subscriptions that can be changed."""

    def __init__(self, **subscriptions: dict[str, str]) -> None:
        self.clock = SimClock()
        self.metrics = ClientMetrics()
        self.image = ClusterImage(cluster_id="c")
        self.subscribe(**subscriptions)
        configs = Configs(BrokerConfig.of({"telemetry.max.bytes": "1000"}), lambda: self.image)
        self.telemetry = ClientTelemetry(lambda: self.image, configs, self.metrics, self.clock)

    def subscribe(self, **subscriptions: dict[str, str]) -> None:
        for name, texts in subscriptions.items():
            self.image = self.image.with_config(ConfigEntity.client_metrics(name), texts)

    def ask(self, facts: dict[str, str] | None = None) -> Wanted:
        return self.telemetry.ask(INSTANCE, facts or JAVA)

    def push(
        self, wanted: Wanted, metrics: bytes = b"", *, codec: int = 0, ends: bool = False, number: int = 0
    ) -> None:
        request = PushTelemetryRequest(
            client_instance_id=INSTANCE,
            subscription_id=number or wanted.number,
            terminating=ends,
            compression_type=codec,
            metrics=metrics,
        )
        self.telemetry.push(request, JAVA)

    def later(self, ms: int) -> None:
        self.clock.advance(ms / 1000)

    def shown(self) -> dict[str, float]:
        return {
            family.name: value
            for family in self.metrics.families(self.clock.monotonic())
            for _, value in family.samples
        }


def refused(error: ErrorCode) -> AbstractContextManager[object]:
    return pytest.raises(ApiError, match=error.name)


# -- what is wanted ----------------------------------------------------------------------------------------


def test_without_a_subscription_nothing_is_wanted() -> None:
    wanted = House().ask()
    assert (wanted.metrics, wanted.interval_ms) == ((), 300_000)


def test_subscriptions_that_match_add_up() -> None:
    house = House(
        a={"metrics": "org.a,org.b", "interval.ms": "60000"},
        b={"metrics": "org.b,org.c", "interval.ms": "30000", "match": "client_software_name=java"},
        c={"metrics": "org.z", "interval.ms": "100", "match": "client_software_name=go"},
    )
    wanted = house.ask()
    assert (wanted.metrics, wanted.interval_ms) == (("org.a", "org.b", "org.c"), 30_000)


def test_a_star_stands_for_everything() -> None:
    assert House(a={"metrics": "org.a"}, b={"metrics": "*"}).ask().metrics == ("*",)


def test_an_instance_can_be_meant_by_its_id() -> None:
    house = House(a={"metrics": "*", "match": "client_instance_id=AAECAwQFBgcICQoLDA0ODw"})
    assert house.ask().metrics == ("*",)


# -- how often ---------------------------------------------------------------------------------------------


def test_who_asks_again_too_early_is_refused() -> None:
    house = House(a={"interval.ms": "60000"})
    house.ask()
    house.later(MINUTE_MS - 1)
    with refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED):
        house.ask()
    house.later(1)
    house.ask()


def test_the_first_push_may_come_at_any_time_and_the_next_after_the_interval() -> None:
    house = House(a={"interval.ms": "60000"})
    wanted = house.ask()
    house.later(1)
    house.push(wanted)
    house.later(MINUTE_MS - 1)
    with refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED):
        house.push(wanted)
    house.later(1)
    house.push(wanted)


def test_the_last_push_may_come_early_and_no_other_after_it() -> None:
    house = House(a={"interval.ms": "60000"})
    wanted = house.ask()
    house.later(1)
    house.push(wanted)
    house.push(wanted, ends=True)
    with refused(ErrorCode.INVALID_REQUEST):
        house.push(wanted, ends=True)


def test_who_pushes_what_is_no_longer_wanted_may_ask_again_at_once() -> None:
    house = House(a={"metrics": "org.a"})
    wanted = house.ask()
    house.subscribe(a={"metrics": "org.b"})
    house.later(1)
    with refused(ErrorCode.UNKNOWN_SUBSCRIPTION_ID):
        house.push(wanted)
    again = house.ask()
    assert again.metrics == ("org.b",)
    assert again.number != wanted.number
    with refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED):
        house.ask()


# -- what is pushed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", [Codec.NONE, *map(Codec, CODECS)])
def test_what_is_pushed_is_shown(codec: Codec) -> None:
    house = House(a={"metrics": "*"})
    data = gauge(b"org.a", 1.5)
    house.push(house.ask(), compress(codec, data) if codec else data, codec=codec)
    assert house.shown() == {"kafka_client_org_a": 1.5}


def test_what_is_pushed_goes_with_the_client() -> None:
    house = House(a={"metrics": "*"})
    wanted = house.ask()
    house.push(wanted, gauge(b"org.a", 1))
    house.push(wanted, gauge(b"org.a", 2), ends=True)
    assert house.shown() == {}


def test_a_client_that_is_silent_for_long_is_forgotten() -> None:
    house = House(a={"metrics": "*", "interval.ms": "60000"})
    house.push(house.ask(), gauge(b"org.a", 1))
    house.later(SILENT_INTERVALS_MAX * MINUTE_MS - 1)
    assert house.shown() != {}
    house.later(1)
    assert house.shown() == {}


@pytest.mark.parametrize(
    ("metrics", "codec", "error"),
    [
        (b"\xff\xff", 0, ErrorCode.INVALID_RECORD),
        (b"no gzip", 1, ErrorCode.INVALID_RECORD),
        (compress(Codec.GZIP, bytes(17 * 1024 * 1024))[:1000], 1, ErrorCode.INVALID_RECORD),
        (b"", 5, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (b"", -1, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (bytes(1001), 0, ErrorCode.TELEMETRY_TOO_LARGE),
    ],
)
def test_what_cannot_be_taken_is_refused(metrics: bytes, codec: int, error: ErrorCode) -> None:
    house = House(a={"metrics": "*"})
    with refused(error):
        house.push(house.ask(), metrics, codec=codec)
    assert house.shown() == {}
