"""Turns and their order: what Converse wants of a conversation."""

from typing import Any

import pytest

from core.catalog.model import Abilities, Format, Target, Thinking, ThinkingSwitch
from core.chat import SealedThinking
from core.errors import InvalidRequest
from core.ports import ToolTurn
from core.providers.base import Media, Prepared
from core.providers.bedrock.history import Conversation, conversation
from core.providers.fields import Disposed, dispose
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

ABLE = Abilities(tools=True, vision=True, documents=True, audio_input=True, thinking=Thinking.OPTIONAL)
PLAIN = make_target(vendor=make_vendor(format=Format.BEDROCK), abilities=ABLE)
CLAUDE = make_target(vendor=make_vendor(format=Format.BEDROCK), abilities=ABLE, thinking_switch=ThinkingSwitch.ADAPTIVE)
PDF = {"type": "file", "file": {"file_data": "JVBERi0xLjQK", "filename": "a.pdf"}}


def said(role: str, content: Any, **members: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **members}


def calling(*calls: tuple[str, str], content: Any = None) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": "f", "arguments": given}} for call_id, given in calls
    ]
    return said("assistant", content, tool_calls=made)


def result(call_id: str, content: Any) -> dict[str, Any]:
    return said("tool", content, tool_call_id=call_id)


def converted(*messages: Any, to: Target = PLAIN, prepared: Prepared | None = None) -> Conversation:
    request = ask(list(messages))
    return conversation(request, to, prepared or Prepared(), dispose(request, to))


def turns(*messages: Any, to: Target = PLAIN) -> list[tuple[str, list[Any]]]:
    return [(turn["role"], turn["content"]) for turn in converted(*messages, to=to).messages]


@pytest.mark.parametrize("echoed", [{}, {"reasoning_content": "h"}], ids=str)
def test_an_empty_answer_is_no_turn(echoed: dict[str, Any]) -> None:
    history = [said("user", "A"), said("assistant", None, refusal=None, **echoed)]
    assert turns(*history) == [("user", [{"text": "A"}])]
    assert turns(*history, said("user", "B")) == [("user", [{"text": "A"}, {"text": "B"}])]


def test_system_messages_stand_apart_in_order() -> None:
    made = converted(said("system", "One."), said("developer", [{"type": "text", "text": "Two."}]), said("user", "Hi."))
    assert made.system == [{"text": "One."}, {"text": "Two."}]
    assert made.messages == [{"role": "user", "content": [{"text": "Hi."}]}]


def test_a_late_system_message_joins_the_others() -> None:
    made = converted(said("user", "Hi."), said("system", "Late."), said("user", "Ho."))
    assert made.system == [{"text": "Late."}]
    assert made.messages == [{"role": "user", "content": [{"text": "Hi."}, {"text": "Ho."}]}]


def test_claudes_keeps_its_place_since_thinking_is_bound_to_what_precedes_it() -> None:
    late = said("system", [{"type": "text", "text": "Late.", "prompt_cache_breakpoint": {"mode": "explicit"}}])
    made = converted(said("system", "Early."), said("user", "Hi."), late, to=CLAUDE)
    assert made.system == [{"text": "Early."}]
    assert made.messages[0]["content"] == [
        {"text": "Hi."},
        {"text": "<system>\nLate.\n</system>"},
        {"cachePoint": {"type": "default"}},
    ]


def test_turns_of_one_role_are_merged() -> None:
    assert turns(said("user", "a"), said("user", "b"), said("assistant", "c"), said("assistant", "d")) == [
        ("user", [{"text": "a"}, {"text": "b"}]),
        ("assistant", [{"text": "c"}, {"text": "d"}]),
        ("user", [{"text": "Continue."}]),
    ]


def test_the_first_turn_is_the_users() -> None:
    assert turns(said("assistant", "a"), said("user", "b"))[0] == ("user", [{"text": "(empty message)"}])


def test_system_messages_alone_become_the_question() -> None:
    made = converted(said("system", "Say hello."))
    assert made.system == []
    assert made.messages == [{"role": "user", "content": [{"text": "Say hello."}]}]


@pytest.mark.parametrize("messages", [[said("user", "")], [said("system", " ")], [said("assistant", "", refusal="")]])
def test_something_is_always_said(messages: list[Any]) -> None:
    assert turns(*messages) == [("user", [{"text": "(empty message)"}])]


def test_an_empty_question_after_system_messages_keeps_them_there() -> None:
    made = converted(said("system", "Be brief."), said("user", "  "))
    assert made.system == [{"text": "Be brief."}]
    assert made.messages == [{"role": "user", "content": [{"text": "(empty message)"}]}]


