"""What the newest version of UpdateFeatures promises; the others are compared with Kafka's answers in
tests/compatibility/."""

from __future__ import annotations

from odradek.model.errors import ErrorCode
from odradek.testing.conversation import Conversation
from odradek.wire.messages.features import FeatureUpdate, UpdateFeaturesRequest, UpdateFeaturesResponse


def test_one_answer_tells_of_the_first_feature_that_cannot_be_updated(client: Conversation) -> None:
    updates = tuple(FeatureUpdate(feature=name, max_version_level=1) for name in ("a", "b"))
    answer = client.ask(UpdateFeaturesRequest(feature_updates=updates), 2)
    assert isinstance(answer, UpdateFeaturesResponse)
    assert answer.error_code == ErrorCode.INVALID_REQUEST.code
    assert answer.error_message is not None
    assert "a: Could not apply" in answer.error_message
    nothing = client.ask(UpdateFeaturesRequest(feature_updates=()), 2)
    assert isinstance(nothing, UpdateFeaturesResponse)
    assert nothing.error_code == 0
