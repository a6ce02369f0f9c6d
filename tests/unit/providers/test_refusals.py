"""Targets that are alike in what refusals depend on refuse the same, whatever is asked."""

from collections.abc import Hashable

import pytest

from core.catalog.loader import load_catalog
from core.catalog.model import Target
from core.chat import ChatRequest, Json
from core.providers.fields import dispose, fields_of
from core.providers.refusals import REFUSABLE, refusable, refusal_traits
from tests.support.requests import ask

IMAGE: Json = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
AUDIO: Json = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
TOOL: Json = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CUSTOM: Json = {"type": "custom", "custom": {"name": "c"}}
SCHEMA: Json = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}}}


def part(content: Json) -> list[Json]:
    return [{"role": "user", "content": [content]}]


REQUESTS = {
    "plain": ask(),
    "image": ask(part(IMAGE)),
    "audio": ask(part(AUDIO)),
    "file": ask(part({"type": "file", "file": {"file_data": "JVBERi0=", "filename": "a.pdf"}})),
    "file id": ask(part({"type": "file", "file": {"file_id": "file-1"}})),
    "tools": ask(tools=[TOOL]),
    "custom tools": ask(tools=[CUSTOM]),
    "forced tool": ask(tools=[TOOL], tool_choice="required"),
    "allowed tools": ask(
        tools=[TOOL],
        tool_choice={
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
        },
    ),
    "functions": ask(functions=[{"name": "f"}], function_call={"name": "f"}),
    "schema": ask(response_format=SCHEMA),
    "json": ask("JSON, please.", response_format={"type": "json_object"}),
    "choices": ask(n=3),
    "stop": ask(stop=["END"]),
    "speech": ask(modalities=["text", "audio"], audio={"voice": "alloy", "format": "wav"}),
}
TARGETS = [target for model in load_catalog().models for target in load_catalog().targets(model)]


@pytest.mark.parametrize("name", REQUESTS)
def test_one_target_speaks_for_all_that_are_like_it(name: str) -> None:
    request = REQUESTS[name]
    said: dict[Hashable, tuple[tuple[str, str], ...]] = {}
    for target in TARGETS:
        refused = dispose(request, target).refused
        assert said.setdefault(refusal_traits(target), refused) == refused


@pytest.mark.parametrize("name", REQUESTS)
def test_what_no_target_refuses_makes_no_difference(name: str) -> None:
    request = REQUESTS[name]
    some = refusable(fields_of(request))
    assert all(dispose(request, target, some).refused == dispose(request, target).refused for target in TARGETS[::7])


def test_a_plain_request_has_nothing_that_is_refused() -> None:
    assert refusable(fields_of(REQUESTS["plain"])) == {}


def test_every_refusable_field_is_refused_somewhere() -> None:
    def refused(request: ChatRequest, target: Target) -> set[str]:
        return {field for field, _ in dispose(request, target).refused}

    reached = {field for request in REQUESTS.values() for target in TARGETS for field in refused(request, target)}
    # These are refused only by rows that an operator writes.
    assert REFUSABLE - reached <= {
        "tools[].custom",
        "tool_choice.allowed_tools",
        "stop",
        "function_call",
        "tool_choice",
    }
