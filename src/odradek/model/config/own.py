"""Settings of our own, none of Kafka's: how the broker is watched. Their keys begin with `odradek.`."""

from __future__ import annotations

from odradek.model.config.setting import LOW, MEDIUM, READ_ONLY, SERVED, Setting
from odradek.model.config.values import LIST, STRING, HostAndPort, LogLevels, OneOf

# fmt: off
SETTINGS = (
    Setting("odradek.metrics.listen", STRING, None, HostAndPort(), MEDIUM, READ_ONLY, SERVED,
            "HOST:PORT where /metrics, /healthz and /readyz are served by HTTP; unset: nowhere."),
    Setting("odradek.log.levels", LIST, ("INFO",), LogLevels(), LOW, READ_ONLY, SERVED,
            "What is logged: a level, and after it logger=level for those that differ "
            "(odradek.request=DEBUG tells every request)."),
    Setting("odradek.log.format", STRING, "text", OneOf(("text", "json")), LOW, READ_ONLY, SERVED,
            "A log line is key=value pairs or a JSON object."),
)
