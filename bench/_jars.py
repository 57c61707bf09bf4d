"""Apache Kafka's jars, fetched once by Maven: what benchmarks compare with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_POM = Path(__file__).parents[1] / "tests" / "compatibility" / "java" / "pom.xml"


def kafka_jars() -> str:
    """The class path."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    jars = cache / "odradek-bench" / "kafka-jars"
    if not (jars / ".complete").exists():
        command = ["mvn", "-q", "-B", "-f", str(_POM), "dependency:copy-dependencies"]
        subprocess.run([*command, f"-DoutputDirectory={jars}"], check=True)
        (jars / ".complete").touch()
    return f"{jars}/*"
