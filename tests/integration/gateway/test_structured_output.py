"""JSON out of a whole answer: taken where it is wrapped, asked for once more where there is none, and never edited."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.decision import BUILT_IN_POLICY, Policy
from core.repair import REASK
from tests.support.answers import text_answer
from tests.support.gateway import running_gateway
from tests.support.script import Step, reply
from tests.support.upstream import ScriptedUpstream

DOCUMENT = '{"a": 1.0}'
FENCED = f"Here it is:\n```json\n{DOCUMENT}\n```\nAnything else?"
SPOKEN = f"The answer is {DOCUMENT}, I think."
COST = 31 * 3 + 64 * 15

SCHEMA = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}, "strict": True}}
OBJECT = {"type": "json_object"}


async def answered(
    folder: Path, *answers: str | Sequence[Step], policy: Policy = BUILT_IN_POLICY, **members: Any
) -> tuple[Any, ScriptedUpstream, Any]:
    """The answer of a gateway whose host says one thing after the other."""
    scripts = [text_answer(each) if isinstance(each, str) else each for each in answers]
    asked = {"model": "lab/small", "messages": [{"role": "user", "content": "JSON, please."}], **members}
    async with ScriptedUpstream(*scripts) as upstream, running_gateway(folder, upstream.url) as running:
        await running.store.save_policy("default", replace(policy, name="default"))
        async with running.client() as client:
            response = await client.post("/v1/chat/completions", json=asked)
        (record,) = await running.store.records("default", 10)
    return response, upstream, record


@pytest.mark.parametrize("format", [SCHEMA, OBJECT], ids=["schema", "object"])
@pytest.mark.parametrize(("said", "repair"), [(DOCUMENT, None), (FENCED, "fence"), (SPOKEN, "commentary")])
async def test_the_document_is_taken_out_as_it_stands(
    tmp_path: Path, format: Any, said: str, repair: str | None
) -> None:
    response, upstream, record = await answered(tmp_path, said, response_format=format)
    answer = response.json()
    assert answer["choices"][0]["message"]["content"] == DOCUMENT
    assert answer["usage"].get("structured_output_repair") == repair
    assert (len(upstream.received), record.charge.total) == (1, COST)
    assert upstream.received[0].json["response_format"] == format


@pytest.mark.parametrize(
    "members", [{}, {"response_format": {"type": "text"}}, {"response_format": OBJECT, "stream": True}]
)
async def test_nothing_is_taken_from_streams_and_from_what_was_not_to_be_json(
    tmp_path: Path, members: dict[str, Any]
) -> None:
    response, _, _ = await answered(tmp_path, FENCED, **members)
    assert json.dumps(FENCED)[1:-1] in response.text.replace("\\u", "u")
    assert "structured_output_repair" not in response.text


async def test_what_is_no_document_stays_as_it_is(tmp_path: Path) -> None:
    response, upstream, _ = await answered(tmp_path, "I had rather not.", response_format=OBJECT)
    assert response.json()["choices"][0]["message"]["content"] == "I had rather not."
    assert "structured_output_repair" not in response.json()["usage"]
    assert len(upstream.received) == 1


async def test_a_policy_can_leave_it_alone(tmp_path: Path) -> None:
    policy = replace(BUILT_IN_POLICY, extract_json=False)
    response, _, _ = await answered(tmp_path, FENCED, policy=policy, response_format=OBJECT)
    assert response.json()["choices"][0]["message"]["content"] == FENCED
    assert "structured_output_repair" not in response.json()["usage"]


@pytest.mark.parametrize("extracts", [True, False])
async def test_a_policy_can_have_the_model_asked_once_more_and_both_calls_are_charged(
    tmp_path: Path, extracts: bool
) -> None:
    policy = replace(BUILT_IN_POLICY, extract_json=extracts, reask_json=True)
    first = "I had rather not." if extracts else FENCED
    response, upstream, record = await answered(tmp_path, first, DOCUMENT, policy=policy, response_format=OBJECT)
    answer = response.json()
    assert answer["choices"][0]["message"]["content"] == DOCUMENT
    assert answer["usage"]["structured_output_repair"] == "reasked"
    assert (answer["usage"]["prompt_tokens"], answer["usage"]["cost_micros"]) == (62, 2 * COST)
    assert [row.outcome for row in record.attempts] == ["served", "served"]
    assert record.charge.total == 2 * COST
    said, asked = upstream.received[1].json["messages"][-2:]
    assert said == {"role": "assistant", "content": first}
    assert asked == {"role": "user", "content": REASK}


@pytest.mark.parametrize("second", ["Still not.", reply({"error": {"message": "down"}}, 400)], ids=["text", "failure"])
async def test_it_is_asked_once_and_what_came_of_it_is_charged(tmp_path: Path, second: Any) -> None:
    policy = replace(BUILT_IN_POLICY, reask_json=True)
    response, upstream, record = await answered(tmp_path, "No.", second, policy=policy, response_format=OBJECT)
    answer = response.json()
    is_text = isinstance(second, str)
    assert response.status_code == 200
    assert answer["choices"][0]["message"]["content"] == (second if is_text else "No.")
    assert "structured_output_repair" not in answer["usage"]
    assert (len(upstream.received), record.charge.total) == (2, (2 if is_text else 1) * COST)
