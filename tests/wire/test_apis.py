"""The table of APIs, against the declarations it points to and the facts it follows."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

from odradek.wire import messages
from odradek.wire.apis import API_BY_KEY
from odradek.wire.schema import NEWEST, declaration


def test_every_api_resolves_to_a_request_and_a_response_of_the_same_versions() -> None:
    for api in API_BY_KEY.values():
        request, response = declaration(api.request), declaration(api.response)
        assert request.versions == response.versions, api
        assert request.flexible == response.flexible, api
        assert api.versions == request.versions


def test_every_request_that_is_declared_is_in_the_table() -> None:
    listed = {api.request for api in API_BY_KEY.values()} | {api.response for api in API_BY_KEY.values()}
    for module in pkgutil.iter_modules(messages.__path__):
        for name, each in vars(import_module(f"{messages.__name__}.{module.name}")).items():
            if isinstance(each, type) and "__declaration__" in vars(each):
                is_call = name.endswith(("Request", "Response")) and declaration(each).versions is not None
                assert not is_call or each in listed, name


def test_an_api_knows_its_versions_and_headers() -> None:
    produce, sasl, versions, shutdown = (API_BY_KEY[key] for key in (0, 17, 18, 7))
    assert repr(produce) == "Produce"
    assert (produce.versions, produce.flexible) == (range(14), 9)
    assert sasl.flexible == NEWEST
    assert [produce.response_is_tagged(version) for version in (8, 9)] == [False, True]
    assert [versions.response_is_tagged(version) for version in versions.versions] == [False] * 6
    assert [api for api in API_BY_KEY.values() if api.client_id_since] == [shutdown]


def test_a_codec_is_made_once() -> None:
    produce = API_BY_KEY[0]
    assert produce.request_decoders[9] is produce.request_decoders[9]
    assert produce.request_decoders[9] is not produce.request_decoders[8]


def test_the_table_imports_no_family_before_it_is_asked_for() -> None:
    ask = "import sys, odradek.wire.frame; print([name for name in sys.modules if '.messages.' in name])"
    ran = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
