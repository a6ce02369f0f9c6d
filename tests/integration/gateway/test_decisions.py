"""Decisions that are asked for without an answer, and decisions that are read back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.accounts.keys import ENTROPY_BYTES, make_key
from core.errors import StoreUnavailable
from core.ports import Store
from functions.local.keys import create_key
from tests.support.answers import HELLO
from tests.support.auto_catalog import THREE, catalog, entry
from tests.support.gateway import running_gateway
from tests.support.script import reply
from tests.support.upstream import ScriptedUpstream

QUESTION: list[Any] = [{"role": "user", "content": "Write a Python function that reverses a string."}]
PREFIXES = ["/v1", "/api/v1/inference"]
MISSING = reply({"error": {"message": "no such model", "code": "model_not_found"}}, 404)


def body(**members: Any) -> dict[str, Any]:
    return {"model": "auto", "messages": QUESTION, **members}


async def got(client: httpx.AsyncClient, path: str, status: int = 200) -> Any:
    response = await client.get(path)
    assert response.status_code == status, response.text
    return response.json()


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_what_would_be_decided_calls_nobody_and_keeps_nothing(tmp_path: Path, prefix: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            response = await client.post(f"{prefix}/route", json=body(stream=True, routing={"optimize": "quality"}))
            assert response.status_code == 200
            listed = await got(client, f"{prefix}/routing-decisions")
        routing = response.json()
        assert (routing["object"], routing["pick"], routing["model"]) == ("routing", "lab/strong", "lab/strong")
        assert (routing["attempts"], routing["request_id"]) == ([], response.headers["x-request-id"])
        assert upstream.received == []
        assert listed == {"object": "list", "data": [], "has_more": False}


async def test_it_is_the_decision_that_an_answer_would_have(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            for model in ("auto", "lab/cheap"):
                said = (await client.post(f"{PREFIXES[1]}/route", json=body(model=model))).json()
                answer = (await client.post(f"{PREFIXES[1]}/chat/completions", json=body(model=model))).json()
                different = {"request_id", "created", "attempts", "alternatives"}
                assert {name: said[name] for name in said if name not in different} == {
                    name: value for name, value in answer["routing"].items() if name not in different
                }


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"model": "lab/none"}, 404, "model_not_found"),
        ({"messages": None}, 400, "missing_required_parameter"),
        ({"routing": {"min_quality": 1}}, 422, "no_eligible_model"),
    ],
)
async def test_what_an_answer_would_be_refused_for_is_refused(
    tmp_path: Path, members: Any, status: int, code: str
) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            response = await client.post("/v1/route", json=body(**members))
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
        assert response.json()["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_decision_is_read_back_by_either_form_of_its_id(tmp_path: Path, prefix: str) -> None:
    async with (
        ScriptedUpstream(MISSING, HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=THREE) as running,
    ):
        async with running.client() as client:
            answer = (
                await client.post(f"{prefix}/chat/completions", json=body(routing={"optimize": "quality"}))
            ).json()
            digits = answer["id"].rpartition("-")[2]
            found = [await got(client, f"{prefix}/routing-decisions/{form}-{digits}") for form in ("req", "chatcmpl")]
        assert found[0] == found[1]
        decision = found[0]
        assert (decision["object"], decision["request_id"]) == ("routing", f"req-{digits}")
        assert (decision["model"], decision["pick"]) == (answer["model"], "lab/strong")
        assert (decision["outcome"], decision["finish_reason"], decision["error_code"]) == ("served", "stop", None)
        assert [each["outcome"] for each in decision["attempts"]] == ["upstream_error", "served"]
        usage = answer["usage"]
        assert decision["usage"] == {name: value for name, value in usage.items() if name != "dropped_params"}
        assert decision["usage"]["cost_micros"] == usage["cost_micros"] == 95
        assert (decision["requested_model"], decision["stream"]) == ("auto", False)
        assert "shop" not in str(decision)
        assert [each["model"] for each in decision["alternatives"]] == ["lab/strong", "lab/cheap", "lab/new"]


async def test_a_request_that_failed_is_read_back_too(tmp_path: Path) -> None:
    async with ScriptedUpstream(MISSING) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            failed = await client.post("/v1/chat/completions", json=body())
            decision = await got(client, f"/v1/routing-decisions/{failed.json()['request_id']}")
        assert (decision["outcome"], decision["error_code"]) == ("failed", "all_attempts_failed")
        assert len(decision["attempts"]) == 3
        assert decision["usage"]["cost_micros"] == 0


@pytest.mark.parametrize("name", ["req-" + "0" * 32, "chatcmpl-" + "0" * 32, "req-x", "anything", "req-" + "A" * 32])
async def test_what_does_not_exist_is_not_found(tmp_path: Path, name: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            error = (await got(client, f"/v1/routing-decisions/{name}", 404))["error"]
        assert (error["code"], error["type"]) == ("decision_not_found", "not_found_error")


async def test_another_organisations_decision_does_not_exist(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            request_id = (await client.post("/v1/chat/completions", json=body())).headers["x-request-id"]
            assert (await got(client, f"/v1/routing-decisions/{request_id}"))["outcome"] == "served"
        token, _ = await create_key(running.store, "other", "tests")
        async with running.client(authorization=f"Bearer {token}") as stranger:
            found = await got(stranger, f"/v1/routing-decisions/{request_id}", 404)
            assert found["error"]["code"] == "decision_not_found"
            assert (await got(stranger, "/v1/routing-decisions"))["data"] == []


MANY = catalog(*(entry(f"lab/m{number:02}", price=number + 1) for number in range(13)))


async def test_the_list_has_the_newest_first_with_no_more_detail_than_an_answer(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=MANY) as running:
        ids: list[str] = []
        async with running.client() as client:
            for _ in range(3):
                sent = body(routing={"exclude": ["lab/m11", "lab/m12"]})
                ids.append((await client.post("/v1/chat/completions", json=sent)).headers["x-request-id"])
            listed = await got(client, "/v1/routing-decisions?limit=2")
            whole = await got(client, f"/v1/routing-decisions/{ids[2]}")
            rest = await got(client, "/v1/routing-decisions?limit=3")
        assert [each["request_id"] for each in listed["data"]] == [ids[2], ids[1]]
        assert (listed["has_more"], rest["has_more"]) == (True, False)
        first = listed["data"][0]
        assert (len(first["alternatives"]), len(whole["alternatives"])) == (10, 11)
        assert (first["excluded"], whole["excluded"]) == ({"policy": 2}, {"policy": ["lab/m11", "lab/m12"]})
        assert first["usage"] == whole["usage"]


@pytest.mark.parametrize("limit", ["0", "101", "-1", "x", "٣", "", "9" * 5_000])
async def test_a_wrong_limit_is_named(tmp_path: Path, limit: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            response = await client.get("/v1/routing-decisions", params={"limit": limit})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "limit")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/route"), ("GET", "/routing-decisions"), ("GET", "/routing-decisions/x")]
)
async def test_each_needs_a_key(tmp_path: Path, method: str, path: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client(authorization="") as client:
            assert (await client.request(method, f"/v1{path}")).status_code == 401
            assert (await client.request("PUT", f"/v1{path}")).status_code == 405
        unknown = make_key(bytes(ENTROPY_BYTES))
        async with running.client(authorization=f"Bearer {unknown}") as client:
            assert (await client.request(method, f"/v1{path}")).status_code == 401


class Away:
    """A store that does not find its records."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name in ("record", "records"):
            raise StoreUnavailable
        return getattr(self._store, name)