def test_what_is_blank_is_left_out_with_its_cache_point() -> None:
    blank = {"type": "text", "text": " \n", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert turns(said("user", [blank, {"type": "text", "text": "Hi."}])) == [("user", [{"text": "Hi."}])]


def test_an_assistants_refusal_and_sound_are_text() -> None:
    parts = [{"type": "refusal", "refusal": "No."}, {"type": "refusal", "refusal": ""}]
    audio = {"id": "audio_1", "transcript": "Spoken."}
    made = turns(
        said("user", "a"),
        said("assistant", parts),
        said("assistant", None, refusal="Never."),
        said("assistant", None, audio=audio),
        said("assistant", "Written.", audio=audio),
        said("user", "b"),
    )
    assert made[1] == ("assistant", [{"text": "No."}, {"text": "Never."}, {"text": "Spoken."}, {"text": "Written."}])


def test_results_come_first_in_one_turn_in_the_order_of_their_calls() -> None:
    made = turns(
        said("user", "a"),
        calling(("one", '{"x": 1.50}'), ("two", ""), ("three", "[1]"), content="Calling."),
        result("three", ""),
        result("one", '{"temp": 21.0}'),
        result("two", [{"type": "text", "text": "Os"}, {"type": "text", "text": "lo"}]),
        said("user", "b"),
    )
    assert [role for role, _ in made] == ["user", "assistant", "user"]
    assert [block["toolUse"]["toolUseId"] for block in made[1][1][1:]] == ["one", "two", "three"]
    assert made[1][1][2] == {"toolUse": {"toolUseId": "two", "name": "f", "input": {}}}
    assert made[1][1][3]["toolUse"]["input"] == {"_raw": "[1]"}
    assert [block.get("toolResult", {}).get("toolUseId") for block in made[2][1]] == ["one", "two", "three", None]
    assert made[2][1][1]["toolResult"]["content"] == [{"text": "Os"}, {"text": "lo"}]
    assert made[2][1][2]["toolResult"]["content"] == [{"text": "(no output)"}]


@pytest.mark.parametrize("arguments", ["{", '{"a"', "nonsense"])
def test_arguments_that_are_no_object_stay_readable(arguments: str) -> None:
    made = turns(said("user", "a"), calling(("one", arguments)), result("one", arguments))
    assert made[1][1][0]["toolUse"]["input"] == {"_raw": arguments}
    assert made[2][1][0]["toolResult"]["content"] == [{"text": arguments}]


def test_free_text_tools_and_deprecated_calls() -> None:
    custom = {"id": "one", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    made = turns(
        said("user", "a"),
        said("assistant", None, tool_calls=[custom]),
        result("one", "x"),
        said("assistant", None, function_call={"name": "g.h", "arguments": "{}"}),
        said("function", "y", name="g.h"),
    )
    assert made[1][1] == [{"toolUse": {"toolUseId": "one", "name": "sh", "input": {"input": "ls"}}}]
    assert made[3][1][0]["toolUse"]["name"] == "g_h"
    assert made[4][1][0]["toolResult"]["toolUseId"] == made[3][1][0]["toolUse"]["toolUseId"]


@pytest.mark.parametrize("call_id", ["tooluse_1.2:3-4", "é", "call|1", "x" * 65, "x" * 900])
def test_ids_are_the_hosts_and_stay_linked(call_id: str) -> None:
    made = turns(said("user", "a"), calling((call_id, "{}")), result(call_id, "b"))
    sent = made[1][1][0]["toolUse"]["toolUseId"]
    assert made[2][1][0]["toolResult"]["toolUseId"] == sent
    assert len(sent) <= 64
    assert (sent == call_id) == (call_id == "tooluse_1.2:3-4")


def test_ids_that_return_get_a_name_of_their_own() -> None:
    made = turns(
        said("user", "a"),
        calling(("c", "{}")),
        result("c", "1"),
        calling(("c", "{}")),
        result("c", "2"),
        said("user", "b"),
    )
    first, second = made[1][1][0]["toolUse"]["toolUseId"], made[3][1][0]["toolUse"]["toolUseId"]
    assert first != second
    assert made[4][1][0]["toolResult"] == {"toolUseId": second, "content": [{"text": "2"}]}


THINKING = (
    SealedThinking(redacted="AA=="),
    SealedThinking("Hm.", "S1=="),
    SealedThinking("", "S2==", calls_before=1),
    SealedThinking("Then.", "S3==", calls_before=7),
    SealedThinking("Unsigned."),
    SealedThinking(detail={"type": "reasoning.text"}),
)
LOOP = (said("user", "a"), calling(("one", "{}"), ("two", "{}"), content="b"), result("one", "1"), result("two", "2"))


def test_sealed_thinking_goes_back_in_its_place_and_ids_as_they_were() -> None:
    turn = ToolTurn("m", CLAUDE.name, THINKING, upstream_ids={"one": "tooluse_A", "two": "tooluse_B"})
    made = converted(*LOOP, to=CLAUDE, prepared=Prepared(turns={"one": turn, "two": turn}))
    assert made.has_thinking
    assert made.messages[1]["content"] == [
        {"reasoningContent": {"redactedContent": "AA=="}},
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "S1=="}}},
        {"text": "b"},
        {
            "toolUse": {
                "toolUseId": "tooluse_A",
                "name": "f",
                "input": made.messages[1]["content"][3]["toolUse"]["input"],
            }
        },
        {"reasoningContent": {"reasoningText": {"text": "", "signature": "S2=="}}},
        {
            "toolUse": {
                "toolUseId": "tooluse_B",
                "name": "f",
                "input": made.messages[1]["content"][5]["toolUse"]["input"],
            }
        },
        {"reasoningContent": {"reasoningText": {"text": "Then.", "signature": "S3=="}}},
    ]
    assert [block["toolResult"]["toolUseId"] for block in made.messages[2]["content"]] == ["tooluse_A", "tooluse_B"]


