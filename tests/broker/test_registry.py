"""The table of what is served leads somewhere, for every API in it."""

from __future__ import annotations

import pytest

from odradek.broker.registry import Route, routes
from odradek.model.errors import ApiError, ErrorCode
from odradek.wire.codec import encode
from odradek.wire.schema import declaration

ROUTES = list(routes().values())
NAMES = [route.name for route in ROUTES]


@pytest.mark.parametrize("route", ROUTES, ids=NAMES)
def test_every_api_has_its_handler(route: Route) -> None:
    assert callable(route.handle)


@pytest.mark.parametrize("route", ROUTES, ids=NAMES)
def test_every_version_that_is_served_is_declared(route: Route) -> None:
    assert set(route.versions) <= set(route.api.versions)
    assert route.oldest_advertised <= route.versions[0]


@pytest.mark.parametrize("route", ROUTES, ids=NAMES)
def test_every_refusal_can_be_sent_in_every_version(route: Route) -> None:
    request = declaration(route.api.request).zero
    refused = route.refuse(request, ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "a disk is broken"))
    for version in route.versions:
        assert encode(refused, version)
