"""How many records a second does a round of compaction get through, pure and compiled, and what is a key?"""

from __future__ import annotations

import os
import random
import tempfile
from types import ModuleType

from _report import Cell, best_of, report
from odradek.log.cleaner import clean
from odradek.log.cleaning import KeyMapSettings, Order, order
from odradek.log.compaction import cleanable
from odradek.log.disk import OsDisk
from odradek.log.key_map import KeyMap
from odradek.log.log import PartitionLog
from odradek.log.open_files import OpenFiles
from odradek.log.settings import LogSettings
from odradek.testing.kernels import compiled_kernel, pure_kernel, walking_with
from odradek.wire.compression import Codec
from odradek.wire.records import BatchBuilder

ROUNDS = 3
RECORDS = 400_000
RECORDS_A_BATCH = 150
VALUE_SIZE = 100
NOW_MS = 1_700_000_000_000
SALT = b"of a benchmark"
SETTINGS = LogSettings(cleanup_policy=frozenset({"compact"}), segment_bytes=16 * 1024 * 1024)


def filled(directory: str, keys: int, codec: Codec) -> Order:
    """The order to clean a log in which each of the keys was written so many times."""
    os.mkdir(directory)
    log = PartitionLog.open(OpenFiles(OsDisk()), directory, SETTINGS, now_ms=NOW_MS)
    chance = random.Random(0)
    for _ in range(RECORDS // RECORDS_A_BATCH):
        builder = BatchBuilder(codec=codec)
        for _ in range(RECORDS_A_BATCH):
            builder.append(NOW_MS, b"customer-%09d" % chance.randrange(keys), chance.randbytes(VALUE_SIZE))
        log.append(builder.build(), 0, NOW_MS)
    log.roll(NOW_MS)
    log.advance_high_watermark(log.log_end)
    log.close(NOW_MS)
    return order(log, cleanable(log.facts(), SETTINGS, None, NOW_MS), NOW_MS, SALT, KeyMapSettings())


def measure(what: str, ordered: Order) -> list[Cell]:
    cells: list[Cell] = [what]
    for kernel in (pure_kernel(), compiled_kernel()):
        cells.append("-" if kernel is None else rate(kernel, ordered))
    cleaned = clean(ordered, OsDisk(), lambda _: None)
    return [*cells, cleaned.keys, cleaned.tally.records_kept]


def rate(kernel: ModuleType, ordered: Order) -> float:
    """Thousand records a second; each is read twice, and written if it stays."""
    with walking_with(kernel):
        return RECORDS / best_of(ROUNDS, lambda: clean(ordered, OsDisk(), lambda _: None)) / 1e3


def rounds() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for codec in (Codec.NONE, Codec.LZ4):
            for keys in (RECORDS // 100, RECORDS):
                name = f"{codec.name.lower()}, {RECORDS // keys or 1} versions a key"
                rows.append(measure(name, filled(f"{home}/{codec.name}{keys}-0", keys, codec)))
    columns = ("log", "pure", "compiled", "keys", "records kept")
    report("compaction, thousand records a second", columns, rows)


def key_map() -> None:
    """A full map, as every round of a large log fills it."""
    slots = 1 << 20
    keys = [b"customer-%09d" % number for number in range(int(slots * 0.9))]
    built = KeyMap(slots, 0.9, SALT)

    def fill() -> None:
        KeyMap(slots, 0.9, SALT).put(enumerate(keys))

    built.put(enumerate(keys))
    putting = best_of(ROUNDS, fill) / len(keys) * 1e6
    asking = best_of(ROUNDS, lambda: built.newest(keys)) / len(keys) * 1e6
    rows = [("put", putting), ("ask", asking)]
    report("key map at 90 percent, microseconds a key", ("work", "time"), rows)


if __name__ == "__main__":
    rounds()
    key_map()
