"""Every setting of Kafka 3.9 is declared, and says of itself what Kafka says of it."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from odradek.model.config.registry import BROKER_SETTINGS, OWN_SETTINGS, TOPIC_SETTINGS, Settings
from odradek.model.config.setting import Setting, Support
from odradek.model.config.values import Password, write

GOLDEN = Path(__file__).parents[2] / "golden"


class Row(NamedTuple):
    """A line of Kafka's own list; see tests/golden."""

    name: str
    type: str
    default: str
    valid: str
    importance: str
    update_mode: str


def golden(name: str) -> list[Row]:
    with (GOLDEN / name).open(newline="") as file:
        lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        assert tuple(next(lines)) == Row._fields
        return [Row(*line) for line in lines]


BROKER_ROWS = golden("broker-configs-3.9.tsv")
TOPIC_ROWS = golden("topic-configs-3.9.tsv")


def described(setting: Setting) -> Row:
    default = "null" if setting.default is None else write(setting.default) or '""'
    return Row(
        setting.name,
        setting.kind.name.lower(),
        default,
        str(setting.valid),
        setting.importance.value,
        setting.update.value,
    )


def expected(row: Row) -> Row:
    """Kafka's line without the remark behind a number, and with a validator's sentence made a bound."""
    default = re.sub(r" \(.*\)$", "", row.default)
    valid = "[1,...] or -1" if row.valid.startswith("The default value of -1") else row.valid
    return row._replace(default=default, valid=valid)


@pytest.mark.parametrize(
    ("settings", "rows", "count"), [(BROKER_SETTINGS, BROKER_ROWS, 315), (TOPIC_SETTINGS, TOPIC_ROWS, 36)]
)
def test_every_setting_is_declared_as_kafka_declares_it(
    settings: Settings, rows: list[Row], count: int
) -> None:
    assert len(rows) == count
    assert [described(settings[row.name]) for row in rows] == [expected(row) for row in rows]
    assert settings.keys() == {row.name for row in rows}


@pytest.mark.parametrize("settings", [BROKER_SETTINGS, TOPIC_SETTINGS, OWN_SETTINGS])
def test_every_default_can_be_written_and_read_again(settings: Settings) -> None:
    for setting in settings.values():
        text = setting.default_text()
        if text:
            assert setting.parse(text) == setting.default, setting.name
        else:
            assert setting.default in (None, "", ())
            assert not isinstance(setting.default, Password)


@pytest.mark.parametrize("settings", [BROKER_SETTINGS, TOPIC_SETTINGS, OWN_SETTINGS])
def test_every_setting_says_what_it_means_and_why_it_is_not_served(settings: Settings) -> None:
    for setting in settings.values():
        assert setting.meaning.endswith("."), setting.name
        assert bool(setting.status.reason) == (setting.status.support is not Support.SERVED), setting.name


def test_a_topic_takes_its_default_from_settings_that_the_broker_has() -> None:
    for setting in TOPIC_SETTINGS.values():
        for name in setting.server_names:
            assert name in BROKER_SETTINGS, setting.name


def test_a_setting_of_our_own_can_be_told_from_kafkas() -> None:
    assert OWN_SETTINGS
    for name in OWN_SETTINGS:
        assert name.startswith("odradek.")
        assert name not in BROKER_SETTINGS
        assert name not in TOPIC_SETTINGS
