"""Usage and credits over HTTP: one number everywhere, for the key's own organisation alone."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.tenant import PREPAID_PLAN, Key, Limits, Organisation, Scope
from functions.local.keys import create_key
from tests.support.answers import HELLO
from tests.support.clock import START, ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import reply
from tests.support.upstream import ScriptedUpstream

BODY: dict[str, Any] = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}]}
WRONG = reply({"error": {"message": "no"}}, 400)
PREFIXES = ["/v1", "/api/v1/inference"]


async def got(client: httpx.AsyncClient, path: str, status: int = 200, **parameters: str) -> Any:
    response = await client.get(path, params=parameters)
    assert response.status_code == status, response.text
    return response.json()


async def changed_key(running: Running, **changes: Any) -> None:
    """Give the tests' key other members."""
    directory = running.gateway.service.parts.directory
    key: Key
    (key,) = await directory.keys("default")
    await directory.save_key(replace(key, **changes))


async def test_the_report_shows_what_the_answers_showed(tmp_path: Path) -> None:
    clock = ManualClock()
    async with (
        ScriptedUpstream(HELLO, HELLO, WRONG, HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock) as running,
        running.client() as client,
    ):
        (key,) = await running.store.keys("default")
        costs = []
        for model in ("lab/small", "small-alias", "lab/small", "lab/unpriced"):
            answer = (await client.post("/v1/chat/completions", json={**BODY, "model": model})).json()
            costs.append(answer["usage"]["cost_micros"] if "usage" in answer else None)
        assert costs == [1_053, 1_053, None, None]
        await running.gateway.after_response()
        reports = [await got(client, f"{prefix}/usage", group_by="model,key,day,task") for prefix in PREFIXES]
        for report in reports:
            assert report["data"] == [
                {
                    **{"model": "lab/small", "key": key.id, "day": day(START), "task": None},
                    **{"requests": 3, "errors": 1, "unpriced_requests": 0, "prompt_tokens": 62},
                    **{"cached_tokens": 0, "cache_write_tokens": 0, "prompt_audio_tokens": 0},
                    **{"prompt_image_tokens": 0, "completion_tokens": 128, "reasoning_tokens": 0},
                    **{"completion_audio_tokens": 0, "cost_micros": 2_106},
                },
                {
                    **{"model": "lab/unpriced", "key": key.id, "day": day(START), "task": None},
                    **{"requests": 1, "errors": 0, "unpriced_requests": 1, "prompt_tokens": 31},
                    **{"cached_tokens": 0, "cache_write_tokens": 0, "prompt_audio_tokens": 0},
                    **{"prompt_image_tokens": 0, "completion_tokens": 64, "reasoning_tokens": 0},
                    **{"completion_audio_tokens": 0, "cost_micros": 0},
                },
            ]
            assert (report["group_by"], report["tz"]) == (["model", "key", "day", "task"], "UTC")
            assert report["complete_until"] < START < report["to"]
        await clock.advance(100)
        assert (await got(client, "/v1/usage"))["complete_until"] == int(START) + 70
        assert (await got(client, "/v1/credits"))["spent_micros"] == 2_106


def day(moment_s: float) -> str:
    return datetime.fromtimestamp(moment_s, UTC).date().isoformat()


async def test_pages_of_the_report_follow_each_other(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
    ):
        for model in ("lab/small", "lab/unpriced"):
            await client.post("/v1/chat/completions", json={**BODY, "model": model})
        first = await got(client, "/v1/usage", group_by="model", limit="1")
        then = await got(client, "/v1/usage", cursor=first["next_cursor"])
    assert [row["model"] for row in first["data"]] == ["lab/small"]
    assert (first["has_more"], then["has_more"], then["next_cursor"]) == (True, False, None)
    assert [row["model"] for row in then["data"]] == ["lab/unpriced"]
    assert (then["from"], then["to"]) == (first["from"], first["to"])


