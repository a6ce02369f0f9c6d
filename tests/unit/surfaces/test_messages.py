"""Messages: roles, content, calls and results; and what comes back when an answer is sent back."""

import orjson
import pytest

from core.chat import (
    AudioPart,
    CacheBreakpoint,
    FilePart,
    ImagePart,
    Json,
    Message,
    RefusalPart,
    Role,
    TextPart,
    ToolCall,
)
from core.errors import InvalidRequest
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN, ROUTING, SURFACES, Surface
from tests.support.nulls import without_nulls_below

USER: Json = {"role": "user", "content": "Hello"}
CALL: Json = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
OTHER: Json = {"id": "call_2", "type": "custom", "custom": {"name": "run", "input": "ls"}}


def messages(*written: Json, surface: Surface = ROUTING) -> tuple[Message, ...]:
    return parse_chat(orjson.dumps({"model": "m", "messages": list(written)}), surface).request.messages


def refused(*written: Json) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as raised:
        messages(*written)
    return raised.value


@pytest.mark.parametrize("written", ["Hello", {"role": "user", "content": "Hello"}, 5, True, []])
def test_messages_are_an_array_with_something_in_it(written: Json) -> None:
    with pytest.raises(InvalidRequest) as raised:
        parse_chat(orjson.dumps({"model": "m", "messages": written}), PLAIN)
    assert (raised.value.code, raised.value.param) == ("invalid_value", "messages")


def result(call_id: str, content: Json = "done") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def calling(*calls: Json, **members: Json) -> Json:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **members}


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_plain_turns_keep_the_caller_s_object(role: str) -> None:
    written = {"role": role, "content": "Hi", "name": "ann"}
    (message,) = messages(written)
    assert message == Message(Role(role), "Hi", written, name="ann")
    assert message.parts == (TextPart("Hi"),)


def test_parts_of_a_user_message() -> None:
    written = {
        "role": "user",
        "content": [
            {"type": "text", "text": "", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}},
            {"type": "image_url", "image_url": {"url": "HTTPS://a/b.png", "detail": "original"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": None}},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
            {"type": "file", "file": {"file_data": "AA==", "filename": "a.pdf"}},
            {"type": "file", "file": {"file_id": "file-1"}, "prompt_cache_breakpoint": {"mode": "explicit"}},
        ],
    }
    (message,) = messages(written)
    assert message.content == (
        TextPart("", CacheBreakpoint("12h")),
        ImagePart("HTTPS://a/b.png", "original"),
        ImagePart("data:image/png;base64,AA=="),
        AudioPart("AA==", "mp3"),
        FilePart("AA==", filename="a.pdf"),
        FilePart(file_id="file-1", breakpoint=CacheBreakpoint()),
    )


def test_a_tool_loop_in_full() -> None:
    asked, first, second = messages(
        calling(CALL, OTHER, reasoning_content="hm"),
        result("call_2"),
        result("call_1", [{"type": "text", "text": "a"}]),
    )
    assert asked.tool_calls == (
        ToolCall("call_1", "look", '{"a":1}'),
        ToolCall("call_2", "run", "ls", kind="custom"),
    )
    assert (asked.content, asked.reasoning_content) == (None, "hm")
    assert (first.role, first.tool_call_id, first.content) == (Role.TOOL, "call_2", "done")
    assert second.content == (TextPart("a"),)


def test_several_loops_may_repeat_ids_and_even_one_turn_may() -> None:
    assert messages(calling(CALL), result("call_1"), USER, calling(CALL), result("call_1"))
    assert messages(calling(CALL, CALL), result("call_1"), result("call_1"), USER)


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": ""}], ids=["absent", "null", "empty"])
def test_a_call_without_arguments(arguments: dict[str, Json]) -> None:
    call = {**CALL, "function": {"name": "look", **arguments}}
    assert messages(calling(call), result("call_1"))[0].tool_calls == (ToolCall("call_1", "look", ""),)


def test_deprecated_calls_and_results_belong_together_by_a_made_up_id() -> None:
    asked, answered, again, more = messages(
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": "here"},
        {"role": "assistant", "function_call": {"name": "look"}},
        {"role": "function", "name": "look", "content": None},
    )
    assert asked.tool_calls == (ToolCall("call_function_0", "look", "{}"),)
    assert (answered.tool_call_id, answered.name, answered.content) == ("call_function_0", "look", "here")
    assert again.tool_calls[0].id == more.tool_call_id == "call_function_2"
    assert more.content == ""


def test_an_earlier_refusal_and_audio() -> None:
    (parted,) = messages({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]})
    assert parted.content == (RefusalPart("no"),)
    (plain,) = messages({"role": "assistant", "content": None, "refusal": "no"})
    assert (plain.content, plain.refusal) == (None, "no")
    (spoken,) = messages({"role": "assistant", "audio": {"id": "audio_1", "transcript": "hi"}})
    assert spoken.audio_transcript == "hi"
    assert messages({"role": "assistant", "reasoning": "hm"})[0].reasoning_content == "hm"


