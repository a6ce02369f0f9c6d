"""Scores that callers give: kept, counted once, shown, and used where a policy says so."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.decision import BUILT_IN_POLICY
from core.errors import StoreUnavailable
from core.ports import Store
from core.tenant import Scope
from core.workspace import Opinion
from functions.local.keys import create_key
from tests.support.answers import HELLO
from tests.support.auto_catalog import THREE, catalog, entry
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.schemas import faults
from tests.support.script import reply
from tests.support.upstream import ScriptedUpstream

QUESTION: list[Any] = [{"role": "user", "content": "Write a Python function that reverses a string."}]
PREFIXES = ["/v1", "/api/v1/inference"]
MISSING = reply({"error": {"message": "no such model", "code": "model_not_found"}}, 404)


async def asked(client: httpx.AsyncClient, **members: Any) -> Any:
    """The request id of an answer."""
    body = {"model": "auto", "messages": QUESTION, **members}
    return (await client.post("/v1/chat/completions", json=body)).headers["x-request-id"]


async def scored(client: httpx.AsyncClient, name: str, body: Any, status: int = 200, prefix: str = "/v1") -> Any:
    response = await client.post(f"{prefix}/routing-decisions/{name}/feedback", json=body)
    assert response.status_code == status, response.text
    return response.json()


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_score_is_kept_under_either_form_of_the_id_and_a_second_replaces_it(
    tmp_path: Path, prefix: str
) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            digits = (await asked(client)).removeprefix("req-")
            first = await scored(client, f"req-{digits}", {"score": 0.9, "comment": "Good!"}, prefix=prefix)
            assert first == {
                "object": "routing.feedback",
                "request_id": f"req-{digits}",
                "model": "lab/strong",
                "task": "code",
                "score": 0.9,
                "comment_characters": 5,
                "counted": True,
            }
            assert faults("Feedback", first) == []
            await scored(client, f"chatcmpl-{digits}", {"score": 0.25}, prefix=prefix)
        assert await running.store.opinions("default") == {("lab/strong", "code"): Opinion(1, 250)}


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_what_was_said_in_words_is_nowhere(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            await scored(client, await asked(client), {"score": 1, "comment": "periwinkle"})
    written = everything_in(tmp_path)
    assert b"lab/strong" in written
    assert b"periwinkle" not in written


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        ({"score": 2}, 400, "invalid_value", "score"),
        ({"comment": "x"}, 400, "missing_required_parameter", "score"),
        ({"score": 1, "comment": "x" * 2_001}, 400, "invalid_value", "comment"),
        ({"score": 1, "note": ""}, 422, "unknown_field", "note"),
    ],
)
async def test_wrong_bodies_are_refused_by_name(tmp_path: Path, body: Any, status: int, code: str, param: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            error = (await scored(client, await asked(client), body, status))["error"]
        assert (error["code"], error["param"]) == (code, param)
        assert await running.store.opinions("default") == {}


async def test_what_is_not_the_callers_own_does_not_exist(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            request_id = await asked(client)
            for name in ("req-" + "0" * 32, "nonsense"):
                assert (await scored(client, name, {"score": 1}, 404))["error"]["code"] == "decision_not_found"
        token, _ = await create_key(running.store, "other", "tests")
        async with running.client(authorization=f"Bearer {token}") as stranger:
            assert (await scored(stranger, request_id, {"score": 1}, 404))["error"]["code"] == "decision_not_found"
        async with running.client(authorization="") as nobody:
            await scored(nobody, request_id, {"score": 1}, 401)
        assert await running.store.opinions("default") == await running.store.opinions("other") == {}


async def test_it_takes_the_scope_for_decisions(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            request_id = await asked(client)
        token, key = await create_key(running.store, "default", "only asks")
        await running.store.save_key(replace(key, scopes=(Scope.INFERENCE,)))
        async with running.client(authorization=f"Bearer {token}") as client:
            assert (await scored(client, request_id, {"score": 1}, 403))["error"]["code"] == "scope_missing"


async def test_an_answer_that_nobody_gave_or_a_model_that_was_named_counts_for_nothing(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream(MISSING, MISSING, MISSING, HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=THREE) as running,
    ):
        async with running.client() as client:
            failed = await scored(client, await asked(client), {"score": 0})
            named = await scored(client, await asked(client, model="lab/cheap"), {"score": 0})
        assert (failed["model"], failed["task"], failed["counted"]) == (None, "code", False)
        assert (named["model"], named["task"], named["counted"]) == ("lab/cheap", None, False)
        assert await running.store.opinions("default") == {}


async def test_many_at_once_are_all_counted(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            ids = [await asked(client) for _ in range(3)]
            await asyncio.gather(*(scored(client, name, {"score": score / 4}) for name in ids for score in range(5)))
            await asyncio.gather(*(scored(client, name, {"score": 0.5}) for name in ids))
        assert await running.store.opinions("default") == {("lab/strong", "code"): Opinion(3, 1_500)}


TWO = catalog(entry("lab/a", quality=0.7), entry("lab/b", quality=0.65))


async def pick(running: Running, **routing: Any) -> Any:
    async with running.client() as client:
        body = {"model": "auto", "messages": QUESTION, "routing": {"optimize": "quality", **routing}}
        return (await client.post("/v1/route", json=body)).json()["pick"]


async def test_scores_move_choices_only_where_a_policy_says_so(tmp_path: Path) -> None:
    clock = ManualClock()
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(ScriptedUpstream(HELLO))
        running = await stack.enter_async_context(running_gateway(tmp_path, upstream.url, catalog=TWO, clock=clock))
        assert await pick(running) == "lab/a"
        for number in range(12):
            await running.store.rate("default", f"req-{number}", "lab/b", "code", 1_000, round(clock.now() * 1000))
        await clock.advance(61)
        assert await pick(running) == "lab/a"
        directory = running.gateway.service.parts.directory
        await directory.save_policy("default", replace(BUILT_IN_POLICY, use_opinions=True))
        assert await pick(running) == "lab/b"


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_the_list_of_models_shows_the_callers_own_organisation_what_its_scores_come_to(
    tmp_path: Path, prefix: str
) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=TWO) as running:
        await running.store.rate("default", "req-1", "lab/b", "code", 0, 1)
        async with running.client() as client, running.client(authorization="") as nobody:
            listed = (await client.get(f"{prefix}/models")).json()["data"]
            shown = (await client.get(f"{prefix}/models/lab/b")).json()
            public = (await nobody.get(f"{prefix}/models")).json()["data"]
        assert shown["quality"]["code"] == {
            "value": round(20 * 0.65 / 21, 4),
            "basis": "opinions",
            "source": "a table",
            "date": "2026-11-30",
            "measured": 0.65,
            "scores": 1,
        }
        assert shown == next(each for each in listed if each["id"] == "lab/b")
        assert faults("Model", shown) == []
        assert {each["quality"]["code"]["basis"] for each in public} == {"measured"}


class Away:
    """A store that does not keep scores."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name == "rate":
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
            error = (await scored(client, await asked(client), {"score": 1}, 503))["error"]
        assert error["code"] == "store_unavailable"
