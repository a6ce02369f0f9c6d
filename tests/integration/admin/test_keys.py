"""Callers' keys: made and shown once, changed, rotated, revoked, deleted; what they may, and when they were used."""

import asyncio
from pathlib import Path
from typing import Any

from core.accounts.keys import digest, is_well_formed
from core.tenant import Scope
from tests.integration.admin.conftest import Site


async def test_a_key_is_shown_once_and_read_without_it(site: Site) -> None:
    made = await site.does("POST", "/organisations/acme/keys", {"name": "laptop", "expires": 4_000_000_000})
    token = made.pop("key")
    assert is_well_formed(token)
    assert made == {
        "object": "key",
        "id": made["id"],
        "organisation": "acme",
        "name": "laptop",
        "hint": token[-4:],
        "created": made["created"],
        "expires": 4_000_000_000,
        "revoked": None,
        "last_used": None,
        "policies": ["default"],
        "models": None,
        "scopes": ["inference", "decisions", "usage"],
        "limits": made["limits"],
        "successor": None,
    }
    assert await site.does("GET", f"/organisations/acme/keys/{made['id']}") == made
    assert (await site.does("GET", "/organisations/acme/keys"))["data"] == [made]
    other = await site.does("POST", "/organisations/acme/keys", {"name": "phone"})
    assert (await site.does("GET", f"/organisations/acme/keys/{other['id']}"))["name"] == "phone"
    assert (await site.asks(token)).status_code == 200


async def test_a_key_is_changed_and_unbound(site: Site) -> None:
    made = await site.does("POST", "/organisations/acme/keys", {"name": "x", "models": ["cheap-alias"]})
    place = f"/organisations/acme/keys/{made['id']}"
    assert made["models"] == ["lab/cheap"]
    assert (await site.asks(made["key"])).json()["model"] == "lab/cheap"
    assert (await site.asks(made["key"], model="lab/strong")).json()["error"]["code"] == "model_not_allowed"
    changed = await site.does("PATCH", place, {"models": None, "name": "y", "expires": 4_000_000_000})
    assert (changed["models"], changed["name"], changed["expires"]) == (None, "y", 4_000_000_000)
    assert (await site.asks(made["key"], model="lab/strong")).status_code == 200
    limited = await site.does("PATCH", place, {"limits": {"parallel": 9}, "expires": None, "name": None})
    assert (limited["limits"]["parallel"], limited["expires"], limited["name"]) == (9, None, "y")
    assert (await site.does("PATCH", place, {"limits": None}))["limits"]["parallel"] is None


async def test_what_a_key_names_must_be_there(site: Site) -> None:
    wrong: list[tuple[Any, int, str]] = [
        ({}, 400, "name"),
        ({"name": "x", "policies": ["none"]}, 400, "policies[0]"),
        ({"name": "x", "policies": []}, 400, "policies"),
        ({"name": "x", "models": ["lab/chep"]}, 400, "models[0]"),
        ({"name": "x", "scopes": ["all"]}, 400, "scopes[0]"),
        ({"name": "x", "scopes": ["usage", "usage"]}, 400, "scopes[1]"),
        ({"name": "x", "expires": -1}, 400, "expires"),
        ({"name": "x", "expires": 253_402_300_800}, 400, "expires"),
        ({"name": "x", "expires": 1_000_000_000}, 400, "expires"),
        ({"name": "x", "digest": "0"}, 422, "digest"),
    ]
    for body, status, param in wrong:
        assert (await site.refused("POST", "/organisations/acme/keys", body, status=status))["param"] == param
    near = await site.refused("POST", "/organisations/acme/keys", {"name": "x", "models": ["lab/chep"]})
    assert "lab/cheap" in near["message"]


