"""Organisations' own keys at vendors: used in the order of the policy, charged nothing, failing clearly."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.accounts.own_keys import own_key_place
from core.administration.setup import delete_own_key, save_own_key
from core.decision import OwnKeyUse, Policy
from core.own_keys import REST_S
from core.tenant import Limits, Organisation, OwnKey
from functions.local.keys import create_key
from tests.support.answers import HELLO
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, Step, reply
from tests.support.upstream import ScriptedUpstream

OWN = "sk-own-key-of-default-wxyz"
MANAGED = "sk-managed-key"
CATALOG = """
[vendors.lab]
format = "openai"
base_url = "{upstream}/v1"
key_env = "LAB_KEY"

[vendors.other]
format = "openai"
base_url = "{upstream}/other/v1"
key_env = "OTHER_KEY"

[vendors.house]
format = "openai"
base_url = "{upstream}/house/v1"
auth = "none"

[[models]]
id = "lab/small"
context_tokens = 8192
max_output_tokens = 2048

[[models.hosts]]
vendor = "lab"
upstream_model = "small-upstream"
prices = {{ input = 3, output = 15 }}

[[models]]
id = "lab/house"
context_tokens = 8192
max_output_tokens = 2048

[[models.hosts]]
vendor = "house"
upstream_model = "house-upstream"
prices = {{ input = 1, output = 1 }}

[[models]]
id = "lab/foreign"
context_tokens = 8192
max_output_tokens = 2048

