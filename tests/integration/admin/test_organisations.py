"""Organisations, payments and plans, made and changed over the wire and in force for callers."""

from typing import Any

import pytest

from tests.integration.admin.conftest import Site

NO_LIMITS = {
    **dict.fromkeys(("day_micros", "month_micros", "day_requests", "month_requests")),
    **dict.fromkeys(("minute_requests", "minute_tokens", "parallel")),
}


async def test_an_organisation_is_made_read_changed_and_listed(site: Site) -> None:
    made = await site.does(
        "POST",
        "/organisations",
        {"id": "beta", "name": "Beta Ltd", "plan": "free", "markup": 0.05, "limits": {"day_micros": 5_000}},
    )
    assert made == {
        "object": "organisation",
        "id": "beta",
        "name": "Beta Ltd",
        "created": made["created"],
        "plan": "free",
        "markup": "0.05",
        "discount": "0",
        "limits": {**NO_LIMITS, "day_micros": 5_000},
        "credit_micros": 0,
    }
    assert await site.does("GET", "/organisations/beta") == made
    changed = await site.does("PATCH", "/organisations/beta", {"plan": "standard", "discount": "1/3", "limits": {}})
    assert changed == {**made, "plan": "standard", "discount": "1/3", "limits": NO_LIMITS}
    bound = await site.does("PATCH", "/organisations/beta", {"limits": {"parallel": 5}})
    assert bound["limits"]["parallel"] == 5
    assert (await site.does("PATCH", "/organisations/beta", {"plan": None, "limits": None})) == changed
    listed = await site.does("GET", "/organisations")
    assert listed["object"] == "list"
    assert [one["id"] for one in listed["data"]] == ["acme", "beta", "default"]
    assert listed["data"][1] == changed


WRONG: list[tuple[Any, int, str, str | None]] = [
    ({}, 400, "missing_required_parameter", "id"),
    ({"id": "a/b"}, 400, "invalid_value", "id"),
    ({"id": ".."}, 400, "invalid_value", "id"),
    ({"id": "x", "plan": "none"}, 400, "invalid_value", "plan"),
    ({"id": "x", "markup": -1}, 400, "invalid_value", "markup"),
    ({"id": "x", "markup": "1/0"}, 400, "invalid_value", "markup"),
    ({"id": "x", "discount": 1.5}, 400, "invalid_value", "discount"),
    ({"id": "x", "discount": True}, 400, "invalid_value", "discount"),
    ({"id": "x", "limits": {"day_micros": "5"}}, 400, "invalid_value", "limits.day_micros"),
    ({"id": "x", "limits": {"day_micro": 5}}, 422, "unknown_field", "limits.day_micro"),
    ({"id": "x", "credit_micros": 5}, 422, "unknown_field", "credit_micros"),
    ({"id": "acme"}, 409, "already_exists", None),
]


async def test_what_is_wrong_is_refused_by_name(site: Site) -> None:
    for body, status, code, param in WRONG:
        error = await site.refused("POST", "/organisations", body, status=status)
        assert (error["code"], error["param"]) == (code, param), body


async def test_what_is_not_there_is_not_found(site: Site) -> None:
    for method, path, body in (
        ("GET", "/organisations/none", None),
        ("PATCH", "/organisations/none", {}),
        ("POST", "/organisations/none/payments", {"id": "p", "micros": 1}),
        ("GET", "/organisations/none/keys", None),
        ("POST", "/organisations/none/keys", {"name": "x"}),
        ("PUT", "/organisations/none/policies/x", {}),
        ("GET", "/organisations/none/catalog", None),
        ("PUT", "/organisations/none/catalog", {"toml": "models = []"}),
    ):
        error = await site.refused(method, path, body, status=404)
        assert (error["code"], "'none'" in error["message"]) == ("organisation_not_found", True), path
    assert (await site.refused("GET", "/plans/none", status=404))["code"] == "plan_not_found"
    assert (await site.refused("GET", "/organisations/acme/keys/none", status=404))["code"] == "key_not_found"
    assert (await site.refused("GET", "/organisations/acme/catalog", status=404))["code"] == "catalog_not_found"


async def test_a_payment_counts_once(site: Site) -> None:
    paid = await site.does("POST", "/organisations/acme/payments", {"id": "invoice-1", "micros": 5_000_000})
    assert paid["credit_micros"] == 5_000_000
    again = await site.does("POST", "/organisations/acme/payments", {"id": "invoice-1", "micros": 5_000_000})
    assert again == paid
    error = await site.refused(
        "POST", "/organisations/acme/payments", {"id": "invoice-1", "micros": 5_000_001}, status=409
    )
    assert (error["code"], "of 5000000 micro-dollars" in error["message"]) == ("already_exists", True)
    back = await site.does("POST", "/organisations/acme/payments", {"id": "refund-1", "micros": -1_000_000})
    assert back["credit_micros"] == 4_000_000
    assert (await site.does("PATCH", "/organisations/acme", {"name": "Acme"}))["credit_micros"] == 4_000_000
    for wrong in (0, 1.5, "5"):
        error = await site.refused("POST", "/organisations/acme/payments", {"id": "x", "micros": wrong})
        assert error["param"] == "micros"


