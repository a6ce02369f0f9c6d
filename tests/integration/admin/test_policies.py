"""Policies written over the wire, and every field of them in force for the keys that name them."""

from typing import Any

from tests.integration.admin.conftest import Site
from tests.support.auto_catalog import entry

BUILT_IN = {
    "object": "policy",
    "name": "default",
    "allow_models": None,
    "allow_providers": None,
    "allow_optimize": ["quality", "cost", "latency", "balanced"],
    "optimize": "balanced",
    "first_token_ms": 12_000,
    "deadline_ms": 120_000,
    "max_attempts": 3,
    "max_cost_micros": None,
    "min_quality": None,
    "data": {"regions": None, "no_training": False, "zero_retention": False},
    "named_model_fallbacks": {},
    "structured_output": {"extract": True, "reask": False},
    "thinking": {"extended_thinking": None, "reasoning_effort": None},
    "max_tokens_default": 8_192,
    "guardrails": [],
    "sticky": True,
    "own_keys": "own_first",
    "use_opinions": False,
}


async def test_a_policy_is_written_read_replaced_and_deleted(site: Site) -> None:
    place = "/organisations/acme/policies"
    assert (await site.does("GET", place))["data"] == [BUILT_IN]
    cheap = await site.does("PUT", f"{place}/cheap", {"optimize": "cost", "data": {"regions": ["eu"]}})
    assert cheap == {
        **BUILT_IN,
        "name": "cheap",
        "optimize": "cost",
        "data": {"regions": ["eu"], "no_training": False, "zero_retention": False},
    }
    assert await site.does("GET", f"{place}/cheap") == cheap
    assert await site.does("PUT", f"{place}/cheap", cheap) == cheap
    assert (await site.refused("PUT", f"{place}/other", cheap))["param"] == "name"
    assert [one["name"] for one in (await site.does("GET", place))["data"]] == ["cheap", "default"]
    again = await site.does("PUT", f"{place}/cheap", {})
    assert again == {**BUILT_IN, "name": "cheap"}
    assert (await site.does("DELETE", f"{place}/cheap"))["deleted"] is True
    assert (await site.refused("GET", f"{place}/cheap", status=404))["code"] == "policy_not_found"
    assert (await site.refused("DELETE", f"{place}/default", status=409))["code"] == "in_use"


async def test_the_built_in_policy_is_shadowed_and_comes_back(site: Site) -> None:
    token = await site.key()
    await site.does("PUT", "/organisations/acme/policies/default", {"optimize": "quality"})
    assert (await site.asks(token)).json()["routing"]["optimize"] == "quality"
    await site.does("DELETE", "/organisations/acme/policies/default")
    assert (await site.asks(token)).json()["routing"]["optimize"] == "balanced"


async def test_what_is_wrong_is_refused_with_its_path(site: Site) -> None:
    wrong: list[tuple[Any, int, str]] = [
        ({"allow_models": []}, 400, "allow_models"),
        ({"allow_models": ["a", 1]}, 400, "allow_models[1]"),
        ({"allow_providers": "lab"}, 400, "allow_providers"),
        ({"allow_optimize": ["cost", "fast"]}, 400, "allow_optimize[1]"),
        ({"allow_optimize": ["cost"]}, 400, "optimize"),
        ({"optimize": "best"}, 400, "optimize"),
        ({"first_token_ms": 0}, 400, "first_token_ms"),
        ({"deadline_ms": 1.5}, 400, "deadline_ms"),
        ({"max_attempts": 0}, 400, "max_attempts"),
        ({"max_cost_micros": -1}, 400, "max_cost_micros"),
        ({"max_cost_micros": 2**63}, 400, "max_cost_micros"),
        ({"min_quality": 2}, 400, "min_quality"),
        ({"data": {"region": "eu"}}, 422, "data.region"),
        ({"data": {"no_training": "yes"}}, 400, "data.no_training"),
        ({"named_model_fallbacks": {"a": []}}, 400, "named_model_fallbacks.a"),
        ({"named_model_fallbacks": {"a": ["b", "b"]}}, 400, "named_model_fallbacks.a[1]"),
        ({"structured_output": {"reask": 1}}, 400, "structured_output.reask"),
        ({"thinking": {"reasoning_effort": "much"}}, 400, "thinking.reasoning_effort"),
        ({"max_tokens_default": 0}, 400, "max_tokens_default"),
        ({"guardrails": ["x"]}, 400, "guardrails"),
        ({"sticky": "no"}, 400, "sticky"),
        ({"own_keys": "always"}, 400, "own_keys"),
        ({"use_opinions": 1}, 400, "use_opinions"),
        ({"stickyness": True}, 422, "stickyness"),
        ({"allow_models": ["lab/cheap", "nope"]}, 400, "allow_models[1]"),
        ({"allow_providers": ["lab", "labb"]}, 400, "allow_providers[1]"),
        ({"named_model_fallbacks": {"nope": ["lab/cheap"]}}, 400, "named_model_fallbacks.nope"),
        ({"named_model_fallbacks": {"lab/new": ["lab/chep"]}}, 400, "named_model_fallbacks.lab/new[0]"),
        ({"first_token_ms": 120_001}, 400, "first_token_ms"),
        ({"first_token_ms": 2, "deadline_ms": 1}, 400, "first_token_ms"),
    ]
    for body, status, param in wrong:
        error = await site.refused("PUT", "/organisations/acme/policies/x", body, status=status)
        assert error["param"] == param, body
    assert (await site.refused("PUT", "/organisations/acme/policies/a%20b", {}))["param"] == "policy"


async def policy(site: Site, **members: Any) -> str:
    """A key whose policy says so."""
    await site.does("PUT", "/organisations/acme/policies/mine", members)
    return await site.key(policies=["mine", "default"])


