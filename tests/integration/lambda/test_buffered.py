"""The buffered handler, alone and under Lambda's own Python runtime client."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from functions.gateway.buffered import BufferedHandler, handler
from functions.gateway.deadline import DEADLINE
from functions.gateway.streaming.environment import RuntimeEnvironment
from functions.gateway.streaming.invocation import Invocation, context_of
from functions.local.emulator.call import Call
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.clock import ManualClock
from tests.support.lambda_child import child
from tests.support.lambda_events import rest_event, url_event
from tests.support.small_gateway import SmallGateway, begin, end, for_requests

CLIENT = [sys.executable, "-m", "awslambdaric"]


def answered(call: Call) -> dict[str, Any]:
    assert call.buffered is not None
    answer: dict[str, Any] = json.loads(call.buffered)
    return answer


async def test_it_answers_under_lambdas_own_client(api: RuntimeApiEmulator) -> None:
    """Several events in one process: made once, connected once, and what comes after each response done."""
    async with child([*CLIENT, "tests.support.buffered_app.handler"], {"AWS_LAMBDA_RUNTIME_API": api.address}):
        deadline = time.time() + 60
        echo = await api.invoke(rest_event(b"text", path="/echo"), deadline=deadline).done()
        broken = await api.invoke(rest_event(None, method="GET", path="/broken"), deadline=deadline).done()
        state = await api.invoke(url_event(None, method="GET", path="/state"), deadline=deadline).done()
        await api.waits_for_polls(1)
    assert (answered(echo)["statusCode"], answered(echo)["body"]) == (200, "text")
    assert answered(broken)["statusCode"] == 500
    assert "secret" not in answered(broken)["body"]
    seen = json.loads(answered(state)["body"])
    assert 0 < seen.pop("left_s") <= 60
    assert seen == {"prepared": 1, "after": 2, "journal": ["connect", "after_response", "after_response"]}
    assert len(answered(state)["cookies"]) == 2
    assert api.violations == []


async def test_the_gateway_itself_answers_under_it(api: RuntimeApiEmulator, tmp_path: Path) -> None:
    variables = {"AWS_LAMBDA_RUNTIME_API": api.address}
    async with child([*CLIENT, "functions.gateway.buffered.handler"], variables, tmp_path):
        event = rest_event(None, method="GET", path="/healthz")
        call = await api.invoke(event, deadline=time.time() + 60).done()
    assert answered(call)["statusCode"] == 200


class Handlers:
    """Makes handlers, and closes them with the loops that they leave behind."""

    def __init__(self) -> None:
        self._made: list[BufferedHandler] = []

    def __call__(self, gateway: SmallGateway) -> BufferedHandler:
        made = BufferedHandler(lambda: gateway)
        self._made.append(made)
        return made

    def close(self) -> None:
        for made in self._made:
            made.close()
        asyncio.set_event_loop(None)


@pytest.fixture
def handlers() -> Iterator[Handlers]:
    made = Handlers()
    yield made
    made.close()


def call(handler: BufferedHandler, clock: ManualClock, left_s: float = 30) -> dict[str, Any]:
    invocation = Invocation("r-1", clock.now() + left_s, b"")
    return handler(rest_event(), context_of(invocation, RuntimeEnvironment("unused:1"), clock))


def test_importing_it_does_nothing() -> None:
    assert isinstance(handler, BufferedHandler)


def test_the_app_is_told_its_deadline(handlers: Handlers, clock: ManualClock) -> None:
    seen: list[float] = []

    @for_requests
    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope[DEADLINE] - time.time())
        await begin(send)
        await end(send)

    call(handlers(SmallGateway(app)), clock)
    assert seen == [pytest.approx(30, abs=1)]


def test_a_start_that_fails_is_tried_again_with_the_next_event(handlers: Handlers, clock: ManualClock) -> None:
    failures = [OSError("not yet")]

    async def connecting() -> None:
        if failures:
            raise failures.pop()

    made = handlers(SmallGateway(FastAPI(), connecting=connecting))
    with pytest.raises(OSError, match="not yet"):
        call(made, clock)
    assert call(made, clock)["statusCode"] == 404


@pytest.mark.parametrize("left_s", [30, 0.25])
def test_what_comes_after_the_response_cannot_take_it_away(
    handlers: Handlers, clock: ManualClock, left_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    async def afterwards() -> None:
        if left_s < 1:
            await asyncio.Event().wait()
        raise ValueError("a fault")

    made = handlers(SmallGateway(FastAPI(), afterwards=afterwards))
    assert call(made, clock, left_s)["statusCode"] == 404
    assert "the work after the response" in caplog.text
