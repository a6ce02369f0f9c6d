"""What a host asks for a request itself is charged, shown and held like what it asks for tokens."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.tenant import FREE_PLAN, Limits, Organisation
from tests.support.answers import HELLO
from tests.support.gateway import CATALOG, Running, running_gateway
from tests.support.script import Step, reply
from tests.support.upstream import ScriptedUpstream

# The tokens of the answer come to 1,053 micro-dollars.
MINIMUM = CATALOG.replace("output = 15 }}", "output = 15, minimum = 0.002 }}")
FEE = CATALOG.replace("output = 15 }}", "output = 15, per_request = 0.005 }}")
ORGANISATION = Organisation("default", "Default", 0)
BODY: dict[str, Any] = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], "max_tokens": 1}


@asynccontextmanager
async def serving(
    folder: Path,
    catalog: str = MINIMUM,
    organisation: Organisation = ORGANISATION,
    scripts: Sequence[Sequence[Step]] = (HELLO,),
) -> AsyncIterator[tuple[Running, ScriptedUpstream, httpx.AsyncClient]]:
    async with (
        ScriptedUpstream(*scripts) as upstream,
        running_gateway(folder, upstream.url, catalog=catalog) as running,
        running.client() as client,
    ):
        await running.gateway.service.parts.directory.save_organisation(organisation)
        yield running, upstream, client


@pytest.mark.parametrize(("catalog", "beside"), [(MINIMUM, 947), (FEE, 5_000)])
async def test_one_number_is_shown_everywhere(tmp_path: Path, catalog: str, beside: int) -> None:
    async with serving(tmp_path, catalog) as (running, _, client):
        response = await client.post("/api/v1/inference/chat/completions", json=BODY)
        answer, total = response.json(), 1_053 + beside
        assert (answer["usage"]["cost_micros"], response.headers["x-inferbase-cost-micros"]) == (total, str(total))
        assert answer["usage"]["cost_details"] == {
            **{"input_cost": 0.000093, "output_cost": 0.00096},
            **{"request_cost": beside / 1_000_000, "guardrail_cost": 0.0, "total_cost": total / 1_000_000},
        }
        assert answer["routing"]["attempts"][0]["cost_micros"] == total
        await running.gateway.after_response()
        assert (await client.get("/v1/usage")).json()["data"][0]["cost_micros"] == total
        (record,) = await running.store.records("default", 1)
        assert record.charge is not None
        assert (record.charge.total, record.charge.request) == (total, beside)
        decision = (await client.get(f"/v1/routing-decisions/{record.request_id}")).json()
        assert decision["usage"] == answer["usage"]
        stream = await client.post("/api/v1/inference/chat/completions", json={**BODY, "stream": True})
        (closing,) = (line for line in stream.text.splitlines() if '"object":"usage"' in line)
        assert json.loads(closing.removeprefix("data: "))["usage"]["cost_details"] == answer["usage"]["cost_details"]


async def test_markup_and_discount_hold_for_it_and_the_free_plan_is_free(tmp_path: Path) -> None:
    terms = replace(ORGANISATION, markup=Fraction(1, 2), discount=Fraction(1, 3))
    async with serving(tmp_path, organisation=terms) as (_, _, client):
        usage = (await client.post("/v1/chat/completions", json=BODY)).json()["usage"]
        assert usage["cost_micros"] == 2_000  # three halves of two thirds
    (tmp_path / "free").mkdir()
    async with serving(tmp_path / "free", organisation=replace(ORGANISATION, plan=FREE_PLAN.id)) as (_, _, client):
        usage = (await client.post("/v1/chat/completions", json=BODY)).json()["usage"]
        assert (usage["cost_micros"], "request_cost" in usage["cost_details"]) == (0, False)


@pytest.mark.parametrize(("catalog", "least"), [(MINIMUM, 2_000), (FEE, 5_000)])
async def test_it_is_held_before_the_call_and_counts_under_a_cap(tmp_path: Path, catalog: str, least: int) -> None:
    async with serving(tmp_path, catalog) as (running, upstream, client):
        capped = {**BODY, "routing": {"max_cost_micros": least - 1}}
        refused = await client.post("/api/v1/inference/chat/completions", json=capped)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "no_eligible_model")
        narrow = replace(ORGANISATION, limits=Limits(day_micros=least - 1))
        await running.gateway.service.parts.directory.save_organisation(narrow)
        refused = await client.post("/v1/chat/completions", json=BODY)
        assert (refused.status_code, refused.json()["error"]["code"]) == (402, "budget_exceeded")
        assert upstream.received == []


async def test_an_attempt_of_which_no_token_was_reported_owes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, scripts=(reply({"error": {"message": "busy"}}, 503), HELLO)) as (_, _, client):
        answer = (await client.post("/api/v1/inference/chat/completions", json=BODY)).json()
        assert [each["cost_micros"] for each in answer["routing"]["attempts"]] == [0, 2_000]
        assert answer["usage"]["cost_micros"] == 2_000