async def test_a_rotated_key_lives_on_for_the_overlap(site: Site) -> None:
    old = await site.does("POST", "/organisations/acme/keys", {"name": "ci", "scopes": ["inference"]})
    new = await site.does("POST", f"/organisations/acme/keys/{old['id']}/rotate", {"overlap_hours": 2})
    assert (new["name"], new["scopes"], new["expires"]) == ("ci", ["inference"], None)
    assert new["key"] != old["key"]
    rotated = await site.does("GET", f"/organisations/acme/keys/{old['id']}")
    assert 7_190 <= rotated["expires"] - new["created"] <= 7_200
    assert (rotated["successor"], new["successor"]) == (new["id"], None)
    for made in (old, new):
        assert (await site.asks(made["key"])).status_code == 200
    newest = await site.does("POST", f"/organisations/acme/keys/{new['id']}/rotate", {"overlap_hours": 0})
    assert [(await site.asks(made["key"])).status_code for made in (old, new, newest)] == [200, 401, 200]
    error = await site.refused("POST", f"/organisations/acme/keys/{new['id']}/rotate", {}, status=409)
    assert (error["code"], "is expired" in error["message"]) == ("key_not_live", True)
    await site.does("POST", f"/organisations/acme/keys/{newest['id']}/revoke")
    error = await site.refused("POST", f"/organisations/acme/keys/{newest['id']}/rotate", status=409)
    assert (error["code"], "is revoked" in error["message"]) == ("key_not_live", True)


async def test_a_key_is_rotated_once_however_many_ask(site: Site) -> None:
    old = await site.does("POST", "/organisations/acme/keys", {"name": "ci"})
    place = f"/organisations/acme/keys/{old['id']}"
    answers = await asyncio.gather(*(site.operator.post(f"/admin/v1{place}/rotate") for _ in range(16)))
    (made,) = [answer.json() for answer in answers if answer.status_code == 200]
    refusals = [answer.json()["error"] for answer in answers if answer.status_code == 409]
    assert (len(refusals), {error["code"] for error in refusals}) == (15, {"key_rotated"})
    assert made["id"] in refusals[0]["message"]
    listed = (await site.does("GET", "/organisations/acme/keys"))["data"]
    assert {key["id"] for key in listed} == {old["id"], made["id"]}


async def test_a_key_whose_successor_is_gone_can_be_rotated_again(site: Site) -> None:
    old = await site.does("POST", "/organisations/acme/keys", {"name": "ci"})
    place = f"/organisations/acme/keys/{old['id']}/rotate"
    for ending in ({"method": "POST", "path": "/revoke"}, {"method": "DELETE", "path": ""}):
        lost = await site.does("POST", place)
        assert (await site.refused("POST", place, status=409))["code"] == "key_rotated"
        await site.does(ending["method"], f"/organisations/acme/keys/{lost['id']}{ending['path']}")
    assert (await site.asks((await site.does("POST", place))["key"])).status_code == 200


async def test_rotation_takes_nothing_back_and_starts_no_budget_anew(site: Site) -> None:
    limits = {"day_requests": 3, "parallel": 9}
    old = await site.does("POST", "/organisations/acme/keys", {"name": "ci", "limits": limits})
    keys = [old]
    for _ in range(2):
        assert (await site.asks(keys[-1]["key"])).status_code == 200
        keys.append(await site.does("POST", f"/organisations/acme/keys/{keys[-1]['id']}/rotate"))
    assert (await site.asks(old["key"])).status_code == 200
    for key in keys:
        refused = await site.asks(key["key"])
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
    place = f"/organisations/acme/keys/{keys[-1]['id']}"
    await site.does("PATCH", place, {"limits": {"day_requests": 4}})
    assert [(await site.asks(keys[-1]["key"])).status_code for _ in range(2)] == [200, 429]


async def test_a_key_that_expires_is_followed_by_one_that_does(site: Site) -> None:
    old = await site.does("POST", "/organisations/acme/keys", {"name": "ci", "expires": 4_000_000_000})
    new = (await site.operator.post(f"/admin/v1/organisations/acme/keys/{old['id']}/rotate")).json()
    assert abs((new["expires"] - new["created"]) - (old["expires"] - old["created"])) <= 1
    ends = (await site.does("GET", f"/organisations/acme/keys/{old['id']}"))["expires"]
    assert 86_390 <= ends - new["created"] <= 86_400


