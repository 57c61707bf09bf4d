"""Which transactions a list shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from odradek.model.errors import ApiError, ErrorCode
from odradek.transactions.states import STATES_BY_LABEL, State

if TYPE_CHECKING:
    from odradek.transactions.transaction import Transaction
    from odradek.wire.messages.transactions import ListTransactionsRequest


class Listing:
    """What a request asks for; nothing named means all."""

    def __init__(self, request: ListTransactionsRequest, now_ms: int) -> None:
        self._now_ms = now_ms
        self._longer_than_ms = request.duration_filter
        self._producer_ids = frozenset(request.producer_id_filters)
        named = tuple(dict.fromkeys(request.state_filters))
        self.unknown_states = tuple(each for each in named if each not in STATES_BY_LABEL)
        known = frozenset(STATES_BY_LABEL[each] for each in named if each in STATES_BY_LABEL)
        self._states = known if named else frozenset(State)
        self._pattern = _compiled(request.transactional_id_pattern)

    def shows(self, transactional_id: str, transaction: Transaction) -> bool:
        return (
            transaction.state in self._states
            and (not self._producer_ids or transaction.identity.id in self._producer_ids)
            and (self._longer_than_ms < 0 or self._now_ms - transaction.started_ms > self._longer_than_ms)
            and (self._pattern is None or self._pattern.fullmatch(transactional_id) is not None)
        )


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    if not pattern:
        return None
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION, str(error)) from None
