"""`model: "auto"` through the whole gateway: who is asked, what is told, and what happens when hosts fail."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.catalog.model import Thinking
from core.decision import Policy
from core.errors import GatewayError, StoreUnavailable
from core.ports import Store
from core.prepare import prepare
from core.service import Service
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN, ROUTING, Surface
from core.tenant import Key
from tests.support.answers import HELLO, chunk, text_answer, usage_chunk
from tests.support.auto_catalog import CHEAP, THREE, catalog, entry
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, Script, Step, reply, stream
from tests.support.upstream import ScriptedUpstream

QUESTION: list[Any] = [{"role": "user", "content": "Write a Python function that reverses a string."}]
PREFIX = "/api/v1/inference"
BUSY = reply({"error": {"message": "down"}}, 503)
MISSING = reply({"error": {"message": "no such model", "code": "model_not_found"}}, 404)


def body(**members: Any) -> dict[str, Any]:
    return {"model": "auto", "messages": QUESTION, **members}


async def routed(running: Running, status: int = 200, **members: Any) -> Any:
    """The answer of the routing surface."""
    async with running.client() as client:
        response = await client.post(f"{PREFIX}/chat/completions", json=body(**members))
    assert response.status_code == status, response.text
    return response.json()


def by_model(**scripts: Script) -> Callable[[Received], Any]:
    """Scripts by the upstream's name for the model; any other says hello."""

    def script(received: Received) -> Any:
        found = scripts.get(received.json["model"], HELLO)
        return found(received) if callable(found) else found

    return script