[[models.hosts]]
vendor = "other"
upstream_model = "foreign-upstream"
"""


def failed(status: int, code: str = "invalid_api_key") -> list[Step]:
    return reply({"error": {"message": f"Bad key {OWN}", "type": "x", "code": code, "param": None}}, status)


class Upstream:
    """Answers by the key that it is called with, and notes which keys those were."""

    def __init__(self, **answers: Sequence[Step]) -> None:
        self.own: Sequence[Step] = answers.get("own", HELLO)
        self.managed: Sequence[Step] = answers.get("managed", HELLO)
        self.keys: list[str | None] = []

    def __call__(self, received: Received) -> Sequence[Step]:
        key = received.headers.get("authorization", "").removeprefix("Bearer ") or None
        self.keys.append({OWN: "own", MANAGED: "managed"}.get(key or "", key))
        return self.own if key == OWN else self.managed


@asynccontextmanager
async def serving(
    folder: Path,
    upstream: Upstream,
    use: OwnKeyUse = OwnKeyUse.FIRST,
    *,
    vendor: str = "lab",
    clock: ManualClock | None = None,
    managed: bool = True,
) -> AsyncIterator[Running]:
    variables = {"LAB_KEY": MANAGED} if managed else {}
    async with (
        ScriptedUpstream(upstream) as scripted,
        running_gateway(folder, scripted.url, catalog=CATALOG, variables=variables, clock=clock) as running,
    ):
        await running.store.save_policy("default", Policy(own_keys=use))
        await save_own_key(running.gateway.office, "default", vendor, OWN)
        yield running


async def keep_unchecked(running: Running, secret: str) -> None:
    """Keep a key at `lab` as older versions did, whatever it holds."""
    office = running.gateway.office
    assert office.sealer is not None
    sealed = await office.sealer.seal(secret.encode(), own_key_place("default", "lab"))
    await office.directory.save_own_key(OwnKey("default", "lab", sealed, "", office.now_ms()))


async def ask(running: Running, model: str = "lab/small", **members: Any) -> httpx.Response:
    async with running.client() as client:
        body = {"model": model, "messages": [{"role": "user", "content": "Hello?"}], **members}
        return await client.post("/api/v1/inference/chat/completions", json=body)


def told(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize(
    ("use", "keys", "cost"),
    [(OwnKeyUse.FIRST, ["own"], 0), (OwnKeyUse.ONLY, ["own"], 0), (OwnKeyUse.LAST, ["managed"], 1_053)],
)
async def test_the_policy_says_which_key_comes_first(
    tmp_path: Path, use: OwnKeyUse, keys: list[str], cost: int
) -> None:
    upstream = Upstream()
    async with serving(tmp_path, upstream, use) as running:
        response = await ask(running)
        assert upstream.keys == keys
        usage = response.json()["usage"]
        assert (usage["cost_micros"], usage["prompt_tokens"], usage["completion_tokens"]) == (cost, 31, 64)
        assert response.headers["x-inferbase-cost-micros"] == str(cost)
        (record,) = await running.store.records("default", 5)
        assert record.charge is not None
        assert (record.charge.total, [row.own_key for row in record.attempts]) == (cost, [keys == ["own"]])
        (attempt,) = response.json()["routing"]["attempts"]
        assert (attempt["outcome"], attempt["cost_micros"]) == ("served", cost)


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_first_falls_back_to_the_gateways_key_and_is_charged_for_that(tmp_path: Path, status: int) -> None:
    upstream = Upstream(own=failed(status))
    async with serving(tmp_path, upstream) as running:
        response = await ask(running)
        assert response.status_code == 200
        assert upstream.keys == ["own", "managed"]
        assert response.json()["usage"]["cost_micros"] == 1_053
        attempts = response.json()["routing"]["attempts"]
        assert [(each["outcome"], each["cost_micros"]) for each in attempts] == [
            ("own_key_failed", 0),
            ("served", 1_053),
        ]
        # Meanwhile the refused key comes second, and then it is tried again.
        await ask(running)
        assert upstream.keys[2:] == ["managed"]


async def test_a_key_that_was_refused_is_tried_again_after_a_minute_or_once_it_is_another(tmp_path: Path) -> None:
    upstream, clock = Upstream(own=failed(401)), ManualClock()
    async with serving(tmp_path, upstream, clock=clock) as running:
        await ask(running)
        await clock.advance(REST_S - 1)
        await ask(running)
        await clock.advance(1)
        await ask(running)
        assert upstream.keys == ["own", "managed", "managed", "own", "managed"]
        await save_own_key(running.gateway.office, "default", "lab", OWN)
        await ask(running)
        assert upstream.keys[5:] == ["own", "managed"]


async def test_a_rate_limit_is_the_keys_and_another_failure_is_the_hosts(tmp_path: Path) -> None:
    upstream = Upstream(own=failed(429, "rate_limit_exceeded"))
    async with serving(tmp_path, upstream) as running:
        assert (await ask(running)).status_code == 200
        assert upstream.keys == ["own", "managed"]
    upstream = Upstream(own=failed(400, "bad"))
    async with serving(tmp_path, upstream) as running:
        assert (await ask(running)).status_code == 400
        assert upstream.keys == ["own"]
    upstream = Upstream(own=failed(503, "down"))
    async with serving(tmp_path, upstream) as running:
        assert told(await ask(running)) == (502, "all_attempts_failed")
        assert set(upstream.keys) == {"own"}, "what is down is down for every key"


@pytest.mark.parametrize("is_stream", [False, True])
async def test_only_tells_the_caller_what_to_mend(tmp_path: Path, is_stream: bool) -> None:
    upstream = Upstream(own=failed(401))
    async with serving(tmp_path, upstream, OwnKeyUse.ONLY) as running:
        response = await ask(running, stream=is_stream)
        assert told(response) == (502, "own_key_failed")
        assert upstream.keys == ["own"]
        message = response.json()["error"]["message"]
        assert "own key" in message
        assert "lab" not in message, "messages name no vendor"
        assert OWN not in response.text
        assert response.headers["x-should-retry"] == "false"
        ((_, host, detail),) = running.noted.failures
        assert (host, "401" in detail) == ("lab/small-upstream", True)
        assert OWN not in detail


async def test_only_uses_no_vendor_without_an_own_key_but_those_that_want_none(tmp_path: Path) -> None:
    upstream = Upstream()
    async with serving(tmp_path, upstream, OwnKeyUse.ONLY, vendor="other") as running:
        response = await ask(running)
        assert told(response) == (422, "no_eligible_model")
        assert (await ask(running, "lab/house")).json()["usage"]["cost_micros"] == 95
        assert (await ask(running, "lab/foreign")).json()["usage"]["cost_micros"] == 0
        assert upstream.keys == [None, "own"]
        picked = (await ask(running, "auto", routing={"providers": {"only": ["lab", "house"]}})).json()
        assert picked["model"] == "lab/house"


async def test_a_vendor_without_a_key_of_the_gateways_serves_those_who_bring_one(tmp_path: Path) -> None:
    upstream = Upstream()
    async with serving(tmp_path, upstream, vendor="other") as running:
        assert (await ask(running, "lab/foreign")).status_code == 200
        assert upstream.keys == ["own"]
        token, _ = await create_key(running.store, "elsewhere", "tests")
        async with running.client(authorization=f"Bearer {token}") as client:
            body = {"model": "lab/foreign", "messages": [{"role": "user", "content": "Hello?"}]}
            response = await client.post("/v1/chat/completions", json=body)
        assert told(response) == (404, "model_not_found")


async def test_others_are_called_and_charged_as_before(tmp_path: Path) -> None:
    upstream = Upstream()
    async with serving(tmp_path, upstream) as running:
        token, _ = await create_key(running.store, "elsewhere", "tests")
        async with running.client(authorization=f"Bearer {token}") as client:
            body = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}]}
            response = await client.post("/v1/chat/completions", json=body)
        assert upstream.keys == ["managed"]
        assert response.json()["usage"]["cost_micros"] == 1_053


async def test_a_refused_own_key_costs_nobody_else_the_vendor(tmp_path: Path) -> None:
    upstream = Upstream(own=failed(401))
    async with serving(tmp_path, upstream, OwnKeyUse.ONLY) as running:
        for _ in range(5):
            await ask(running)
        view = running.gateway.service.parts.router.health.view(running.gateway.service.parts.clock.now())
        assert view.cooling() == []


async def test_a_refused_key_of_the_gateways_does_not_stop_an_own_one(tmp_path: Path) -> None:
    upstream = Upstream(managed=failed(401))
    async with serving(tmp_path, upstream) as running:
        token, _ = await create_key(running.store, "elsewhere", "tests")
        async with running.client(authorization=f"Bearer {token}") as client:
            body = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}]}
            assert told(await client.post("/v1/chat/completions", json=body)) == (502, "upstream_error")
        picked = (await ask(running, "auto", routing={"providers": {"only": ["lab"]}})).json()
        assert picked["model"] == "lab/small"
        view = running.gateway.service.parts.router.health.view(running.gateway.service.parts.clock.now())
        assert view.cooling() == ["lab"], "what an own key does says nothing of the gateway's account"


async def test_a_key_that_was_taken_away_is_not_used(tmp_path: Path) -> None:
    upstream = Upstream()
    async with serving(tmp_path, upstream) as running:
        await ask(running)
        await delete_own_key(running.gateway.office, "default", "lab")
        await ask(running)
        assert upstream.keys == ["own", "managed"]


async def test_own_calls_take_nothing_of_a_limit_in_money(tmp_path: Path) -> None:
    upstream = Upstream()
    async with serving(tmp_path, upstream, OwnKeyUse.ONLY) as running:
        found = await running.store.organisation("default")
        assert found is not None
        limited = Organisation(found.id, found.name, found.created_ms, limits=Limits(day_micros=1))
        await running.gateway.service.parts.directory.save_organisation(limited)
        assert (await ask(running)).status_code == 200
        assert (await ask(running)).status_code == 200


@pytest.mark.parametrize("use", [OwnKeyUse.FIRST, OwnKeyUse.ONLY])
async def test_a_key_of_an_older_version_that_cannot_be_sent_is_a_key_that_does_not_work(
    tmp_path: Path, use: OwnKeyUse
) -> None:
    upstream = Upstream()
    async with serving(tmp_path, upstream, use) as running:
        await keep_unchecked(running, "schlüssel-für-default")
        response = await ask(running)
        if use is OwnKeyUse.ONLY:
            assert (told(response), upstream.keys) == ((502, "own_key_failed"), [])
        else:
            assert (response.status_code, upstream.keys) == (200, ["managed"])
        assert response.json().get("usage", {}).get("cost_micros", 1_053) == 1_053


async def test_a_key_of_the_gateways_that_cannot_be_sent_is_its_accounts_failure(tmp_path: Path) -> None:
    upstream = Upstream()
    async with (
        ScriptedUpstream(upstream) as scripted,
        running_gateway(tmp_path, scripted.url, catalog=CATALOG, variables={"LAB_KEY": "schlüssel"}) as running,
    ):
        response = await ask(running)
        assert (told(response), upstream.keys) == ((502, "upstream_error"), [])
        assert "schlüssel" not in response.text


class TestCaps:
    @pytest.mark.parametrize("model", ["lab/small", "auto"])
    async def test_a_call_that_costs_nothing_passes_any_cap(self, tmp_path: Path, model: str) -> None:
        upstream = Upstream()
        async with serving(tmp_path, upstream, OwnKeyUse.ONLY) as running:
            policy = Policy(own_keys=OwnKeyUse.ONLY, max_cost_micros=0)
            await running.gateway.office.directory.save_policy("default", policy)
            response = await ask(running, model, routing={"max_cost_micros": 0, "providers": {"only": ["lab"]}})
            assert (response.json()["usage"]["cost_micros"], upstream.keys) == (0, ["own"])
            assert told(await ask(running, "lab/house")) == (422, "no_eligible_model")

    @pytest.mark.parametrize("model", ["lab/foreign", "auto"])
    async def test_its_price_need_not_be_known(self, tmp_path: Path, model: str) -> None:
        upstream = Upstream()
        async with serving(tmp_path, upstream, vendor="other") as running:
            routing = {"max_cost_micros": 100, "providers": {"only": ["other"]}}
            await on_plan(running, "prepaid")
            response = await ask(running, model, routing=routing)
            assert (response.json()["usage"]["cost_micros"], upstream.keys) == (0, ["own"])

    @pytest.mark.parametrize("use", [OwnKeyUse.FIRST, OwnKeyUse.LAST])
    async def test_where_the_gateways_key_may_be_used_its_price_counts(self, tmp_path: Path, use: OwnKeyUse) -> None:
        upstream = Upstream()
        async with serving(tmp_path, upstream, use) as running:
            response = await ask(running, routing={"max_cost_micros": 100})
            assert (told(response), upstream.keys) == ((422, "no_eligible_model"), [])
            await on_plan(running, "prepaid")
            assert told(await ask(running)) == (402, "insufficient_credits")


async def on_plan(running: Running, plan: str) -> None:
    """Put the organisation on a plan, without credits."""
    found = await running.store.organisation("default")
    assert found is not None
    await running.gateway.office.directory.save_organisation(replace(found, plan=plan))
