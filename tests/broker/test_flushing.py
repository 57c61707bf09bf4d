from __future__ import annotations

from odradek.broker.flushing import run_flushes
from odradek.model.errors import StorageError
from odradek.testing.kept_logs import KeptLogs
from odradek.testing.sim_clock import SimClock, run


def test_each_flush_has_its_time_or_its_failure() -> None:
    async def main() -> None:
        kept = KeptLogs(SimClock(), data_dirs=("/one", "/two"))
        bad, good = kept.log("bad"), kept.log("good")
        kept.append(bad, b"a")
        kept.append(good, b"a")
        flushes = [bad.begin_flush(), good.begin_flush()]
        kept.disk.broken.add("/one")
        moments = iter((1.0, 2.0, 4.5))
        failure, seconds = run_flushes(flushes, lambda: next(moments))
        assert isinstance(failure, StorageError)
        assert seconds == 2.5

    run(main())
