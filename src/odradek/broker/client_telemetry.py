"""Client metrics (KIP-714): what each client is asked to push, and how often it may.

What a client is asked for follows from the subscriptions that match it, and has a number; a client that
pushes under another number is told to ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.configs import Configs
from odradek.model.config import client_metrics
from odradek.model.config.client_metrics import INTERVAL_MS_DEFAULT, Subscription
from odradek.model.config.setting import ConfigError
from odradek.model.errors import ApiError, ErrorCode
from odradek.model.ids import id_text
from odradek.model.image import CLIENT_METRICS
from odradek.observe.client_metrics import ClientMetrics, Told
from odradek.wire.checksum import crc32c

if TYPE_CHECKING:
    from odradek.model.image import ClusterImage
    from odradek.runtime.clock import Clock
    from odradek.wire.messages.telemetry import PushTelemetryRequest

CODECS = (4, 3, 1, 2)  # zstd, lz4, gzip, snappy: the ones we would rather have first
NO_CODEC = 0
EVERYTHING = "*"
CLIENTS_MAX = 16_384
DECOMPRESSED_SIZE_MAX = 16 * 1024 * 1024
SILENT_INTERVALS_MAX = 3
NEVER_MS = 0  # longer ago than any interval

# What a client mends by asking again, so it may do so at once.
_ASK_AGAIN = (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)

Facts = Mapping[str, str]


class Wanted(NamedTuple):
    """What one client is asked for."""

    number: int
    interval_ms: int
    metrics: tuple[str, ...]


class _Client:
    """One client that we know; it goes with the subscriptions it was matched with."""

    __slots__ = ("asked_at_ms", "ended", "error", "pushed_at_ms", "subscriptions", "wanted")

    def __init__(self) -> None:
        self.wanted = Wanted(0, INTERVAL_MS_DEFAULT, ())
        self.subscriptions: object = None
        self.asked_at_ms = NEVER_MS
        self.pushed_at_ms = NEVER_MS
        self.error = ErrorCode.NONE
        self.ended = False


class ClientTelemetry:
    def __init__(
        self, image: Callable[[], ClusterImage], configs: Configs, metrics: ClientMetrics, clock: Clock
    ) -> None:
        self._image = image
        self._configs = configs
        self._metrics = metrics
        self._clock = clock
        self._clients: dict[bytes, _Client] = {}  # whoever was here last at the end
        self._read_from: object = None
        self._subscriptions: tuple[Subscription, ...] = ()

    @property
    def size_max(self) -> int:
        """Of what is pushed, compressed."""
        return self._configs.broker.integer("telemetry.max.bytes")

    def ask(self, instance: bytes, facts: Facts) -> Wanted:
        """What this client shall push. Refused when it asks more often than it should push."""
        client, now_ms = self._client(instance, facts), self._clock.wall_ms()
        last_ms = max(client.asked_at_ms, client.pushed_at_ms)
        if now_ms - last_ms >= client.wanted.interval_ms:
            client.asked_at_ms = now_ms
        elif client.error not in _ASK_AGAIN:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "asked before the next push was due")
        client.error = ErrorCode.NONE
        return client.wanted

    def push(self, request: PushTelemetryRequest, facts: Facts) -> None:
        """Take what a client tells."""
        client = self._client(request.client_instance_id, facts)
        try:
            self._check(client, request)
            self._take(client, request, facts)
        except ApiError as refusal:
            client.error = refusal.error
            raise
        client.error = ErrorCode.NONE

    # -- inside ------------------------------------------------------------------------------------------

    def _client(self, instance: bytes, facts: Facts) -> _Client:
        client = self._clients.pop(instance, None) or _Client()
        self._clients[instance] = client
        while len(self._clients) > CLIENTS_MAX:
            del self._clients[next(iter(self._clients))]
        subscriptions = self._current()
        if client.subscriptions is not subscriptions:
            client.subscriptions = subscriptions
            told = {client_metrics.INSTANCE_ID: id_text(instance), **facts}
            client.wanted = _wanted(instance, [each for each in subscriptions if each.matches(told)])
        return client

    def _current(self) -> tuple[Subscription, ...]:
        """The subscriptions that hold now, read anew when something in the configurations changed."""
        configs = self._image().configs
        if configs is not self._read_from:
            self._read_from = configs
            self._subscriptions = tuple(
                _readable(texts for entity, texts in configs.items() if entity.kind == CLIENT_METRICS)
            )
        return self._subscriptions

    def _check(self, client: _Client, request: PushTelemetryRequest) -> None:
        if client.ended:
            raise ApiError(ErrorCode.INVALID_REQUEST, "it said that it would push no more")
        now_ms = self._clock.wall_ms()
        # It begins to push at any moment of the first interval, lest all push at once.
        is_due = client.asked_at_ms > client.pushed_at_ms
        if is_due or now_ms - client.pushed_at_ms >= client.wanted.interval_ms:
            client.pushed_at_ms = now_ms
        elif not request.terminating:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "pushed before it was due")
        if request.subscription_id != client.wanted.number:
            raise ApiError(ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
        if request.compression_type not in (NO_CODEC, *CODECS):
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if len(request.metrics) > self.size_max:
            raise ApiError(ErrorCode.TELEMETRY_TOO_LARGE, f"{self.size_max} bytes at most")

    def _take(self, client: _Client, request: PushTelemetryRequest, facts: Facts) -> None:
        # Imported when the first client pushes, which is long after the start.
        from odradek.wire.compression import Codec, decompress
        from odradek.wire.otlp import MalformedOtlp, read_points

        instance = id_text(request.client_instance_id)
        client.ended = request.terminating
        try:
            if request.metrics:
                codec = Codec(request.compression_type)
                data = decompress(codec, request.metrics, DECOMPRESSED_SIZE_MAX)
                told = (
                    Told(each.name, each.attributes, each.value, each.is_delta) for each in read_points(data)
                )
                silent_s = SILENT_INTERVALS_MAX * client.wanted.interval_ms / 1000
                self._metrics.take(instance, _labels(facts), told, self._clock.monotonic() + silent_s)
        except (ApiError, MalformedOtlp) as bad:
            raise ApiError(ErrorCode.INVALID_RECORD, str(bad)) from None
        if request.terminating:
            self._metrics.forget(instance)


def _wanted(instance: bytes, subscriptions: list[Subscription]) -> Wanted:
    metrics = sorted({name for each in subscriptions for name in each.metrics})
    if EVERYTHING in metrics:
        metrics = [EVERYTHING]
    interval_ms = min((each.interval_ms for each in subscriptions), default=INTERVAL_MS_DEFAULT)
    number = crc32c(f"{metrics} {interval_ms}".encode() + instance) & 0x7FFFFFFF
    return Wanted(number, interval_ms, tuple(metrics))


def _readable(configs: Iterator[Mapping[str, str]]) -> Iterator[Subscription]:
    for texts in configs:
        try:
            yield Subscription.of(texts)
        except ConfigError:
            continue  # written by others; ours are checked before


def _labels(facts: Facts) -> dict[str, str]:
    """What of a client is told with every number."""
    return {name: facts[name] for name in (client_metrics.CLIENT_ID, client_metrics.SOFTWARE_NAME)}
