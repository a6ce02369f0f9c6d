"""Gateways over one store tell each other which hosts are out of use, and no request waits for that."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from core.sharing import EXCHANGE_S, REFRESH_S
from tests.support.answers import HELLO
from tests.support.auto_catalog import catalog, entry
from tests.support.away import AwayStore
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, reply
from tests.support.upstream import ScriptedUpstream

QUESTION: list[Any] = [{"role": "user", "content": "Write a Python function that reverses a string."}]
BUSY = reply({"error": {"message": "slow down"}}, 429, {"retry-after": "300"})
BOTH = catalog(entry("lab/both", vendors=("lab", "shop")), entry("lab/other", vendors=("shop",), quality=0.1))


def lab_is_busy(received: Received) -> Any:
    return BUSY if received.path.startswith("/lab") else HELLO


async def ask(running: Running, model: str = "auto", **routing: Any) -> None:
    async with running.client() as client:
        body = {"model": model, "messages": QUESTION, "routing": routing}
        response = await client.post("/v1/chat/completions", json=body)
    assert response.status_code == 200, response.text
    await running.gateway.after_response()


async def only_at_the_lab(running: Running) -> Any:
    async with running.client() as client:
        body = {"model": "auto", "messages": QUESTION, "routing": {"providers": {"only": ["lab"]}}}
        return (await client.post("/v1/route", json=body)).json()


async def test_a_host_that_failed_at_one_gateway_is_left_alone_by_the_other(tmp_path: Path) -> None:
    clock = ManualClock()
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(ScriptedUpstream(lab_is_busy))
        one, other = [
            await stack.enter_async_context(running_gateway(tmp_path, upstream.url, catalog=BOTH, clock=clock))
            for _ in range(2)
        ]
        await ask(one)
        assert [received.path.split("/")[1] for received in upstream.received] == ["lab", "shop"]
        # Blind as yet, and told once it has answered somebody.
        await ask(other, "lab/other")
        await ask(other)
        assert [received.path.split("/")[1] for received in upstream.received[2:]] == ["shop", "shop"]
        assert "failed lately" in (await only_at_the_lab(other))["reasoning"]
        # It is in the store, so one that has just begun learns it too.
        late = await stack.enter_async_context(running_gateway(tmp_path, upstream.url, catalog=BOTH, clock=clock))
        await ask(late, "lab/other")
        await ask(late)
        assert upstream.received[-1].path.startswith("/shop")
        await clock.advance(301)
        assert "failed lately" not in (await only_at_the_lab(late))["reasoning"]


async def test_no_request_waits_for_it(tmp_path: Path) -> None:
    """What the store was asked before the upstream is called is the same with news and without."""
    clock = ManualClock()
    stores: list[AwayStore] = []
    asked_before: list[list[str]] = []

    def counted(store: Any) -> Any:
        stores.append(AwayStore(store))
        return stores[0]

    def script(received: Received) -> Any:
        asked_before.append([*stores[0].calls])
        return lab_is_busy(received)

    async with (
        ScriptedUpstream(script) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=BOTH, clock=clock, replace_store=counted) as running,
    ):
        store = stores[0]
        for _ in range(3):
            store.calls.clear()
            await ask(running)
            await clock.advance(REFRESH_S + 1)
        assert "told_health" in store.calls
        for calls in asked_before:
            assert {"tell_health", "told_health"} & {*calls} == set()
        # It may even never answer.
        store.stuck |= {"tell_health", "told_health"}
        store.calls.clear()
        async with running.client() as client:
            for _ in range(2):
                response = await client.post("/v1/chat/completions", json={"model": "auto", "messages": QUESTION})
                assert response.status_code == 200
        assert "told_health" in store.calls
        await clock.advance(EXCHANGE_S)
        await running.gateway.after_response()