async def test_revoking_and_deleting_hold_at_once(site: Site) -> None:
    made = await site.does("POST", "/organisations/acme/keys", {"name": "x"})
    place = f"/organisations/acme/keys/{made['id']}"
    assert (await site.asks(made["key"])).status_code == 200
    revoked = await site.does("POST", f"{place}/revoke")
    assert revoked["revoked"] is not None
    assert await site.does("POST", f"{place}/revoke") == revoked
    assert (await site.asks(made["key"])).status_code == 401
    assert await site.does("DELETE", place) == {"object": "key", "id": made["id"], "deleted": True}
    await site.refused("DELETE", place, status=404)
    other = await site.does("POST", "/organisations/acme/keys", {"name": "x"})
    assert (await site.asks(other["key"])).status_code == 200
    await site.does("DELETE", f"/organisations/acme/keys/{other['id']}")
    assert (await site.asks(other["key"])).status_code == 401


CALLS = [
    ("POST", "/chat/completions", Scope.INFERENCE),
    ("POST", "/route", Scope.INFERENCE),
    ("GET", "/routing-decisions", Scope.DECISIONS),
    ("GET", f"/routing-decisions/req-{'0' * 32}", Scope.DECISIONS),
    ("POST", f"/routing-decisions/req-{'0' * 32}/feedback", Scope.DECISIONS),
    ("GET", "/usage", Scope.USAGE),
    ("GET", "/credits", Scope.USAGE),
    ("GET", "/models", None),
    ("GET", "/models/lab/cheap", None),
]


async def test_a_scope_that_is_missing_is_named_at_every_endpoint(site: Site) -> None:
    tokens = {scope: await site.key(scopes=[scope.value]) for scope in Scope}
    described = {route.path for route in site.running.gateway.app.app.routes if hasattr(route, "path")}
    for prefix in ("/v1", "/api/v1/inference"):
        mine = {path for path in described if path.startswith(f"{prefix}/")}
        assert len(mine) == len(CALLS), mine
        for method, path, needed in CALLS:
            for scope, token in tokens.items():
                async with site.running.client(authorization=f"Bearer {token}") as client:
                    answer = await client.request(method, f"{prefix}{path}", json={} if method == "POST" else None)
                told = answer.json().get("error", {})
                if needed in (None, scope):
                    assert told.get("code") != "scope_missing", (path, scope)
                else:
                    assert (answer.status_code, told["code"]) == (403, "scope_missing"), (path, scope)
                    assert needed is not None
                    assert f"'{needed.value}'" in told["message"]


async def test_the_last_use_is_noted_after_the_answer_and_once_an_hour(site: Site) -> None:
    token = await site.key()
    store, gateway = site.running.store, site.running.gateway
    assert (await site.asks(token)).status_code == 200
    await gateway.after_response()
    first = await store.key(digest(token))
    assert first is not None
    assert first.last_used_ms is not None
    for _ in range(2):
        await site.asks(token)
        await gateway.after_response()
    assert await store.key(digest(token)) == first
    listed = (await site.does("GET", "/organisations/acme/keys"))["data"]
    assert [key["last_used"] for key in listed] == [first.last_used_ms // 1000]


async def test_every_endpoint_counts_as_a_use(site: Site) -> None:
    for method, path, _ in CALLS:
        token = await site.key()
        async with site.running.client(authorization=f"Bearer {token}") as client:
            await client.request(method, f"/v1{path}", json={"score": 1} if method == "POST" else None)
        await site.running.gateway.after_response()
        key = await site.running.store.key(digest(token))
        assert key is not None
        assert key.last_used_ms is not None, path


async def test_keys_are_nowhere_in_the_file(site: Site, tmp_path: Path) -> None:
    token = await site.key()
    await site.asks(token)
    await site.running.gateway.after_response()
    assert [name for name, content in contents(tmp_path) if token.encode() in content] == []


def contents(folder: Path) -> list[tuple[str, bytes]]:
    return [(file.name, file.read_bytes()) for file in folder.iterdir()]


async def test_a_key_cannot_be_changed_to_one_that_has_expired(site: Site) -> None:
    made = await site.does("POST", "/organisations/acme/keys", {"name": "x", "expires": 253_402_300_799})
    place = f"/organisations/acme/keys/{made['id']}"
    error = await site.refused("PATCH", place, {"expires": made["created"]})
    assert (error["param"], "revoke it" in error["message"]) == ("expires", True)
    assert (await site.does("GET", place))["expires"] == 253_402_300_799
    rotated = await site.does("POST", f"{place}/rotate")
    assert rotated["expires"] == 253_402_300_799
