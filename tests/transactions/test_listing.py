"""Which transactions a list shows."""

from __future__ import annotations

import pytest

from odradek.model.errors import ApiError
from odradek.transactions.listing import Listing
from odradek.transactions.states import State
from odradek.transactions.transaction import Identity, Transaction
from odradek.wire.messages.transactions import ListTransactionsRequest

NOW_MS = 10_000
ALL = {
    "copy-1": Transaction(Identity(1, 0), 1000, State.ONGOING, 9000, started_ms=9000),
    "copy-2": Transaction(Identity(2, 0), 1000, State.COMPLETE_COMMIT, 9000, started_ms=2000),
    "other": Transaction(Identity(3, 0), 1000, State.EMPTY, 9000),
}


def shown(
    *,
    states: tuple[str, ...] = (),
    ids: tuple[int, ...] = (),
    longer_ms: int = -1,
    pattern: str | None = None,
) -> list[str]:
    request = ListTransactionsRequest(
        state_filters=states,
        producer_id_filters=ids,
        duration_filter=longer_ms,
        transactional_id_pattern=pattern,
    )
    listing = Listing(request, NOW_MS)
    return [id for id, transaction in ALL.items() if listing.shows(id, transaction)]


def test_nothing_named_means_all() -> None:
    assert shown() == shown(pattern="") == list(ALL)


def test_what_is_named_is_all_that_counts() -> None:
    assert shown(states=("Ongoing", "Empty")) == ["copy-1", "other"]
    assert shown(states=("ongoing",)) == []
    assert shown(ids=(1, 2, 99)) == ["copy-1", "copy-2"]
    assert shown(states=("Ongoing",), ids=(2,)) == []
    assert shown(longer_ms=1000) == ["copy-2", "other"]
    assert shown(longer_ms=999) == list(ALL)


def test_a_pattern_is_for_the_whole_id() -> None:
    assert shown(pattern="copy-.") == ["copy-1", "copy-2"]
    assert shown(pattern="copy") == []
    with pytest.raises(ApiError, match="INVALID_REGULAR_EXPRESSION"):
        shown(pattern="(")


def test_states_that_nobody_knows_are_told() -> None:
    request = ListTransactionsRequest(state_filters=("X", "Ongoing", "X"), producer_id_filters=())
    assert Listing(request, NOW_MS).unknown_states == ("X",)