async def test_markup_and_discount_are_charged_at_once(site: Site) -> None:
    token = await site.key()
    plain = (await site.asks(token, model="lab/strong")).json()["usage"]["cost_micros"]
    await site.does("PATCH", "/organisations/acme", {"markup": "1"})
    assert (await site.asks(token, model="lab/strong")).json()["usage"]["cost_micros"] == 2 * plain
    await site.does("PATCH", "/organisations/acme", {"plan": "free"})
    assert (await site.asks(token, model="lab/strong")).json()["usage"]["cost_micros"] == 0


async def test_a_deleted_organisation_is_gone_with_all_it_had(site: Site) -> None:
    token = await site.key()
    request_id = (await site.asks(token)).headers["x-request-id"]
    await site.running.gateway.after_response()
    assert await site.does("DELETE", "/organisations/acme") == {
        "object": "organisation",
        "id": "acme",
        "deleted": True,
    }
    assert (await site.asks(token)).status_code == 401
    await site.refused("GET", "/organisations/acme", status=404)
    await site.refused("GET", f"/routing-decisions/{request_id}", status=404)
    again = await site.refused("DELETE", "/organisations/acme", status=404)
    assert again["code"] == "organisation_not_found"


async def test_a_key_that_outlives_its_organisation_is_refused(site: Site) -> None:
    token = await site.key()
    store = site.running.store
    (key,) = await store.keys("acme")
    await site.does("DELETE", "/organisations/acme")
    await site.running.gateway.service.parts.directory.save_key(key)
    answer = await site.asks(token)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


async def test_plans_are_made_shadowed_and_deleted(site: Site) -> None:
    listed = (await site.does("GET", "/plans"))["data"]
    assert [plan["id"] for plan in listed] == ["free", "prepaid", "standard"]
    built_in = await site.does("GET", "/plans/free")
    big = await site.does("PUT", "/plans/big", {"name": "Big", "limits": {"parallel": 3}, "max_output_tokens": 100})
    assert big == {
        "object": "plan",
        "id": "big",
        "name": "Big",
        "limits": {**NO_LIMITS, "parallel": 3},
        "is_free": False,
        "is_prepaid": False,
        "max_input_tokens": None,
        "max_output_tokens": 100,
    }
    await site.does("PATCH", "/organisations/acme", {"plan": "big"})
    assert (await site.refused("DELETE", "/plans/big", status=409))["code"] == "in_use"
    await site.does("PATCH", "/organisations/acme", {"plan": "standard"})
    assert (await site.does("DELETE", "/plans/big"))["deleted"] is True
    await site.refused("GET", "/plans/big", status=404)
    await site.does("PUT", "/plans/free", {"is_free": True})
    assert (await site.does("GET", "/plans/free"))["limits"] == NO_LIMITS
    await site.does("DELETE", "/plans/free")
    assert await site.does("GET", "/plans/free") == built_in
    assert (await site.refused("DELETE", "/plans/free", status=409))["code"] == "in_use"
    both = await site.refused("PUT", "/plans/odd", {"is_free": True, "is_prepaid": True})
    assert both["param"] == "is_prepaid"
    assert (await site.refused("PUT", "/plans/.odd", {}))["param"] == "plan"


async def test_the_operators_view_of_a_decision_names_the_hosts(site: Site) -> None:
    token = await site.key()
    answer = await site.asks(token, model="lab/strong")
    await site.running.gateway.after_response()
    for form in ("req-", "chatcmpl-"):
        request_id = answer.headers["x-request-id"].replace("req-", form)
        shown = await site.does("GET", f"/routing-decisions/{request_id}")
        assert (shown["organisation"], shown["pick"]) == ("acme", "lab/strong")
        assert [attempt["host"] for attempt in shown["attempts"]] == ["lab/strong"]
        assert shown["usage"]["cost_micros"] == answer.json()["usage"]["cost_micros"]
    assert (await site.refused("GET", "/routing-decisions/none", status=404))["code"] == "decision_not_found"
    await site.refused("GET", f"/routing-decisions/req-{'0' * 32}", status=404)


async def test_a_payment_has_a_bound_and_so_have_the_credits(site: Site) -> None:
    place = "/organisations/acme/payments"
    for micros in (10**15 + 1, -(10**15) - 1, 2**63 - 1, 10**30):
        assert (await site.refused("POST", place, {"id": "x", "micros": micros}))["param"] == "micros"
    paid = await site.does("POST", place, {"id": "x", "micros": 10**15})
    assert paid["credit_micros"] == 10**15
    await site.running.store.pay_in("acme", "most", 2**63 - 1 - 10**15, 0)
    error = await site.refused("POST", place, {"id": "y", "micros": 1})
    assert (error["param"], "Nothing was added" in error["message"]) == ("micros", True)


@pytest.mark.parametrize("key", ["ü", "sk-ключ", "a b", "a\n", "a\x7f", "", " ", "\u00a0"])
async def test_what_no_header_can_carry_is_no_key_of_a_vendor(site: Site, key: str) -> None:
    error = await site.refused("PUT", "/organisations/acme/own-keys/openai", {"key": key})
    assert error["param"] == "key"
    assert (await site.does("GET", "/organisations/acme/own-keys"))["data"] == []