@pytest.mark.parametrize(
    ("written", "code", "param"),
    [
        (1, "invalid_value", "messages[0]"),
        ({}, "missing_required_parameter", "messages[0].role"),
        ({"role": 1}, "invalid_value", "messages[0].role"),
        ({"role": "judge"}, "invalid_value", "messages[0].role"),
        ({"role": "user"}, "missing_required_parameter", "messages[0].content"),
        ({"role": "user", "content": None}, "missing_required_parameter", "messages[0].content"),
        ({"role": "user", "content": []}, "missing_required_parameter", "messages[0].content"),
        ({"role": "user", "content": 1}, "invalid_value", "messages[0].content"),
        ({"role": "user", "content": "x", "name": 1}, "invalid_value", "messages[0].name"),
        ({"role": "user", "content": ["x"]}, "invalid_value", "messages[0].content[0]"),
        ({"role": "user", "content": [{}]}, "missing_required_parameter", "messages[0].content[0].type"),
        ({"role": "user", "content": [{"type": "text"}]}, "missing_required_parameter", "messages[0].content[0].text"),
        (
            {"role": "user", "content": [{"type": "refusal", "refusal": "x"}]},
            "invalid_value",
            "messages[0].content[0].type",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": "https://a/b.png"}]},
            "invalid_value",
            "messages[0].content[0].image_url",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]},
            "invalid_value",
            "messages[0].content[0].image_url.url",
        ),
        (
            {"role": "user", "content": [{"type": "file", "file": {"filename": "a"}}]},
            "missing_required_parameter",
            "messages[0].content[0].file.file_data",
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "a", "prompt_cache_breakpoint": {}}]},
            "missing_required_parameter",
            "messages[0].content[0].prompt_cache_breakpoint.mode",
        ),
        (
            {"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://a"}}]},
            "invalid_value",
            "messages[0].content[0].type",
        ),
        ({"role": "assistant", "content": "x", "audio": {}}, "missing_required_parameter", "messages[0].audio.id"),
        ({"role": "assistant", "content": "x", "annotations": [1]}, "invalid_value", "messages[0].annotations[0]"),
        ({"role": "tool", "content": "x"}, "missing_required_parameter", "messages[0].tool_call_id"),
        ({"role": "tool", "tool_call_id": "a"}, "missing_required_parameter", "messages[0].content"),
        ({"role": "function", "content": "x"}, "missing_required_parameter", "messages[0].name"),
        ({"role": "function", "name": "f", "content": ["x"]}, "invalid_value", "messages[0].content"),
    ],
    ids=str,
)
def test_wrong_messages_are_refused_by_their_path(written: Json, code: str, param: str) -> None:
    error = refused(written)
    assert (error.status, error.code, error.param) == (400, code, param)


@pytest.mark.parametrize("said", [{}, {"content": None, "refusal": None}, {"content": [], "tool_calls": []}], ids=str)
@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_an_empty_answer_is_a_turn(surface: Surface, said: Json) -> None:
    history = [USER, {"role": "assistant", **said}, USER]
    request = parse_chat(orjson.dumps({"model": "m", "messages": history}), surface).request
    assert (request.messages[1].role, request.messages[1].content) == (Role.ASSISTANT, None)
    assert request.unknown == ()


def test_a_document_is_refused_with_a_word_on_what_to_send() -> None:
    part = {"type": "document", "document": {"data": "AA=="}}
    error = refused({"role": "user", "content": [part]})
    assert (error.status, error.param) == (400, "messages[0].content[0].type")
    assert "'file' part" in error.message
    assert "Send a document" not in refused({"role": "user", "content": [{"type": "video"}]}).message


@pytest.mark.parametrize(
    ("call", "param"),
    [
        ({**CALL, "id": ""}, "id"),
        ({**CALL, "type": "web"}, "type"),
        ({"id": "a", "function": {"name": "f", "arguments": ""}}, "type"),
        ({"id": "a", "type": "function"}, "function"),
        ({**CALL, "function": {"arguments": ""}}, "function.name"),
        ({**CALL, "function": {"name": "f", "arguments": {}}}, "function.arguments"),
        ({**CALL, "custom": {}}, "custom"),
        ({**OTHER, "custom": {"name": "f"}}, "custom.input"),
        ({**OTHER, "index": "0"}, "index"),
    ],
    ids=str,
)
def test_wrong_calls_are_refused_by_their_path(call: Json, param: str) -> None:
    error = refused(USER, calling(CALL, call))
    assert (error.status, error.param) == (400, f"messages[1].tool_calls[1].{param}")