@pytest.mark.parametrize(
    ("accept", "is_table"),
    [
        ("text/csv", True),
        ("text/csv;q=0.9, application/json;q=0.1", True),
        ("application/json, text/csv", False),
        ("*/*", False),
        ("text/html", False),
        ("text/csv;q=0, application/json", False),
        ("text/csv;q=0", False),
        ("text/csv;q=0.5, application/json", False),
        ("application/json;q=0.5, text/csv", True),
        ("text/csv;charset=utf-8;q=0.1, application/json;q=0.2", False),
        ("TEXT/CSV ; Q=0.3, application/json; q=.2", True),
        ("text/csv;q=0.5, */*", False),
        ("*/*;q=0.1, text/csv;q=0.5", True),
    ],
)
async def test_the_report_is_a_table_for_who_asks_for_one(tmp_path: Path, accept: str, is_table: bool) -> None:
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client(accept=accept) as client,
    ):
        for model in ("lab/small", "lab/unpriced"):
            await client.post("/v1/chat/completions", json={**BODY, "model": model})
        response = await client.get("/v1/usage", params={"group_by": "model", "limit": "1"})
    if not is_table:
        assert response.json()["object"] == "list"
        return
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.headers["x-request-id"].startswith("req-")
    assert response.headers["x-inferbase-complete-until"].isdigit()
    assert len(response.headers["x-inferbase-next-cursor"]) > 20
    (row,) = csv.DictReader(io.StringIO(response.text))
    assert (row["model"], row["requests"], row["cost_micros"]) == ("lab/small", "1", "1053")


async def test_an_organisation_sees_its_own_usage_alone(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
    ):
        token, _ = await create_key(running.store, "other", "tests")
        async with running.client() as client, running.client(authorization=f"Bearer {token}") as other:
            await client.post("/v1/chat/completions", json=BODY)
            assert len((await got(client, "/v1/usage"))["data"]) == 1
            assert (await got(other, "/v1/usage"))["data"] == []
            assert (await got(other, "/v1/credits"))["spent_micros"] == 0


@pytest.mark.parametrize("path", ["/usage", "/credits"])
@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_key_needs_the_scope(tmp_path: Path, prefix: str, path: str) -> None:
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
    ):
        await changed_key(running, scopes=(Scope.INFERENCE, Scope.DECISIONS))
        refused = (await got(client, f"{prefix}{path}", 403))["error"]
        assert refused["code"] == "scope_missing"
        assert "usage" in refused["message"]
        await changed_key(running, scopes=(Scope.USAGE,))
        assert (await got(client, f"{prefix}{path}"))["object"] in ("list", "credits")
        async with running.client(authorization="") as nobody:
            assert (await got(nobody, f"{prefix}{path}", 401))["error"]["code"] == "invalid_api_key"


async def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
    ):
        for name in ("from", "to", "group_by", "tz", "cursor", "limit"):
            error = (await got(client, "/v1/usage", 400, **{name: "?"}))["error"]
            assert (error["param"], error["code"], error["type"]) == (name, "invalid_value", "invalid_request_error")
        twice = (await client.get("/v1/usage?tz=UTC&tz=UTC")).json()["error"]
        assert twice["param"] == "tz"


async def test_credits_say_what_is_left_and_what_was_agreed_on(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
    ):
        before = await got(client, "/v1/credits")
        assert (before["balance_micros"], before["plan"]["id"]) == (None, "standard")
        prepaid = Organisation(
            "default", "Default", 0, plan=PREPAID_PLAN.id, limits=Limits(minute_requests=30), credit_micros=0
        )
        directory = running.gateway.service.parts.directory
        await directory.save_organisation(prepaid)
        await directory.pay_in("default", "first", 5_000_000, 1)
        answer = (await client.post("/v1/chat/completions", json=BODY)).json()
        assert answer["usage"]["cost_micros"] == 1_053
        await running.gateway.after_response()
        after = await got(client, "/v1/credits")
    assert after["balance_micros"] == 5_000_000 - 1_053
    assert after["spent_micros"] == 1_053
    assert after["month"] == datetime.now(UTC).strftime("%Y-%m")
    assert (after["plan"]["prepaid"], after["plan"]["free"]) == (True, False)
    assert after["limits"] == {**dict.fromkeys(before["limits"]), "minute_requests": 30}
    assert set(after["plan"]["limits"]) == set(after["limits"])
