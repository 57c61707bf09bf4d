"""One scrape: everything that can be seen of a broker, as text, piece by piece.

Pieces are short in time, and in between the loop may serve clients. So with thousands of partitions not all
of them are seen at the same moment, as they would not be by any two scrapes.
"""

from __future__ import annotations

from collections.abc import Iterator

from odradek.observe import dashboards, exporter, groups
from odradek.observe.exposition import labels, text
from odradek.observe.sources import GroupFacts, PartitionFacts, Sources

_PARTITIONS_A_PIECE = 100
_GROUPS_A_PIECE = 20


def scrape(sources: Sources) -> Iterator[str]:
    hosted: list[tuple[str, PartitionFacts]] = []
    for facts in sources.partitions():
        hosted.append((labels(topic=facts.topic, partition=facts.number), facts))
        if len(hosted) % _PARTITIONS_A_PIECE == 0:
            yield ""
    coordinated: list[GroupFacts] = []
    for group in sources.groups():
        coordinated.append(group)
        if len(coordinated) % _GROUPS_A_PIECE == 0:
            yield ""
    yield from text(dashboards.families(sources, hosted))
    yield from text(exporter.families(sources, hosted))
    yield from text(groups.families(coordinated))
    yield from text(sources.client_metrics())
