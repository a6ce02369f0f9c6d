"""Whole answers: the message in every form, and what else stands in the body."""

import orjson
import pytest
from openai.types.chat import ChatCompletion

from core.chat import Choice, FinishReason, Json, Reply, ToolCall
from core.surfaces.json_text import to_json
from core.surfaces.openai_chat import render_reply
from core.surfaces.surface import PLAIN, ROUTING, Surface

LOOK = ToolCall("call_1", "look", '{"a":1}', upstream_id="toolu_1", signature="sealed")


def body(reply: Reply, surface: Surface = PLAIN, *, routing: Json = None, legacy: bool = False) -> dict[str, Json]:
    rendered = render_reply(
        surface,
        reply,
        response_id=surface.response_id("req-" + "0" * 32),
        created=1_700_000_000,
        model="lab/small",
        usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        routing=routing,
        legacy_functions=legacy,
    )
    ChatCompletion.model_validate(orjson.loads(to_json(rendered)))
    return rendered


def message(choice: Choice, *, legacy: bool = False) -> dict[str, Json]:
    rendered: dict[str, Json] = body(Reply((choice,)), legacy=legacy)["choices"][0]["message"]
    return rendered


def test_a_plain_answer() -> None:
    assert body(Reply((Choice(0, "Hi", finish=FinishReason.STOP),))) == {
        "id": "chatcmpl-" + "0" * 32,
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "lab/small",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }


def test_the_decision_is_shown_on_the_routing_surface_alone() -> None:
    reply = Reply((Choice(0, "Hi", finish=FinishReason.STOP),))
    assert body(reply, ROUTING, routing={"object": "routing"})["routing"] == {"object": "routing"}
    assert "routing" not in body(reply, PLAIN, routing={"object": "routing"})
    assert "routing" not in body(reply, ROUTING)


def test_notes_of_hosts_are_shown_by_name_and_others_are_not() -> None:
    notes = {"system_fingerprint": "fp", "service_tier": "flex", "provider": "secret", "x_groq": {}}
    rendered = body(Reply((Choice(0, "Hi", finish=FinishReason.STOP),), notes=notes))
    assert (rendered["system_fingerprint"], rendered["service_tier"]) == ("fp", "flex")
    assert not {"provider", "x_groq"} & set(rendered)


def test_everything_a_message_can_carry() -> None:
    annotation = {"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 1, "title": "t", "url": "u"}}
    audio = {"id": "audio_1", "data": "AA==", "expires_at": 5, "transcript": "hi"}
    choice = Choice(
        0,
        text="a",
        reasoning="hm",
        refusal="no",
        tool_calls=(LOOK, ToolCall("call_2", "run", "ls", kind="custom")),
        annotations=(annotation,),
        audio=audio,
        logprobs={"content": []},
        finish=FinishReason.TOOL_CALLS,
    )
    assert message(choice) == {
        "role": "assistant",
        "content": "a",
        "refusal": "no",
        "reasoning_content": "hm",
        "annotations": [annotation],
        "audio": audio,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}},
            {"id": "call_2", "type": "custom", "custom": {"name": "run", "input": "ls"}},
        ],
    }
    assert body(Reply((choice,)))["choices"][0]["logprobs"] == {"content": [], "refusal": None}


def test_content_is_null_where_there_is_none() -> None:
    assert message(Choice(0, tool_calls=(LOOK,), finish=FinishReason.TOOL_CALLS))["content"] is None
    assert message(Choice(0, finish=FinishReason.CONTENT_FILTER))["content"] is None
    assert message(Choice(0, refusal="No.", finish=FinishReason.STOP))["content"] is None


@pytest.mark.parametrize("reason", [FinishReason.STOP, FinishReason.LENGTH])
def test_an_answer_with_nothing_in_it_has_a_string_for_content(reason: FinishReason) -> None:
    assert message(Choice(0, finish=reason))["content"] == ""
    assert message(Choice(0, reasoning="hm", finish=reason))["content"] == ""


def test_callers_of_deprecated_functions_get_the_deprecated_form() -> None:
    choice = Choice(0, tool_calls=(LOOK,), finish=FinishReason.TOOL_CALLS)
    assert message(choice, legacy=True)["function_call"] == {"name": "look", "arguments": '{"a":1}'}
    assert "tool_calls" not in message(choice, legacy=True)
    assert body(Reply((choice,)), legacy=True)["choices"][0]["finish_reason"] == "function_call"
    stopped = Choice(0, "a", finish=FinishReason.STOP)
    assert body(Reply((stopped,)), legacy=True)["choices"][0]["finish_reason"] == "stop"


def test_several_choices_keep_their_index() -> None:
    reply = Reply((Choice(0, "a", finish=FinishReason.STOP), Choice(2, "b", finish=FinishReason.LENGTH)))
    assert [choice["index"] for choice in body(reply)["choices"]] == [0, 2]


def test_an_answer_that_did_not_end_has_no_made_up_reason() -> None:
    rendered = render_reply(PLAIN, Reply((Choice(0, "a"),)), response_id="r", created=1, model="m", usage={})
    assert rendered["choices"][0]["finish_reason"] is None


def test_half_a_surrogate_pair_does_not_break_the_answer() -> None:
    value = {"a\ud800": ["x\udc00y", ("\ud83d\ude00",)], "b": 1.5, "c": None}
    assert orjson.loads(to_json(value)) == {"a\ufffd": ["x\ufffdy", ["\U0001f600"]], "b": 1.5, "c": None}
    assert to_json({"a": "é"}) == '{"a":"é"}'.encode()
