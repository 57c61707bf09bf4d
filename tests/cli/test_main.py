"""Help comes fast because nothing is imported for it that only the work needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.cli.conftest import run

from odradek.cli.main import VERBS

KAFKA_S = [
    *("topics", "configs", "get-offsets", "delete-records", "log-dirs", "broker-api-versions", "cluster"),
    *("console-producer", "console-consumer", "producer-perf-test", "consumer-perf-test", "e2e-latency"),
    *("verifiable-producer", "verifiable-consumer"),
]
ONLY_FOR_WORK = {
    "asyncio",
    "ssl",
    "confluent_kafka",
    "rich",
    "odradek.wire",
    "odradek.net",
    "odradek.client.cluster",
}
PROGRAM = """
import json, sys
from click.testing import CliRunner
from odradek.cli.main import main
imported = {}
for verb in sys.argv[1:]:
    assert CliRunner().invoke(main, [verb, "--help"]).exit_code == 0
    imported[verb] = sorted(sys.modules)
print(json.dumps(imported))
"""


@pytest.mark.slow
def test_help_imports_nothing_that_only_the_work_needs() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *KAFKA_S], capture_output=True, text=True, check=True
    )
    for verb, modules in json.loads(ran.stdout).items():
        assert not ONLY_FOR_WORK & set(modules), verb


def test_every_verb_is_listed_with_what_it_does() -> None:
    shown = run("--help").out
    assert all(verb in shown for verb in VERBS)
    assert set(KAFKA_S) <= set(VERBS)


def test_a_verb_that_is_none_is_refused() -> None:
    assert run("nonsense").exit != 0