async def test_the_envelope_of_models_hosts_and_objectives(site: Site) -> None:
    token = await policy(site, allow_models=["cheap-alias"], allow_optimize=["cost"], optimize="cost")
    assert (await site.asks(token)).json()["model"] == "lab/cheap"
    for routing, param in (
        ({"models": ["lab/strong"]}, "routing.models[0]"),
        ({"optimize": "quality"}, "routing.optimize"),
        ({"policy": "other"}, "routing.policy"),
    ):
        error = (await site.asks(token, routing=routing)).json()["error"]
        assert (error["code"], error["param"]) == ("policy_violation", param)
    assert (await site.asks(token, model="lab/strong")).json()["error"]["code"] == "policy_violation"
    assert (await site.asks(token, routing={"policy": "default", "optimize": "quality"})).json()[
        "model"
    ] == "lab/strong"
    async with site.running.client(authorization=f"Bearer {token}") as client:
        assert len((await client.get("/v1/models")).json()["data"]) > 1
    only = await site.key(policies=["mine"])
    async with site.running.client(authorization=f"Bearer {only}") as client:
        assert [model["id"] for model in (await client.get("/v1/models")).json()["data"]] == ["lab/cheap"]
        assert (await client.get("/v1/models/lab/strong")).status_code == 404
    token = await policy(site, allow_providers=["shop"])
    assert (await site.asks(token)).json()["error"]["code"] == "no_eligible_model"


async def test_bounds_on_cost_quality_and_data(site: Site) -> None:
    token = await policy(site, min_quality=0.8)
    assert (await site.asks(token, routing={"min_quality": 0.85})).json()["model"] == "lab/strong"
    error = (await site.asks(token, routing={"min_quality": 0.1})).json()["error"]
    assert (error["code"], error["param"]) == ("policy_violation", "routing.min_quality")
    assert "'mine'" in error["message"]
    token = await policy(site, max_cost_micros=10_000, min_quality=0.1, optimize="quality")
    assert (await site.asks(token, max_tokens=2_000)).json()["model"] == "lab/cheap"
    token = await policy(site, data={"no_training": True})
    assert (await site.asks(token)).json()["error"]["code"] == "no_eligible_model"


async def test_budgets_attempts_and_stand_ins(site: Site) -> None:
    token = await policy(site, first_token_ms=5_000, deadline_ms=20_000)
    for field, value in (("first_token_ms", 6_000), ("deadline_ms", 30_000)):
        error = (await site.asks(token, stream=True, routing={field: value})).json()["error"]
        assert (error["code"], error["param"]) == ("policy_violation", f"routing.{field}")
    token = await policy(site, named_model_fallbacks={"strong-alias": ["cheap-alias"]}, max_attempts=1)
    said = (await site.asks(token, model="lab/strong")).json()["routing"]
    assert "lab/cheap may stand in" in said["reasoning"]


async def test_structured_output_thinking_and_stickiness(site: Site) -> None:
    wanted: dict[str, Any] = {
        "response_format": {"type": "json_object"},
        "messages": [{"role": "user", "content": "JSON, please"}],
    }
    token = await policy(site, structured_output={"extract": False})
    answer = (await site.asks(token, model="lab/strong", **wanted)).json()
    assert answer["choices"][0]["message"]["content"].startswith("```")
    await policy(site, structured_output={"extract": True})
    answer = (await site.asks(token, model="lab/strong", **wanted)).json()
    assert answer["choices"][0]["message"]["content"] == "{}"
    token = await policy(site, thinking={"extended_thinking": True, "reasoning_effort": "low"})
    answer = (await site.asks(token, model="lab/strong")).json()
    assert "dropped_params" not in answer["usage"]


async def test_a_policy_that_keys_name_cannot_be_deleted(site: Site) -> None:
    await policy(site)
    error = await site.refused("DELETE", "/organisations/acme/policies/mine", status=409)
    assert (error["code"], "key_" in error["message"]) == ("in_use", True)


async def test_a_key_whose_policy_is_gone_is_told_so(site: Site) -> None:
    token = await policy(site)
    await site.running.gateway.service.parts.directory.delete_policy("acme", "mine")
    error = (await site.asks(token)).json()["error"]
    assert (error["code"], "'mine', is not there any more" in error["message"]) == ("policy_violation", True)
    assert "routing.policy" in error["message"]
    assert (await site.asks(token, routing={"policy": "default"})).status_code == 200


async def test_unknown_names_are_told_with_near_ones_and_the_own_catalog_counts(site: Site) -> None:
    place = "/organisations/acme/policies/mine"
    near = await site.refused("PUT", place, {"allow_models": ["lab/chep"]})
    assert "Did you mean lab/cheap" in near["message"]
    assert "Did you mean 'lab'?" in (await site.refused("PUT", place, {"allow_providers": ["labb"]}))["message"]
    await site.refused("PUT", place, {"allow_models": ["acme/own"]})
    own = entry("acme/own").replace("{{", "{").replace("}}", "}")
    await site.does("PUT", "/organisations/acme/catalog", {"toml": own})
    written = await site.does("PUT", place, {"allow_models": ["acme/own"], "allow_providers": ["lab", "shop"]})
    assert written["allow_models"] == ["acme/own"]
    await site.refused("PUT", "/organisations/none/policies/mine", {}, status=404)


async def test_a_short_deadline_alone_shortens_the_first_token_too(site: Site) -> None:
    place = "/organisations/acme/policies/quick"
    written = await site.does("PUT", place, {"deadline_ms": 5_000})
    assert (written["first_token_ms"], written["deadline_ms"]) == (5_000, 5_000)
    assert await site.does("PUT", place, written) == written
