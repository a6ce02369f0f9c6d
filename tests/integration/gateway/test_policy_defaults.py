"""What a policy says in place of the request, seen by the upstream and by the caller."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.decision import BUILT_IN_POLICY, Policy
from tests.support.answers import HELLO
from tests.support.auto_catalog import catalog, entry
from tests.support.gateway import Running, running_gateway
from tests.support.script import reply
from tests.support.upstream import ScriptedUpstream

QUESTION: list[Any] = [{"role": "user", "content": "Write a Python function that reverses a string."}]
NEAR = catalog(entry("lab/a", price=1), entry("lab/b", price=1.1))


async def under(running: Running, policy: Policy) -> None:
    """Put a policy in the place of the default one."""
    await running.gateway.service.parts.directory.save_policy("default", policy)


async def asked(running: Running, status: int = 200, **members: Any) -> Any:
    async with running.client() as client:
        body = {"model": "auto", "messages": QUESTION, **members}
        response = await client.post("/api/v1/inference/chat/completions", json=body)
    assert response.status_code == status, response.text
    return response.json()


@pytest.mark.parametrize(("sticky", "model"), [(True, "lab/b"), (False, "lab/a")])
async def test_a_conversation_stays_where_the_policy_lets_it(tmp_path: Path, sticky: bool, model: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, catalog=NEAR) as running:
        await under(running, replace(BUILT_IN_POLICY, sticky=sticky))
        first = await asked(running, routing={"exclude": ["lab/a"]})
        answered = {"role": "assistant", "content": first["choices"][0]["message"]["content"]}
        history = [*QUESTION, answered, {"role": "user", "content": "Now in C."}]
        assert (await asked(running, messages=history))["model"] == model


async def test_its_effort_reaches_a_model_that_the_request_says_nothing_to(tmp_path: Path) -> None:
    abilities = 'thinking = "optional", efforts = ["low", "high"]'
    thinker = entry("lab/thinker", more=abilities) + '\nthinking_switch = "reasoning_effort"'
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=catalog(thinker)) as running,
    ):
        await under(running, replace(BUILT_IN_POLICY, reasoning_effort="high"))
        for said in ({}, {"reasoning_effort": "low"}, {"extended_thinking": False}):
            await asked(running, **said)
        assert [received.json["reasoning_effort"] for received in upstream.received] == ["high", "low", "none"]


async def test_its_attempts_are_the_most_that_are_made(tmp_path: Path) -> None:
    busy = reply({"error": {"message": "no such model", "code": "model_not_found"}}, 404)
    async with ScriptedUpstream(busy) as upstream, running_gateway(tmp_path, upstream.url, catalog=NEAR) as running:
        await under(running, replace(BUILT_IN_POLICY, max_attempts=1))
        await asked(running, 502)
        assert len(upstream.received) == 1
