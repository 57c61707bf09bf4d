"""The error table against Kafka's: every code with its name, and what a client does with it."""

from __future__ import annotations

import csv
from pathlib import Path

from odradek.model.errors import ErrorCode

FACTS = Path(__file__).parents[1] / "golden" / "errors.tsv"


def test_every_error_is_the_one_kafka_has() -> None:
    with FACTS.open() as file:
        theirs = [tuple(row.values()) for row in csv.DictReader(file, delimiter="\t")]
    ours = [
        (str(each.code), each.name, str(each.retriable).lower(), str(each.refreshes_metadata).lower())
        for each in ErrorCode
    ]
    assert ours == theirs