def test_another_hosts_thinking_and_ids_stay_where_they_are() -> None:
    turn = ToolTurn("m", "elsewhere/model", THINKING, upstream_ids={"one": "tooluse_A"})
    made = converted(*LOOP, to=CLAUDE, prepared=Prepared(turns={"one": turn}))
    assert not made.has_thinking
    assert [next(iter(block)) for block in made.messages[1]["content"]] == ["text", "toolUse", "toolUse"]
    assert made.messages[1]["content"][1]["toolUse"]["toolUseId"] == "one"


def test_a_document_has_a_text_beside_it() -> None:
    made = turns(said("user", [PDF, PDF]), said("assistant", "a"), said("user", [PDF, {"type": "text", "text": "?"}]))
    assert [next(iter(block)) for block in made[0][1]] == ["document", "document", "text"]
    assert [block["document"]["name"] for block in made[0][1][:2]] == ["a", "a (2)"]
    assert [next(iter(block)) for block in made[2][1]] == ["document", "text"]


def test_a_document_goes_by_its_filename_only_where_that_may_be_sent() -> None:
    request = ask([said("user", [PDF])])
    made = conversation(request, PLAIN, Prepared(), Disposed(frozenset(), (), ()))
    assert made.messages[0]["content"][0]["document"]["name"] == "document"


def test_media_of_every_kind() -> None:
    media = {"https://a/b.png": Media(b"\x89PNG", "image/png")}
    parts = [
        {"type": "image_url", "image_url": {"url": "https://a/b.png"}, "prompt_cache_breakpoint": {"mode": "explicit"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
    ]
    made = converted(said("user", parts), prepared=Prepared(media=media))
    assert made.messages[0]["content"] == [
        {"image": {"format": "png", "source": {"bytes": "iVBORw=="}}},
        {"cachePoint": {"type": "default"}},
        {"audio": {"format": "mp3", "source": {"bytes": "AAAA"}}},
    ]


def test_a_file_that_another_vendor_keeps_is_refused() -> None:
    request = ask([said("user", [{"type": "file", "file": {"file_id": "file-1"}}])])
    with pytest.raises(InvalidRequest) as caught:
        conversation(request, PLAIN, Prepared(), dispose(request, PLAIN))
    assert caught.value.param == "messages[0].content[0].file.file_id"
    assert caught.value.code == "unsupported_parameter"


def test_marks_on_results_stand_behind_them() -> None:
    text = {"type": "text", "text": "b", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}
    made = turns(said("user", "a"), calling(("one", "{}")), result("one", [text]))
    assert made[2][1] == [
        {"toolResult": {"toolUseId": "one", "content": [{"text": "b"}]}},
        {"cachePoint": {"type": "default", "ttl": "1h"}},
    ]


def test_marks_stay_behind_where_the_host_refuses_them() -> None:
    refused = frozenset({"messages[].content[].prompt_cache_breakpoint"})
    to = make_target(vendor=make_vendor(format=Format.BEDROCK, refuses=refused))
    part = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert turns(said("user", [part]), to=to) == [("user", [{"text": "a"}])]