async def test_the_objective_decides_and_the_answer_says_why(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        for objective, model in (("quality", "lab/strong"), ("cost", "lab/cheap")):
            answer = await routed(running, routing={"optimize": objective})
            assert answer["model"] == model
            routing = answer["routing"]
            assert (routing["model"], routing["pick"], routing["optimize"]) == (model, model, objective)
            assert (routing["task"], routing["policy"]) == ("code", "default")
            assert [each["model"] for each in routing["alternatives"]][-1] == "lab/new"
            assert routing["alternatives"][-1]["quality_basis"] == "unknown"
            assert routing["alternatives"][0]["quality_basis"] == "measured"
            assert (routing["excluded"], 0 < routing["decisiveness"] < 1) == ({}, True)
            assert [attempt["outcome"] for attempt in routing["attempts"]] == ["served"]
            assert model in routing["reasoning"]
        assert [received.json["model"] for received in upstream.received] == ["strong", "cheap"]


@pytest.mark.parametrize("prefix", ["/v1", PREFIX])
async def test_the_answer_names_the_model_that_served_never_auto(tmp_path: Path, prefix: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            whole = await client.post(f"{prefix}/chat/completions", json=body())
            streamed = await client.post(f"{prefix}/chat/completions", json=body(stream=True))
        assert whole.json()["model"] == whole.headers["x-inferbase-model"]
        assert ("routing" in whole.json()) is (prefix == PREFIX)
        assert '"auto"' not in streamed.text
        assert whole.json()["model"] in streamed.text


async def test_a_stream_begins_with_the_decision(tmp_path: Path) -> None:
    script = by_model(strong=MISSING)
    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        async with running.client() as client:
            response = await client.post(
                f"{PREFIX}/chat/completions", json=body(stream=True, routing={"optimize": "quality"})
            )
        first = json.loads(response.text.splitlines()[0].removeprefix("data: "))
        assert first["object"] == "routing"
        assert (first["model"], first["routing"]["pick"]) == ("lab/cheap", "lab/strong")
        assert [attempt["model"] for attempt in first["routing"]["attempts"]] == ["lab/strong"]


async def test_the_next_model_of_the_chain_is_asked_when_one_fails(tmp_path: Path) -> None:
    script = by_model(strong=MISSING, cheap=MISSING)
    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        answer = await routed(running, routing={"optimize": "quality"})
        attempts = [(each["model"], each["outcome"]) for each in answer["routing"]["attempts"]]
        assert attempts == [
            ("lab/strong", "upstream_error"),
            ("lab/cheap", "upstream_error"),
            ("lab/new", "served"),
        ]
        assert answer["usage"]["cost_micros"] == 10  # 95 tokens at ten cents
        record = await running.store.record("default", answer["id"])
        assert record is not None
        assert (record.model, record.decision["pick"]) == ("lab/new", "lab/strong")


async def test_what_rules_a_model_out_is_counted_in_the_answer_and_named_in_the_record(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        answer = await routed(
            running, messages=[{"role": "user", "content": [image]}], routing={"exclude": ["new-alias"]}
        )
        assert (answer["model"], answer["routing"]["excluded"]) == ("lab/strong", {"policy": 1, "no_vision": 1})
        record = await running.store.record("default", answer["id"])
        assert record is not None
        assert record.decision["excluded"] == {"policy": ["lab/new"], "no_vision": ["lab/cheap"]}


async def test_when_nobody_can_serve_the_caller_learns_why_of_each(tmp_path: Path) -> None:
    routing = {"models": ["lab/cheap", "strong-alias"], "max_cost_micros": 1, "min_quality": 0.1}
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        error = (await routed(running, 422, routing=routing))["error"]
        assert error["code"] == "no_eligible_model"
        assert "policy: lab/new; cost_cap: lab/strong, lab/cheap" in error["message"]
        assert upstream.received == []


async def test_a_cap_counts_the_organisations_markup_and_every_choice(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        answer = await routed(running, max_tokens=100, routing={"optimize": "quality", "max_cost_micros": 500})
        assert (answer["model"], answer["routing"]["excluded"]) == ("lab/cheap", {"cost_cap": 1})
        named = await routed(running, 422, model="lab/strong", max_tokens=100, routing={"max_cost_micros": 500})
        assert (named["error"]["code"], "cost_cap" in named["error"]["message"]) == ("no_eligible_model", True)
        fits = await routed(running, model="lab/strong", max_tokens=100, routing={"max_cost_micros": 5_000})
        assert fits["usage"]["cost_micros"] <= 5_000


async def test_a_model_that_ignores_the_switch_says_so(tmp_path: Path) -> None:
    deep = entry("lab/deep", quality=0.95, more=f'thinking = "{Thinking.ALWAYS.value}", reasoning_tokens = 1500')
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=catalog(deep, CHEAP)) as running,
    ):
        routing = (await routed(running, extended_thinking=False, routing={"optimize": "quality"}))["routing"]
        assert (routing["pick"], routing["thinking"], routing["thinking_reason"]) == (
            "lab/deep",
            "on",
            "model_ignores_off",
        )
        short = (await routed(running, max_tokens=200, routing={"optimize": "quality"}))["routing"]
        assert (short["pick"], short["alternatives"][-1]["model"]) == ("lab/cheap", "lab/deep")
        assert "placed behind the others" in short["reasoning"]


NEAR = catalog(entry("lab/a", price=1), entry("lab/b", price=1.1, vendors=("lab", "shop")))


async def test_a_conversation_stays_with_the_model_that_served_it(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=NEAR) as running:
        first = await routed(running, routing={"exclude": ["lab/a"]})
        answered = {"role": "assistant", "content": first["choices"][0]["message"]["content"]}
        history = [*QUESTION, answered, {"role": "user", "content": "Now in C."}]
        second = await routed(running, messages=history)
        assert (first["model"], second["model"]) == ("lab/b", "lab/b")
        assert "served this conversation before" in second["routing"]["reasoning"]
        fresh = await routed(running, messages=[{"role": "user", "content": "Something else."}, *history[1:]])
        assert fresh["model"] == "lab/a"


CALL = chunk(
    {"tool_calls": [{"index": 0, "id": "up", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
)
TOOL_CALL: list[Step] = stream(CALL, chunk({}, "tool_calls"), usage_chunk())


async def test_a_tool_loop_goes_on_with_the_model_that_made_the_calls(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    async with (
        ScriptedUpstream(TOOL_CALL, HELLO, BUSY) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=NEAR) as running,
    ):
        asked = await routed(running, tools=tools, routing={"exclude": ["lab/a"]})
        turn = asked["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": turn["tool_calls"][0]["id"], "content": "42"}
        answer = await routed(running, messages=[*QUESTION, turn, result], tools=tools)
        assert (answer["model"], answer["routing"]["decisiveness"]) == ("lab/b", 1.0)
        assert "made the tool calls" in answer["routing"]["reasoning"]
        failed = await routed(running, 502, messages=[*QUESTION, turn, result], tools=tools)
        assert failed["error"]["code"] == "all_attempts_failed"
        assert {received.json["model"] for received in upstream.received} == {"b"}


async def test_a_tool_loop_that_nobody_remembers_is_served_by_whoever_is_best(tmp_path: Path) -> None:
    call = {"id": "call_gone", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_gone", "content": "1"}]
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=NEAR) as running:
        routing = (await routed(running, messages=[*QUESTION, *turns]))["routing"]
        assert (routing["pick"], routing["tool_memory"]) == ("lab/a", "missing")


class TestHealth:
    async def ask(self, running: Running, clock: ManualClock, **members: Any) -> Any:
        """Ask, moving the clock over the short waits between tries."""
        asking = asyncio.ensure_future(routed(running, **members))
        while not asking.done():
            due = clock.due_in()
            if due is not None and due <= 1:
                await clock.advance(due)
            await asyncio.wait({asking}, timeout=0.01)
        return asking.result()

    async def test_failures_remove_a_host_and_one_probe_restores_it(self, tmp_path: Path) -> None:
        clock = ManualClock()
        is_down = True

        def strong(received: Received) -> Any:
            return BUSY if is_down else text_answer("Hello", wait="probe")

        quality = {"optimize": "quality"}
        async with (
            ScriptedUpstream(by_model(strong=strong)) as upstream,
            running_gateway(tmp_path, upstream.url, catalog=THREE, clock=clock) as running,
        ):

            def tried() -> int:
                return sum(received.json["model"] == "strong" for received in upstream.received)

            for _ in range(2):
                answer = await self.ask(running, clock, routing=quality)
                assert answer["model"] == "lab/cheap"
            before = tried()
            assert before >= 3
            answer = await self.ask(running, clock, routing=quality)
            assert (tried(), answer["routing"]["excluded"]) == (before, {"unhealthy": 1})
            is_down = False
            await clock.advance(60)
            probing = asyncio.ensure_future(self.ask(running, clock, routing=quality))
            await upstream.barrier("probe").reached.wait()
            # While one request finds out, the others stay away.
            assert (await self.ask(running, clock, routing=quality))["model"] == "lab/cheap"
            assert tried() == before + 1
            upstream.barrier("probe").released.set()
            assert (await probing)["model"] == "lab/strong"
            assert (await self.ask(running, clock, routing=quality))["routing"]["excluded"] == {}
            assert tried() == before + 2

    async def test_retry_after_is_obeyed(self, tmp_path: Path) -> None:
        clock = ManualClock()
        limited = reply({"error": {"message": "slow down"}}, 429, {"retry-after": "30"})
        async with (
            ScriptedUpstream(by_model(strong=limited)) as upstream,
            running_gateway(tmp_path, upstream.url, catalog=THREE, clock=clock) as running,
        ):
            quality = {"optimize": "quality"}
            await self.ask(running, clock, routing=quality)
            await clock.advance(20)
            assert (await self.ask(running, clock, routing=quality))["routing"]["excluded"] == {"unhealthy": 1}
            await clock.advance(11)
            attempts = (await self.ask(running, clock, routing=quality))["routing"]["attempts"]
            assert [attempt["outcome"] for attempt in attempts] == ["rate_limited", "served"]

    async def test_measured_times_decide_between_the_quick_and_the_slow(self, tmp_path: Path) -> None:
        async with (
            ScriptedUpstream(HELLO) as upstream,
            running_gateway(tmp_path, upstream.url, catalog=THREE) as running,
        ):
            await routed(running, model="lab/strong")
            routing = (await routed(running, routing={"optimize": "latency"}))["routing"]
            assert (routing["pick"], routing["alternatives"][0]["estimated_ttft_ms"] is not None) == (
                "lab/strong",
                True,
            )
            assert "first token" in routing["reasoning"]


class Forgetful:
    """A store that cannot recall."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def recall(self, *asked: Any) -> Any:
        raise StoreUnavailable


def forgetful(store: Store) -> Any:
    return Forgetful(store)


FALLBACKS = Policy(named_model_fallbacks={"lab/strong": ("cheap-alias", "lab/gone")})


@pytest.mark.parametrize(("surface", "outcome"), [(ROUTING, "lab/cheap"), (PLAIN, None)])
async def test_a_named_model_falls_back_only_where_the_operator_and_the_surface_let_it(
    tmp_path: Path, surface: Surface, outcome: str | None
) -> None:
    script = by_model(strong=MISSING)
    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        service = running.gateway.service
        await service.parts.directory.save_policy("default", FALLBACKS)
        async with running.client():
            key = await service.authenticate(running.token)
        request_id = service.parts.new_request_id()
        sent = json.dumps(body(model="lab/strong")).encode()
        exchange = service.chat(surface, key, request_id, sent)
        if outcome is None:
            with pytest.raises(Exception, match="could not be reached"):
                await exchange.start()
            assert len(upstream.received) == 1
        else:
            head = await exchange.start()
            answer = json.loads(head.body or b"")
            assert (answer["model"], answer["routing"]["pick"]) == (outcome, "lab/strong")
            assert "lab/cheap may stand in" in answer["routing"]["reasoning"]


async def test_no_other_model_goes_on_with_a_tool_loop_even_where_nobody_remembers_it(tmp_path: Path) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "1"}]
    script = by_model(strong=MISSING)
    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        await running.gateway.service.parts.directory.save_policy("default", FALLBACKS)
        answer = await routed(running, 502, model="lab/strong", messages=[*QUESTION, *turns])
        assert answer["error"]["code"] == "upstream_error"
        assert [received.json["model"] for received in upstream.received] == ["strong"]


async def test_a_key_is_only_served_by_its_models(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        parts = running.gateway.service.parts
        key = replace(await running.gateway.service.authenticate(running.token), models=("lab/cheap",))
        sent = json.dumps(body(routing={"optimize": "quality"})).encode()
        head = await Service(parts).chat(ROUTING, key, parts.new_request_id(), sent).start()
        answer = json.loads(head.body or b"")
        assert (answer["model"], answer["routing"]["excluded"]) == ("lab/cheap", {"policy": 2})


async def refused(service: Service, key: Key, **members: Any) -> GatewayError:
    exchange = service.chat(ROUTING, key, service.parts.new_request_id(), json.dumps(body(**members)).encode())
    with pytest.raises(GatewayError) as failure:
        await exchange.start()
    return failure.value


async def test_what_a_key_may_not_use_is_refused_by_name(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        service = running.gateway.service
        key = replace(await service.authenticate(running.token), models=("lab/cheap",))
        denied = await refused(service, key, model="lab/strong")
        assert (denied.status, denied.code) == (403, "model_not_allowed")
        unknown = await refused(service, key, model="lab/chep")
        assert (unknown.status, "lab/cheap" in unknown.message, "strong" in unknown.message) == (404, True, False)
        outside = await refused(service, key, routing={"policy": "strict"})
        assert (outside.code, outside.param) == ("policy_violation", "routing.policy")


async def test_a_key_sees_its_models_alone(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        service = running.gateway.service
        key = await service.authenticate(running.token)
        assert len((await service.shelf(key)).models) == len((await service.shelf(None)).models)
        shelf = await service.shelf(replace(key, models=("lab/cheap",)))
        assert [model.id for model in shelf.models] == ["lab/cheap"]


async def test_a_plan_ends_before_the_platform_does(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=THREE) as running:
        parts = running.gateway.service.parts
        key = await running.gateway.service.authenticate(running.token)
        parsed = parse_chat(json.dumps(body()).encode(), ROUTING)
        ready = await prepare(parts, ROUTING, key, parsed, parts.clock.now() + 30)
        assert ready.plan.ends_s is not None
        assert 24 < ready.plan.ends_s <= 25


async def test_a_policys_default_for_thinking_holds_until_a_request_says_otherwise(tmp_path: Path) -> None:
    deep = entry("lab/deep", more='thinking = "always", reasoning_tokens = 10')
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=catalog(deep)) as running,
    ):
        service = running.gateway.service
        await service.parts.directory.save_policy("default", Policy(extended_thinking=False))
        key = await service.authenticate(running.token)
        for asked, reason in ((None, "model_ignores_off"), (True, None)):
            sent = json.dumps(body(extended_thinking=asked)).encode()
            decision = await service.route(ROUTING, key, "req-" + "0" * 32, sent)
            assert decision.get("thinking_reason") == reason


async def test_a_memory_that_is_away_is_as_good_as_none(tmp_path: Path) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "1"}]
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=THREE, replace_store=forgetful) as running,
    ):
        assert (await routed(running, messages=[*QUESTION, *turns]))["routing"]["tool_memory"] == "missing"