async def test_a_store_that_is_away_is_said_so(tmp_path: Path) -> None:
    def away(store: Store) -> Any:
        return Away(store)

    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=THREE, replace_store=away) as running,
    ):
        async with running.client() as client:
            for path in ("", "/req-" + "0" * 32):
                error = (await got(client, f"/v1/routing-decisions{path}", 503))["error"]
                assert error["code"] == "store_unavailable"


async def test_an_open_record_has_no_usage_yet(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            request_id = (await client.post("/v1/chat/completions", json=body())).headers["x-request-id"]
            record = await running.store.record("default", request_id)
            assert record is not None
            other = "req-" + "1" * 32
            await running.store.open(
                replace(record, request_id=other, outcome="open", settled_ms=None, usage=None, charge=None)
            )
            decision = await got(client, f"/v1/routing-decisions/{other}")
        assert (decision["outcome"], decision["usage"]) == ("open", None)


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_the_list_goes_on_after_any_decision_in_either_form(tmp_path: Path, prefix: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            ids = [
                (await client.post(f"{prefix}/chat/completions", json=body())).headers["x-request-id"] for _ in range(5)
            ]
            for form in ("req-", "chatcmpl-"):
                seen: list[str] = []
                after = ""
                more = True
                while more:
                    page = await got(client, f"{prefix}/routing-decisions?limit=2{after}")
                    seen += [each["request_id"] for each in page["data"]]
                    after, more = f"&after={seen[-1].replace('req-', form)}", page["has_more"]
                assert seen == ids[::-1]
            rest = await got(client, f"{prefix}/routing-decisions?after={ids[0]}")
    assert rest == {"object": "list", "data": [], "has_more": False}


@pytest.mark.parametrize(
    ("query", "param", "told"),
    [
        ("after=x", "after", "id of a decision"),
        ("after=", "after", "id of a decision"),
        (f"after=req-{'0' * 32}&after=req-{'0' * 32}", "after", "2 times"),
        ("limit=1&limit=2", "limit", "2 times"),
        ("limits=5", "limits", "There are: limit, after."),
        ("format=csv", "format", "There are: limit, after."),
        ("x" * 200, "x" * 60, "no parameter"),
    ],
)
async def test_what_the_list_does_not_know_is_refused(tmp_path: Path, query: str, param: str, told: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            for prefix in PREFIXES:
                response = await client.get(f"{prefix}/routing-decisions?{query}")
                error = response.json()["error"]
                assert (response.status_code, error["code"], error["param"]) == (400, "invalid_value", param)
                assert told in error["message"]
