"""Every golden transcript through the whole gateway, streamed and whole: both say what the transcript does."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
import pytest_asyncio

from core.catalog.model import Format
from core.chat import Choice, FinishReason
from core.errors import ContentRefused, GatewayError, UpstreamFailure
from core.events import Event, fold, is_answer, is_token
from tests.support.frames import DONE, assembled, frames_of
from tests.support.golden import Case, cases
from tests.support.laws import Outcome, answered
from tests.support.script import Head, Received, Send, Step
from tests.support.vendors.hosts import open_hosts

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = {f"{wire.value}/{case.name}": case for wire in Format for case in cases(wire)}


def told(name: str, request: Received) -> list[Step]:
    """The answer of the case of that name."""
    case = CASES[name]
    return [Head(case.about.get("status", 200), case.about.get("headers", {})), Send(case.data)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def callers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    targets = {name: case.target for name, case in CASES.items()}
    async with open_hosts(tmp_path_factory.mktemp("transcripts"), targets, told) as (running, _):
        async with running.client() as client:
            yield client


def asked(name: str, case: Case, **members: Any) -> dict[str, Any]:
    """The case's request, once and at this host."""
    written = json.loads((case.folder / "request.json").read_bytes())
    written.pop("stream", None)
    return {**written, "model": name, "routing": {"fallback": False}, **members}


def expected(case: Case) -> tuple[Outcome, tuple[Choice, ...]]:
    """What the transcript gives; a refusal before any answer is an answer."""
    outcome = answered(case.decoders()(), [case.data])
    if isinstance(outcome.error, ContentRefused):
        outcome = Outcome(outcome.events)
        return outcome, (Choice(0, finish=FinishReason.CONTENT_FILTER),)
    return outcome, fold(outcome.events).choices


def ours(choice: Choice) -> dict[str, Any]:
    calls = [
        (call.name, call.arguments) if call.kind == "function" else (call.name, "custom", call.arguments)
        for call in choice.tool_calls
    ]
    return {
        "text": choice.text or "",
        "reasoning": choice.reasoning or "",
        "refusal": choice.refusal or "",
        "calls": calls,
        "finish": choice.finish.value if choice.finish else None,
    }


def theirs(choice: Mapping[str, Any]) -> dict[str, Any]:
    message = choice["message"]
    calls: list[tuple[Any, ...]] = []
    for call in message.get("tool_calls") or ():
        if call["type"] == "function":
            calls.append((call["function"]["name"], call["function"]["arguments"]))
        else:
            calls.append((call["custom"]["name"], "custom", call["custom"]["input"]))
    legacy = message.get("function_call")
    if legacy:
        calls.append((legacy["name"], legacy["arguments"]))
    finish = choice["finish_reason"]
    return {
        "text": message.get("content") or "",
        "reasoning": message.get("reasoning_content") or "",
        "refusal": message.get("refusal") or "",
        "calls": calls,
        "finish": "tool_calls" if finish == "function_call" else finish,
    }


def has_token(events: tuple[Event, ...], case: Case) -> bool:
    counts = is_answer if case.request.extended_thinking is False else is_token
    return any(map(counts, events))


def check_error(error: Mapping[str, Any], failure: GatewayError | None) -> None:
    assert error["message"]
    if failure is not None and not isinstance(failure, UpstreamFailure):
        assert error["type"] == failure.type


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_a_transcript_is_told_whole_as_it_is(callers: httpx.AsyncClient, case: Case) -> None:
    outcome, choices = expected(case)
    response = await callers.post("/v1/chat/completions", json=asked(f"{case.format.value}/{case.name}", case))
    body = response.json()
    if outcome.error is not None:
        assert response.status_code >= 400
        check_error(body["error"], outcome.error)
        return
    assert response.status_code == 200
    said = [theirs(choice) for choice in body["choices"]]
    if "structured_output_repair" in body["usage"]:
        said[0]["text"] = choices[0].text or ""
    assert said == [ours(choice) for choice in choices]
    usage = fold(outcome.events).usage
    if usage is not None:
        assert body["usage"]["prompt_tokens"] == usage.input_tokens
        assert body["usage"]["completion_tokens"] == usage.output_tokens
        assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == usage.cached_tokens
        assert body["usage"]["prompt_tokens_details"]["cache_write_tokens"] == usage.written_tokens


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_a_transcript_is_streamed_as_it_is(callers: httpx.AsyncClient, case: Case) -> None:
    outcome, choices = expected(case)
    request = asked(f"{case.format.value}/{case.name}", case, stream=True)
    response = await callers.post("/v1/chat/completions", json=request)
    if outcome.error is not None and not has_token(outcome.events, case):
        assert response.status_code >= 400
        check_error(response.json()["error"], outcome.error)
        return
    assert response.status_code == 200
    frames = frames_of(response.content)
    assert frames[-1] == DONE
    failed = [frame for frame in frames if frame != DONE and "error" in frame]
    if outcome.error is not None:
        assert len(failed) == 1
        assert frames[-2] == failed[0]
        check_error(failed[0]["error"], outcome.error)
    else:
        assert failed == []
    said = [theirs(choice) for _, choice in sorted(assembled(frames).items())]
    assert said == [ours(choice) for choice in choices]
