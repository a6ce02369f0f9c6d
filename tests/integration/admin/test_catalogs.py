"""An organisation's own catalog: checked when it is written, in force for that organisation alone."""

from dataclasses import replace
from typing import Any

import pytest

from core.administration.setup import save_own_key
from core.errors import Overloaded
from tests.integration.admin.conftest import Site
from tests.support.auto_catalog import entry

OWN = entry("lab/own", price=2, quality=0.95).format()
DEARER = entry("lab/strong", price=90, quality=0.9).format()


async def models(site: Site, token: str) -> dict[str, Any]:
    async with site.running.client(authorization=f"Bearer {token}") as client:
        return {model["id"]: model for model in (await client.get("/v1/models")).json()["data"]}


async def test_models_are_added_and_changed_for_one_organisation(site: Site) -> None:
    toml = f"{OWN}\n\n{DEARER}"
    mine, theirs = await site.key(), site.running.token
    before = await models(site, mine)
    plain = (await site.asks(mine, model="lab/strong")).json()["usage"]["cost_micros"]
    assert await site.does("PUT", "/organisations/acme/catalog", {"toml": toml}) == {"object": "catalog", "toml": toml}
    assert (await site.does("GET", "/organisations/acme/catalog"))["toml"] == toml
    answer = (await site.asks(mine, routing={"optimize": "quality"})).json()
    assert answer["model"] == "lab/own"
    assert (await site.asks(mine, model="own-alias")).json()["model"] == "lab/own"
    assert (await site.asks(mine, model="lab/strong")).json()["usage"]["cost_micros"] == 10 * plain
    assert (await models(site, mine)).keys() - before.keys() == {"lab/own"}
    assert "stream" in (await models(site, mine))["lab/own"]["supported_parameters"]
    assert await models(site, theirs) == before
    assert (await site.asks(theirs, model="lab/own")).json()["error"]["code"] == "model_not_found"
    assert (await site.asks(theirs, model="lab/strong")).json()["usage"]["cost_micros"] == plain
    assert (await site.does("DELETE", "/organisations/acme/catalog"))["deleted"] is True
    assert await models(site, mine) == before


async def test_what_is_wrong_is_refused_with_line_and_field(site: Site) -> None:
    vendor = '[vendors.lab]\nformat = "openai"\nbase_url = "https://elsewhere.example/v1"\n'
    wrong = [
        ("models = = 1\n", "catalog:1: not valid TOML"),
        (
            OWN.replace("price", "x").replace("context_tokens = 8192", "context_tokens = 0"),
            "catalog:4: models[0].context",
        ),
        (OWN.replace('vendor = "lab"', 'vendor = "lap"'), "did you mean"),
        (f"{vendor}\n{OWN}", "catalog:1: vendors.lab: an organisation's catalog may not add or change vendors"),
        (f"{OWN}\noptions = {{ max_tokens = 9 }}\n", "options.max_tokens: is written by the gateway"),
        (
            OWN.replace('vendor = "lab"', 'vendor = "google"').replace('upstream_model = "', 'upstream_model = "../'),
            "upstream_model: stands in the address here",
        ),
        ('{"headrace_catalog":1}', "catalog:1: not valid TOML"),
        ("# " + "x" * 300_000, "256 KB"),
    ]
    for toml, told in wrong:
        error = await site.refused("PUT", "/organisations/acme/catalog", {"toml": toml})
        assert told.lower() in error["message"].lower(), error
    await site.refused("GET", "/organisations/acme/catalog", status=404)
    await site.refused("DELETE", "/organisations/acme/catalog", status=404)


async def test_a_catalog_that_can_no_longer_be_read_is_a_clear_failure(site: Site) -> None:
    token = await site.key()
    await site.running.gateway.service.parts.directory.save_catalog("acme", OWN.replace('"lab"', '"gone"'))
    answer = await site.asks(token)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "operator" in answer.json()["error"]["message"]
    assert "gone" not in answer.text


async def test_an_own_key_is_sealed_and_shown_by_its_end(site: Site) -> None:
    place = "/organisations/acme/own-keys"
    made = await site.does("PUT", f"{place}/openai", {"key": "sk-canary-0123456789-1234"})
    assert made == {"object": "own_key", "vendor": "openai", "hint": "1234", "created": made["created"]}
    assert (await site.does("GET", place))["data"] == [made]
    assert site.running.store is not None
    workspace = await site.running.store.workspace("acme")
    assert workspace is not None
    assert "canary" not in workspace.own_keys["openai"].sealed
    for vendor, told in (("opena", "'openai'"), ("lab", "without a key")):
        error = await site.refused("PUT", f"{place}/{vendor}", {"key": "sk-canary-0123456789-1234"})
        assert (error["param"], told in error["message"], "canary" in error["message"]) == ("vendor", True, False)
    for wrong in ("", "a\nb", "x" * 9_000, 5, None):
        error = await site.refused("PUT", f"{place}/openai", {"key": wrong})
        assert error["param"] == "key"
    keyless = replace(site.running.gateway.office, sealer=None)
    with pytest.raises(Overloaded, match="no key to seal with"):
        await save_own_key(keyless, "acme", "openai", "sk-canary-0123456789-1234")
    assert (await site.does("DELETE", f"{place}/openai"))["deleted"] is True
    assert (await site.refused("DELETE", f"{place}/openai", status=404))["code"] == "key_not_found"
