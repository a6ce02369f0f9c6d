"""Observers are told of each request once, when it is over, whatever came of it; and of nobody's text."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive

from core.surfaces.surface import PLAIN
from core.tenant import Limits
from functions.gateway.finished import Finished
from functions.gateway.front import Front
from tests.support.clock import ManualClock
from tests.support.observed_stage import URL, set_stage, together


async def test_an_answer(tmp_path: Path) -> None:
    async with set_stage(tmp_path) as stage:
        for is_stream in (False, True):
            response, told = await stage.told_of(stream=is_stream)
            assert told.request_id == response.headers["x-request-id"]
            assert (told.method, told.route, told.status) == ("POST", URL, 200)
            assert (told.surface, told.org, told.result) == ("plain", "default", "served")
            assert (told.error, told.error_class, told.fallbacks) == (None, None, 0)
            assert told.record is not None
            assert told.record == await stage.running.store.record("default", told.request_id)
            assert told.outcome is not None
            assert (len(told.outcome.ended_ms), told.outcome.spills) == (1, 0)
            assert told.started * 1000 <= told.outcome.ended_ms[0] + 1
            assert told.outcome.ended_ms[0] <= told.ended * 1000 + 1


@pytest.mark.parametrize(
    ("asked", "is_stream", "status", "result", "code", "kind", "attempts"),
    [
        ("first fails", False, 200, "served", None, None, 2),
        ("first fails", True, 200, "served", None, None, 2),
        ("both fail", False, 502, "failed", "all_attempts_failed", "upstream", 2),
        ("both fail", True, 502, "failed", "all_attempts_failed", "upstream", 2),
        ("wrong", False, 400, "failed", "invalid_value", "caller", 1),
        ("cut", True, 200, "interrupted", "interrupted", "upstream", 1),
    ],
)
async def test_what_came_of_the_attempts(
    tmp_path: Path,
    asked: str,
    is_stream: bool,
    status: int,
    result: str,
    code: str | None,
    kind: str | None,
    attempts: int,
) -> None:
    async with set_stage(tmp_path) as stage:
        response, told = await stage.told_of(asked, stream=is_stream)
    assert (response.status_code, told.status, told.result, told.error_class) == (status, status, result, kind)
    assert (None if told.error is None else told.error.code) == code
    assert told.record is not None
    assert (len(told.record.attempts), told.fallbacks) == (attempts, attempts - 1)
    assert told.outcome is not None
    assert [*told.outcome.ended_ms] == sorted(told.outcome.ended_ms)


async def test_it_is_told_after_the_last_byte(tmp_path: Path) -> None:
    events: list[str] = []

    class Noting:
        def finished(self, request: Finished) -> None:
            events.append("told")

    async def send(message: Message) -> None:
        events.append("last" if not message.get("more_body", message["type"].endswith("start")) else "begun")

    async with set_stage(tmp_path, observers=[Noting()]) as stage:
        body = b'{"model": "lab/small", "stream": true, "messages": [{"role": "user", "content": "Hello?"}]}'
        headers = [(b"authorization", f"Bearer {stage.running.token}".encode())]
        scope = {"type": "http", "method": "POST", "path": URL, "query_string": b"", "headers": headers}
        await stage.running.gateway.app(scope, receiver(body), send)
        assert "told" not in events
        await stage.told.next()
    assert events[-2:] == ["last", "told"]


def receiver(body: bytes) -> Receive:
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    return receive


async def test_what_came_of_it_is_known_once_it_is_settled(tmp_path: Path) -> None:
    async with set_stage(tmp_path) as stage:
        service = stage.running.gateway.service
        (key,) = await stage.running.store.keys("default")
        body = b'{"model": "lab/small", "stream": true, "messages": [{"role": "user", "content": "Hello?"}]}'
        exchange = service.chat(PLAIN, key, service.parts.new_request_id(), body)
        assert await exchange.outcome() is None
        await exchange.start()
        assert await exchange.outcome() is None
        assert [frames async for frames in exchange.frames()]
        outcome = await exchange.outcome()
    assert outcome is not None
    assert outcome.record.outcome == "served"


async def test_where_nobody_is_told_nothing_is_done_for_it(tmp_path: Path) -> None:
    """No clock is read, no task is started, and no more is called for a request than without what stands in front."""

    def never() -> Any:
        raise AssertionError("nobody asked for it")

    async def served(app: ASGIApp) -> int:
        scope = {"type": "http", "method": "GET", "path": "/healthz", "query_string": b"", "headers": [], "state": {}}
        calls = 0

        def count(frame: object, event: str, arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        async def send(message: Message) -> None:
            assert message

        sys.setprofile(count)
        await app(scope, receiver(b""), send)
        sys.setprofile(None)
        return calls

    async with set_stage(tmp_path) as stage:
        app = stage.running.gateway.app.app
        front = Front(app, "X-Shop-", NoClock(), stage.running.noted, never, ())
        await served(app)
        # Itself, what it sends by, the id, and the two headers: a handful, whatever the request.
        assert await served(front) - await served(app) < 20


class NoClock(ManualClock):
    def now(self) -> float:
        raise AssertionError("nobody asked for the time")


async def test_a_caller_who_left(tmp_path: Path) -> None:
    async with set_stage(tmp_path) as stage:
        await stage.leave()
        told = await stage.told.next()
        record = await stage.running.store.record("default", told.request_id)
    assert (told.result, told.error, told.record) == ("caller_left", None, record)
    assert record is not None
    assert record.is_settled


@pytest.mark.parametrize(
    ("asked", "status", "code", "route", "org"),
    [
        ({"url": URL, "content": b'{"model": '}, 400, "invalid_json", URL, "default"),
        ({"url": URL, "json": {"model": "no/such", "messages": []}}, 400, "invalid_value", URL, "default"),
        ({"url": URL, "headers": {"authorization": "Bearer hr_typed"}}, 401, "invalid_api_key", URL, None),
        ({"url": "/v1/typed-by-a-caller", "method": "GET"}, 404, "endpoint_not_found", None, None),
        ({"url": URL, "method": "GET"}, 405, "method_not_allowed", URL, None),
        ({"url": "/v1/models/typed", "method": "GET"}, 404, "model_not_found", "/v1/models/{model_id:path}", "default"),
    ],
)
async def test_what_was_refused_before_there_was_a_record(
    tmp_path: Path, asked: dict[str, Any], status: int, code: str, route: str | None, org: str | None
) -> None:
    async with set_stage(tmp_path) as stage, stage.running.client() as client:
        response = await client.request(**{"method": "POST", **asked})
        told = await stage.told.next()
    assert (response.status_code, told.status, told.result, told.error_class) == (status, status, "refused", "caller")
    assert told.error is not None
    assert (told.error.code, told.route, told.org, told.record) == (code, route, org, None)
    assert told.request_id == response.headers["x-request-id"] == response.json()["request_id"]


async def test_a_limit(tmp_path: Path) -> None:
    async with set_stage(tmp_path) as stage:
        (key,) = await stage.running.store.keys("default")
        await stage.running.store.save_key(replace(key, limits=Limits(minute_requests=0)))
        response, told = await stage.told_of()
    assert (response.status_code, told.result, told.error_class, told.record) == (429, "refused", "limit", None)


async def test_the_rest_of_the_api_and_nothing_of_probes(tmp_path: Path) -> None:
    async with set_stage(tmp_path) as stage, stage.running.client() as client:
        for path in ("/healthz", "/readyz", "/docs", "/openapi.json"):
            assert (await client.get(path)).status_code == 200
        await client.get("/v1/models")
        told = await stage.told.next()
        assert (told.route, told.status, told.result, told.org) == ("/v1/models", 200, "answered", "default")
        stage.store.away.add("ping")
        assert (await client.get("/readyz")).status_code == 503
        told = await stage.told.next()
    assert (told.route, told.error_class, told.result) == ("/readyz", "gateway", "refused")


async def test_an_answer_that_is_given_again(tmp_path: Path) -> None:
    async with set_stage(tmp_path) as stage:
        named = {"idempotency-key": "one"}
        _, first = await stage.told_of(headers=named)
        _, again = await stage.told_of(headers=named)
        _, other = await stage.told_of("other", headers=named)
    assert (again.result, again.replay_of, again.record) == ("replayed", first.request_id, None)
    assert again.request_id != first.request_id
    assert other.error is not None
    assert (other.result, other.error.code, other.replay_of) == ("refused", "idempotency_mismatch", None)


async def test_what_the_store_did_not_take_is_counted(tmp_path: Path) -> None:
    async with set_stage(tmp_path) as stage:
        stage.store.away |= {"open", "settle"}
        _, told = await stage.told_of()
        assert told.outcome is not None
        assert (told.result, told.outcome.spills) == ("served", 2)
        assert len(stage.running.noted.spilled) == 2


async def test_an_observer_that_fails_harms_nobody(tmp_path: Path) -> None:
    class Failing:
        def finished(self, request: Finished) -> None:
            raise ZeroDivisionError(request.request_id)

    async with set_stage(tmp_path, before=[Failing()]) as stage:
        responses = await together(*(stage.ask() for _ in range(3)))
        asked = {(await stage.told.next()).request_id for _ in range(3)}
        await stage.running.gateway.after_response()
        noted = [request_id for request_id, _ in stage.running.noted.faults]
    assert [response.status_code for response in responses] == [200] * 3
    assert {*noted} == asked
    assert len(noted) == 3
