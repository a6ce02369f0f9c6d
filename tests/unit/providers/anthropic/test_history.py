"""How a conversation becomes `system` and `messages`."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Format, Quirk, Target
from core.chat import AudioPart, ChatRequest, FilePart, Message, Role, SealedThinking, TextPart, ToolCall
from core.errors import InvalidRequest
from core.ports import ToolTurn
from core.providers.anthropic import AnthropicFormat
from core.providers.anthropic.history import conversation
from core.providers.base import Prepared
from core.providers.fields import Disposed
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

NOTHING = Disposed(frozenset(), (), ())


def target(*quirks: Quirk) -> Target:
    return make_target(
        vendor=make_vendor(format=Format.ANTHROPIC, quirks=frozenset(quirks)),
        abilities=Abilities(tools=True, vision=True, documents=True),
    )


def body(messages: Any, *quirks: Quirk, turns: dict[str, ToolTurn] | None = None, **members: Any) -> dict[str, Any]:
    sent = AnthropicFormat().encode(ask(messages, **members), target(*quirks), Prepared(turns=turns or {}))
    parsed: dict[str, Any] = orjson.loads(sent.body)
    return parsed


def short(messages: list[Any]) -> list[tuple[str, list[Any]]]:
    """Turns with their texts, or the types of what is no text."""
    return [(turn["role"], [block.get("text", block["type"]) for block in turn["content"]]) for turn in messages]


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def call(call_id: str, arguments: Any = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str, content: Any = "ok") -> dict[str, Any]:
    return said("tool", content, tool_call_id=call_id)


def test_leading_system_and_developer_turns_are_the_system_prompt() -> None:
    sent = body([said("system", "One."), said("developer", [{"type": "text", "text": "Two."}]), said("user", "Hi.")])
    assert sent["system"] == [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    assert short(sent["messages"]) == [("user", ["Hi."])]


@pytest.mark.parametrize("echoed", [{}, {"reasoning_content": "h"}], ids=str)
def test_an_empty_answer_is_no_turn(echoed: dict[str, Any]) -> None:
    history = [said("user", "A"), said("assistant", None, refusal=None, **echoed)]
    assert short(body(history)["messages"]) == [("user", ["A"])]
    assert short(body([*history, said("user", "B")])["messages"]) == [("user", ["A", "B"])]


LATE = [said("user", "A"), said("assistant", "B"), said("system", "S"), said("user", "C"), said("system", "T")]


def test_late_system_turns_are_marked_text_of_the_user_on_models_that_know_no_others() -> None:
    assert short(body(LATE)["messages"]) == [
        ("user", ["A"]),
        ("assistant", ["B"]),
        ("user", ["<system>\nS\n</system>", "C", "<system>\nT\n</system>"]),
    ]


def test_late_system_turns_follow_a_users_turn_on_models_that_know_them() -> None:
    assert short(body(LATE, Quirk.SYSTEM_TURNS)["messages"]) == [
        ("user", ["A"]),
        ("assistant", ["B"]),
        ("user", ["C"]),
        ("system", ["S", "T"]),
    ]


def test_a_system_turn_never_stands_between_results() -> None:
    history = [
        said("user", "A"),
        said("assistant", "B"),
        said("system", "S"),
        said("assistant", None, tool_calls=[call("c1"), call("c2")]),
        result("c1"),
        result("c2"),
        said("user", "C"),
    ]
    assert short(body(history, Quirk.SYSTEM_TURNS)["messages"])[2:] == [
        ("user", ["tool_result", "tool_result"]),
        ("system", ["S"]),
        ("user", ["C"]),
    ]


def test_a_last_system_turn_after_an_assistant_becomes_the_users() -> None:
    sent = body([said("user", "A"), said("assistant", "B"), said("system", "S")], Quirk.SYSTEM_TURNS)
    assert short(sent["messages"])[-1] == ("user", ["<system>\nS\n</system>"])


def test_a_request_of_system_turns_alone_is_the_users() -> None:
    sent = body([said("system", "Write a poem.")])
    assert short(sent["messages"]) == [("user", ["Write a poem."])]
    assert "system" not in sent


@pytest.mark.parametrize(
    "messages", [[said("user", "")], [said("system", " "), said("user", " \n")], [said("system", "")]]
)
def test_a_conversation_is_never_empty(messages: list[Any]) -> None:
    sent = body(messages)
    assert short(sent["messages"]) == [("user", ["(empty message)"])]
    assert "system" not in sent


def test_a_blank_user_turn_leaves_the_system_prompt_alone() -> None:
    sent = body([said("system", "Be brief."), said("user", "")])
    assert sent["system"] == [{"type": "text", "text": "Be brief."}]
    assert short(sent["messages"]) == [("user", ["(empty message)"])]


def test_a_user_speaks_first_and_last() -> None:
    assert short(body([said("assistant", "Hello.")])["messages"]) == [
        ("user", ["(empty message)"]),
        ("assistant", ["Hello."]),
        ("user", ["Continue."]),
    ]


def test_turns_of_one_role_are_merged_and_blank_text_is_left_out() -> None:
    parts = [{"type": "text", "text": ""}, {"type": "text", "text": "B"}]
    sent = body([said("user", "A"), said("user", parts), said("assistant", ""), said("user", "C")])
    assert short(sent["messages"]) == [("user", ["A", "B", "C"])]


def test_parallel_results_are_one_turn_in_the_order_of_their_calls_before_any_text() -> None:
    history = [
        said("user", "A"),
        said("assistant", "", tool_calls=[call("c1"), call("c2"), call("c3")]),
        result("c3", "three"),
        result("c1", [{"type": "text", "text": "one"}, {"type": "text", "text": "1"}]),
        result("c2", " "),
        said("user", "B"),
    ]
    messages = body(history)["messages"]
    assert [block["id"] for block in messages[1]["content"]] == ["c1", "c2", "c3"]
    assert messages[2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "1"}],
        },
        {"type": "tool_result", "tool_use_id": "c2"},
        {"type": "tool_result", "tool_use_id": "c3", "content": "three"},
        {"type": "text", "text": "B"},
    ]


def test_the_deprecated_function_pair_is_a_call_and_its_result() -> None:
    history = [
        said("user", "A"),
        said("assistant", None, function_call={"name": "f", "arguments": '{"a":1}'}),
        said("function", "ok", name="f"),
    ]
    messages = body(history)["messages"]
    made = messages[1]["content"][0]
    assert made == {"type": "tool_use", "id": made["id"], "name": "f", "input": {"a": 1}}
    assert messages[2]["content"] == [{"type": "tool_result", "tool_use_id": made["id"], "content": "ok"}]


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("", {}),
        (" \n", {}),
        (None, {}),
        ('{"b": 1.50, "a": 12345678901234567890}', {"b": 1.5, "a": 12345678901234567890}),
        ("[1]", {"_raw": "[1]"}),
        ('{"a":', {"_raw": '{"a":'}),
        ("null", {"_raw": "null"}),
    ],
)
def test_arguments_are_an_object(arguments: str | None, given: dict[str, Any]) -> None:
    history = [said("user", "A"), said("assistant", None, tool_calls=[call("c1", arguments)]), result("c1")]
    assert body(history)["messages"][1]["content"][0]["input"] == given


def test_arguments_go_back_byte_for_byte() -> None:
    written = '{"b": 1.50,  "a": "\\u00e9"}'
    history = [said("user", "A"), said("assistant", None, tool_calls=[call("c1", written)]), result("c1")]
    assert written.encode() in AnthropicFormat().encode(ask(history), target(), Prepared()).body


def test_a_free_text_call_is_a_call_of_the_function_that_stands_for_it() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": 'ls "a"'}}
    history = [said("user", "A"), said("assistant", None, tool_calls=[custom]), result("c1")]
    assert body(history)["messages"][1]["content"][0]["input"] == {"input": 'ls "a"'}


def test_names_of_other_makers_tools_are_mended() -> None:
    history = [said("user", "A"), said("assistant", None, tool_calls=[call("c1", name="multi.tool")]), result("c1")]
    sent = body(history)
    assert sent["messages"][1]["content"][0]["name"] == "multi_tool"
    assert sent["tools"] == [{"name": "multi_tool", "input_schema": {"type": "object", "properties": {}}}]


def test_bad_ids_are_mapped_alike_in_call_and_result_and_good_ones_stay() -> None:
    history = [
        said("user", "A"),
        said("assistant", None, tool_calls=[call("functions.f:0"), call("call_1")]),
        result("functions.f:0"),
        result("call_1"),
    ]
    messages = body(history)["messages"]
    ids = [block["id"] for block in messages[1]["content"]]
    assert ids[0].startswith("functions_f_0_")
    assert ids[1] == "call_1"
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ids


def test_an_id_that_returns_gets_one_of_its_own() -> None:
    history = [said("user", "A")]
    for text in ("one", "two"):
        history += [said("assistant", None, tool_calls=[call("call_0"), call("call_0")])]
        history += [result("call_0", text + "!"), result("call_0", text + "?")]
    messages = body(history)["messages"]
    ids = [block["id"] for turn in messages for block in turn["content"] if block["type"] == "tool_use"]
    assert ids[0] == "call_0"
    assert len(set(ids)) == 4
    results = [block for turn in messages for block in turn["content"] if block["type"] == "tool_result"]
    assert [block["tool_use_id"] for block in results] == ids
    assert [block["content"] for block in results] == ["one!", "one?", "two!", "two?"]


def test_a_result_without_a_call_stays_where_it_is() -> None:
    messages = (
        Message(Role.USER, "A", {}),
        Message(Role.ASSISTANT, None, {}, tool_calls=(ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}"))),
        Message(Role.TOOL, "lost", {}, tool_call_id="c9"),
        Message(Role.TOOL, "ok", {}, tool_call_id="c1"),
    )
    said_so = conversation(ChatRequest("m", messages, {}), target(), Prepared(), NOTHING)
    assert [block["tool_use_id"] for block in said_so.messages[-1]["content"]] == ["c1", "c9"]


def test_refusals_and_transcripts_are_text() -> None:
    history = [
        said("user", "A"),
        said("assistant", [{"type": "refusal", "refusal": "No."}, {"type": "refusal", "refusal": " "}]),
        said("user", "B"),
        said("assistant", None, refusal="Never."),
        said("user", "C"),
        said("assistant", None, audio={"id": "a", "transcript": "Heard."}),
        said("user", "D"),
        said("assistant", "Written.", audio={"id": "a", "transcript": "Heard."}),
        said("user", "E"),
    ]
    spoken = [texts for role, texts in short(body(history)["messages"]) if role == "assistant"]
    assert spoken == [["No."], ["Never."], ["Heard."], ["Written."]]


THINKING = (
    SealedThinking("Let me see.\n", "c2ln"),
    SealedThinking(redacted="c2VjcmV0"),
    SealedThinking("", "ZW1wdHk=", calls_before=1),
    SealedThinking(detail={"type": "reasoning.text"}),
    SealedThinking("Last.", "bGFzdA==", calls_before=7),
)
LOOP = [
    said("user", "A"),
    said("assistant", "Now.", tool_calls=[call("call_1"), call("call_2")], reasoning_content="not this"),
    result("call_1"),
    result("call_2"),
]


def turn(host: str) -> dict[str, ToolTurn]:
    kept = ToolTurn("lab/small", host, THINKING, upstream_ids={"call_1": "toolu_a", "call_2": "toolu_b"})
    return {"call_1": kept, "call_2": kept}


def test_thinking_and_ids_go_back_to_the_host_that_made_them() -> None:
    messages = body(LOOP, turns=turn(target().name))["messages"]
    assert messages[1]["content"] == [
        {"type": "thinking", "thinking": "Let me see.\n", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
        {"type": "text", "text": "Now."},
        {"type": "tool_use", "id": "toolu_a", "name": "f", "input": {}},
        {"type": "thinking", "thinking": "", "signature": "ZW1wdHk="},
        {"type": "tool_use", "id": "toolu_b", "name": "f", "input": {}},
        {"type": "thinking", "thinking": "Last.", "signature": "bGFzdA=="},
    ]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["toolu_a", "toolu_b"]


def test_thinking_and_ids_of_another_host_are_left_out() -> None:
    messages = body(LOOP, turns=turn("other/model"))["messages"]
    assert short(messages)[1] == ("assistant", ["Now.", "tool_use", "tool_use"])
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["call_1", "call_2"]


@pytest.mark.parametrize(
    ("part", "param"),
    [
        (AudioPart("AA==", "wav"), "messages[0].content[1].input_audio"),
        (FilePart(file_id="file-1"), "messages[0].content[1].file.file_id"),
    ],
)
def test_what_has_no_form_is_refused_by_name(part: AudioPart | FilePart, param: str) -> None:
    request = ChatRequest("m", (Message(Role.USER, (TextPart("A"), part), {}),), {})
    with pytest.raises(InvalidRequest) as refused:
        conversation(request, target(), Prepared(), NOTHING)
    assert (refused.value.param, refused.value.code) == (param, "unsupported_parameter")


def mark(text: str, ttl: str | None = None) -> dict[str, Any]:
    kind = {"mode": "explicit", "ttl": ttl} if ttl else {"mode": "explicit"}
    return {"type": "text", "text": text, "prompt_cache_breakpoint": kind}


SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}


def marks(sent: dict[str, Any]) -> dict[str, Any]:
    blocks = [*sent.get("system", []), *(block for message in sent["messages"] for block in message["content"])]
    return {block.get("text", block["type"]): block["cache_control"] for block in blocks if "cache_control" in block}


def test_breakpoints_are_cache_marks() -> None:
    image = {"url": "https://a.example/b.png"}
    media = {"type": "image_url", "image_url": image, "prompt_cache_breakpoint": {"mode": "explicit"}}
    file = {"file_data": "https://a.example/b.pdf"}
    paper = {"type": "file", "file": file, "prompt_cache_breakpoint": {"mode": "explicit"}}
    history = [
        said("system", [mark("S", "30m")]),
        said("user", [media, paper]),
        said("assistant", None, tool_calls=[call("c1")]),
        result("c1", [mark("x"), {"type": "text", "text": "y"}]),
    ]
    assert marks(body(history)) == {"S": LONG, "image": SHORT, "document": SHORT, "tool_result": SHORT}


def test_a_mark_before_one_of_an_hour_is_of_an_hour() -> None:
    sent = body([said("system", [mark("S")]), said("user", [mark("A", "12h"), mark("B")])])
    assert marks(sent) == {"S": LONG, "A": LONG, "B": SHORT}


def test_of_too_many_marks_the_last_ones_stay() -> None:
    sent = body([said("user", [mark(text) for text in "ABCDEF"])])
    assert marks(sent) == dict.fromkeys("CDEF", SHORT)


@pytest.mark.parametrize(
    ("options", "automatic"), [({}, True), ({"mode": "implicit"}, True), ({"mode": "explicit"}, False)]
)
def test_the_automatic_mark_is_one_of_four(options: dict[str, str], automatic: bool) -> None:
    sent = body([said("user", [mark(text) for text in "ABCDE"])], prompt_cache_options=options)
    assert sent.get("cache_control") == (SHORT if automatic else None)
    assert list(marks(sent)) == (["C", "D", "E"] if automatic else ["B", "C", "D", "E"])


def test_marks_are_left_out_where_the_vendor_knows_none() -> None:
    vendor = make_vendor(
        format=Format.ANTHROPIC,
        refuses=frozenset({"messages[].content[].prompt_cache_breakpoint", "prompt_cache_options"}),
    )
    request = ask([said("user", [mark("A")])], prompt_cache_options={"mode": "implicit"})
    sent = orjson.loads(AnthropicFormat().encode(request, make_target(vendor=vendor), Prepared()).body)
    assert marks(sent) == {}
    assert "cache_control" not in sent
