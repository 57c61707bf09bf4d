from __future__ import annotations

from random import Random

from odradek.log.removal import Removal
from odradek.testing.sim_disk import SimDisk


def test_files_and_directories_go() -> None:
    disk = SimDisk(Random(0))
    disk.make_directory("/kept")
    disk.make_directory("/gone")
    for path in ("/kept/a", "/kept/b", "/gone/c"):
        disk.open(path, create=True)
    removal = Removal(disk, files=("/kept/a",), directories=("/gone",))
    removal.run()
    assert (disk.list("/"), disk.list("/kept")) == (["kept"], ["b"])
    removal.run()  # what is gone already is fine
