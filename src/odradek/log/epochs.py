"""Leader epoch -> the offset of its first batch: where replicas look for the point at which they agree.

Kept in `leader-epoch-checkpoint`, which is rewritten durably before the first batch of a new epoch is
written, and whenever epochs go. That one has only begun is kept in memory: without a batch nobody can miss
it, and a broker that comes to lead thousands of partitions at once has no time to sync a file for each. Read
on first use, because a log that only serves consumers never asks.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.log.checkpoint import LEADER_EPOCHS, EpochStart, read_epochs, write_epochs
from odradek.log.disk import Disk

NO_EPOCH = -1
NO_OFFSET = -1


class LeaderEpochs:
    """The epochs of one partition, both numbers strictly ascending."""

    __slots__ = ("_disk", "_entries", "_is_saved", "directory")

    def __init__(self, disk: Disk, directory: str) -> None:
        self.directory = directory
        self._disk = disk
        self._entries: list[EpochStart] | None = None
        self._is_saved = True

    @property
    def entries(self) -> list[EpochStart]:
        if self._entries is None:
            self._entries = read_epochs(self._disk, self._path)
        return self._entries

    @property
    def latest(self) -> int:
        """NO_EPOCH where none has begun."""
        entries = self.entries
        return entries[-1].epoch if entries else NO_EPOCH

    def begin(self, epoch: int, start_offset: int) -> None:
        """`epoch` starts here. What was believed to start later, or to be newer, was truncated away. To be
        saved before its first batch is written."""
        if epoch == NO_EPOCH:
            return
        entries = self.entries
        if entries and entries[-1].epoch == epoch and entries[-1].start_offset <= start_offset:
            return
        kept = [each for each in entries if each.epoch < epoch and each.start_offset < start_offset]
        self._entries = [*kept, EpochStart(epoch, start_offset)]
        self._is_saved = False

    def save(self) -> None:
        if not self._is_saved:
            self._keep(self.entries)

    def end_of(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The largest known epoch not above `epoch`, and where it ended; the latest goes on to the log's end.
        An epoch from before all known ones ends where they begin. Of a newer one nothing is known."""
        newer = [each for each in self.entries if each.epoch > epoch]
        known = len(self.entries) - len(newer)
        if epoch == NO_EPOCH or (not newer and self.latest != epoch):
            return NO_EPOCH, NO_OFFSET
        ended = newer[0].start_offset if newer else log_end
        return (self.entries[known - 1].epoch if known else epoch), ended

    def at(self, offset: int) -> int:
        """The epoch in which the record at `offset` was written; NO_EPOCH where that is not known."""
        return epoch_at(self.entries, offset)

    def cut_from(self, log_end: int) -> None:
        """The log ends here from now on."""
        kept = [each for each in self.entries if each.start_offset < log_end]
        if len(kept) < len(self.entries):
            self._keep(kept)

    def cut_before(self, log_start: int) -> None:
        """Forget the epochs that ended by then. The one that goes on across the start is kept as it is, so
        that nothing is written for a log that only gets shorter."""
        entries = self.entries
        ended = sum(each.start_offset <= log_start for each in entries[1:])
        if ended:
            self._keep(entries[ended:])

    def clear(self) -> None:
        if self.entries:
            self._keep([])

    def replace(self, entries: list[EpochStart]) -> None:
        """These are the epochs, whatever the file says."""
        if entries != self._entries:
            self._keep(entries)

    @property
    def _path(self) -> str:
        return f"{self.directory}/{LEADER_EPOCHS}"

    def _keep(self, entries: list[EpochStart]) -> None:
        write_epochs(self._disk, self._path, entries)
        self._entries = entries
        self._is_saved = True


def epoch_at(entries: Iterable[EpochStart], offset: int) -> int:
    """The epoch of the last entry that does not begin behind `offset`."""
    return max((each.epoch for each in entries if each.start_offset <= offset), default=NO_EPOCH)
