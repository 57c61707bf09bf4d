"""What the tests of a log share: a disk in memory, and a directory on it."""

from __future__ import annotations

from random import Random

import pytest

from odradek.log.open_files import OpenFiles
from odradek.testing.sim_disk import SimDisk

DIRECTORY = "/data/orders-0"


@pytest.fixture
def disk() -> SimDisk:
    disk = SimDisk(Random(0))
    disk.make_directory(DIRECTORY)
    return disk


@pytest.fixture
def files(disk: SimDisk) -> OpenFiles:
    return OpenFiles(disk)


@pytest.fixture
def directory(disk: SimDisk) -> str:
    return DIRECTORY
