"""`odradek config --describe` prints what is declared, all of it."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import run

from odradek.model.config.registry import BROKER_SETTINGS, TOPIC_SETTINGS
from odradek.model.config.setting import Support

VERB = "config"


def test_every_setting_is_told_in_json() -> None:
    told = [json.loads(line) for line in run(VERB, "--describe", "--json").out.splitlines()]
    assert {each["name"] for each in told if each["scope"] == "brokers"} == set(BROKER_SETTINGS)
    assert {each["name"] for each in told if each["scope"] == "topics"} == set(TOPIC_SETTINGS)
    retention = next(each for each in told if each["name"] == "retention.ms")
    assert retention["type"] == "long"
    assert retention["default"] == "604800000"
    assert retention["served"] == "served"
    assert retention["broker_settings"][0] == "log.retention.ms"


@pytest.mark.parametrize("form", ["--markdown", ""])
def test_what_is_not_served_says_why(form: str) -> None:
    told = run(VERB, "--describe", *([form] if form else [])).out
    for setting in BROKER_SETTINGS.values():
        if setting.status.support is not Support.SERVED:
            assert f"{setting.status.support.value}: {setting.status.reason}" in told


def test_every_row_of_a_table_has_as_many_cells() -> None:
    rows = [line for line in run(VERB, "--describe", "--markdown").out.splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}
    assert len(rows) == len(BROKER_SETTINGS) + len(TOPIC_SETTINGS) + 4


def test_some_settings_may_be_picked() -> None:
    told = run(VERB, "--describe", "--topics", "--name", "retention.ms").out
    assert told.startswith("retention.ms\n")
    assert "retention.bytes" not in told


def test_a_setting_that_is_none_is_said_to_be_none() -> None:
    ran = run(VERB, "--describe", "--name", "nonsense")
    assert ran.exit == 1
    assert ran.err.startswith("no such setting: nonsense\n")


def test_without_saying_what_it_points_to_configs() -> None:
    ran = run(VERB, "--json")
    assert ran.exit == 1
    assert "odradek configs" in ran.err
