"""Ids as bytes and as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.model.ids import NO_TOPIC_ID, id_bytes, id_text


@given(st.binary(min_size=16, max_size=16))
def test_an_id_survives_being_written(id: bytes) -> None:
    assert len(id_text(id)) == 22
    assert id_bytes(id_text(id)) == id


def test_the_text_is_kafkas() -> None:
    assert id_text(NO_TOPIC_ID) == "A" * 22
    assert id_bytes("m8r189I-S8uvkrRmUbu4OQ").hex() == "9bcaf5f3d23e4bcbaf92b46651bbb839"


@pytest.mark.parametrize("text", ["", "short", "A" * 23, "A" * 24, "m8r189I+S8uvkrRmUbu4O*", "é" * 22])
def test_other_texts_are_no_ids(text: str) -> None:
    with pytest.raises(ValueError, match="id"):
        id_bytes(text)