@pytest.mark.parametrize(
    "history",
    [
        (USER, calling(CALL)),
        (USER, calling(CALL), USER),
        (USER, calling(CALL, {**CALL, "id": "call_9"}), result("call_9")),
        (USER, calling(CALL), calling(CALL), result("call_1")),
    ],
    ids=["at the end", "before a question", "one of two", "before more calls"],
)
def test_a_call_without_its_result_is_refused_by_its_id(history: tuple[Json, ...]) -> None:
    error = refused(*history)
    assert (error.status, error.code, error.param) == (400, "missing_tool_result", "messages[1].tool_calls")
    assert "'call_1'" in error.message


def test_a_deprecated_call_without_its_result_is_refused_in_its_own_words() -> None:
    calls = [USER, {"role": "assistant", "function_call": {"name": "f"}}]
    for history in (calls, [*calls, USER]):
        error = refused(*history)
        assert (error.status, error.code, error.param) == (400, "missing_tool_result", "messages[1].function_call")
        assert "'function' message" in error.message
        assert "tool" not in error.message
    answered = {"role": "function", "name": "f", "content": "x"}
    assert refused(*calls, answered, calling(CALL)).param == "messages[3].tool_calls"


@pytest.mark.parametrize(
    ("history", "param"),
    [
        ((result("call_1"),), "messages[0].tool_call_id"),
        ((calling(CALL), result("call_7")), "messages[1].tool_call_id"),
        ((calling(CALL), result("call_1"), result("call_1")), "messages[2].tool_call_id"),
        ((calling(CALL), result("call_1"), USER, result("call_1")), "messages[3].tool_call_id"),
        (({"role": "function", "name": "f", "content": "x"},), "messages[0].name"),
        ((calling(CALL), {"role": "function", "name": "look", "content": "x"}), "messages[1].name"),
    ],
)
def test_a_result_without_its_call_is_refused(history: tuple[Json, ...], param: str) -> None:
    error = refused(*history)
    assert (error.status, error.code, error.param) == (400, "invalid_value", param)


def test_both_forms_of_calls_do_not_go_together() -> None:
    error = refused(calling(CALL, function_call={"name": "f"}), result("call_1"))
    assert error.param == "messages[0].function_call"


def test_many_calls_and_results_take_no_more_than_their_number() -> None:
    count = 5_000
    calls = [{**CALL, "id": f"call_{index}"} for index in range(count)]
    results = [result(f"call_{index}") for index in reversed(range(count))]
    assert len(messages(calling(*calls), *results)) == count + 1


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_what_clients_send_back_is_known(surface: Surface) -> None:
    answer = {
        "role": "assistant",
        "content": "a",
        "refusal": None,
        "annotations": [{"type": "url_citation", "url_citation": {}}],
        "audio": {"id": "audio_1", "data": "AA==", "expires_at": 1, "transcript": "hi"},
        "parsed": {"any": ["thing"]},
        "reasoning": "hm",
        "reasoning_content": "hm",
        "reasoning_details": [{"type": "reasoning.text"}],
        "function_call": None,
        "tool_calls": [
            {
                **CALL,
                "index": 0,
                "custom": None,
                "function": {"name": "look", "arguments": "{}", "parsed_arguments": {"a": 1}},
            },
            {**OTHER, "index": 1, "function": None},
        ],
    }
    history = [USER, answer, {**result("call_1"), "name": "look"}, result("call_2")]
    body = orjson.dumps({"model": "m", "messages": history})
    request = parse_chat(body, surface).request
    assert request.unknown == ()
    assert request.written["messages"] == without_nulls_below(history)


def test_nulls_of_other_roles_say_nothing() -> None:
    assert messages({**USER, "tool_calls": None, "tool_call_id": None, "refusal": None, "name": None})
    assert refused({**USER, "tool_call_id": "a"}).code == "unknown_field"
    assert refused({**USER, "whatever": None}).code == "unknown_field"


def test_unknown_members_of_messages_keep_their_place() -> None:
    part = {"type": "text", "text": "a", "lang": "en"}
    error = refused(USER, {"role": "user", "content": [part]})
    assert (error.status, error.param) == (422, "messages[1].content[0].lang")
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": [part], "a.b": 1}]})
    request = parse_chat(body, PLAIN).request
    assert request.unknown == ("messages[0].content[0].lang", "messages[0].a.b")
    assert request.messages[0].written["content"] == [part]
