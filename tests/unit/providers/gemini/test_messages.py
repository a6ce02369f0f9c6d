"""The history in Gemini's words."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Format, Target, Thinking, ThinkingSwitch
from core.chat import SealedThinking
from core.ports import ToolTurn
from core.providers.base import Prepared
from core.providers.gemini.history import UNSIGNED, Conversation, conversation
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

OLD = make_target(vendor=make_vendor(format=Format.GEMINI), thinking_switch=ThinkingSwitch.BUDGET)
NEW = make_target(
    vendor=make_vendor(format=Format.GEMINI),
    abilities=Abilities(thinking=Thinking.ALWAYS),
    thinking_switch=ThinkingSwitch.LEVEL,
)


def said(messages: list[Any], to: Target = OLD, turns: dict[str, ToolTurn] | None = None) -> Conversation:
    return conversation(ask(messages), to, Prepared(turns=turns or {}))


def user(content: Any = "Go.") -> dict[str, Any]:
    return {"role": "user", "content": content}


def called(*calls: tuple[str, str, str], content: Any = None) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def result(call_id: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def texts(*words: str) -> list[dict[str, Any]]:
    return [{"text": each} for each in words]


@pytest.mark.parametrize("echoed", [{}, {"reasoning_content": "h"}], ids=str)
def test_an_empty_answer_is_no_turn(echoed: dict[str, Any]) -> None:
    history = [user("A"), {"role": "assistant", "content": None, "refusal": None, **echoed}]
    assert said(history).contents == [{"role": "user", "parts": texts("A")}]
    assert said([*history, user("B")]).contents == [{"role": "user", "parts": texts("A", "B")}]


def test_roles_and_instructions() -> None:
    got = said(
        [
            {"role": "system", "content": "One."},
            user("Hi."),
            {"role": "assistant", "content": "Hello."},
            {"role": "developer", "content": [{"type": "text", "text": "Two."}, {"type": "text", "text": ""}]},
            user([{"type": "text", "text": "How"}, {"type": "text", "text": "?"}]),
        ]
    )
    assert got.system == texts("One.", "Two.")
    assert got.contents == [
        {"role": "user", "parts": texts("Hi.")},
        {"role": "model", "parts": texts("Hello.")},
        {"role": "user", "parts": texts("How", "?")},
    ]


def test_turns_of_one_role_are_one() -> None:
    got = said([user("A"), user("B"), {"role": "assistant", "content": "C"}, {"role": "assistant", "content": "D"}])
    assert got.contents == [{"role": "user", "parts": texts("A", "B")}, {"role": "model", "parts": texts("C", "D")}]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "system", "content": "Be."}],
        [user("")],
        [user([{"type": "text", "text": ""}]), {"role": "assistant", "content": ""}],
    ],
)
def test_there_is_always_a_user(messages: list[Any]) -> None:
    assert said(messages).contents == [{"role": "user", "parts": texts(" ")}]


def test_a_user_speaks_first() -> None:
    assert said([{"role": "assistant", "content": "Hi."}, user()]).contents == [
        {"role": "user", "parts": texts(" ")},
        {"role": "model", "parts": texts("Hi.")},
        {"role": "user", "parts": texts("Go.")},
    ]


def test_what_an_assistant_said() -> None:
    got = said(
        [
            user(),
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "I"}, {"type": "refusal", "refusal": "cannot"}],
                "refusal": "No.",
                "reasoning_content": "Hm.",
                "audio": {"id": "a", "transcript": "unheard"},
            },
            user(),
            {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Heard."}},
        ]
    )
    assert got.contents[1]["parts"] == texts("I", "cannot", "No.")
    assert got.contents[3]["parts"] == texts("Heard.")


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ("", {}),
        (" \n", {}),
        ("{}", {}),
        ('{"b":1,"a":{"x":[1.5,null]}}', {"b": 1, "a": {"x": [1.5, None]}}),
        ("[1]", {"_raw": "[1]"}),
        ('{"a":', {"_raw": '{"a":'}),
        ("null", {"_raw": "null"}),
        ('{"a":"\\ud83d"}', {"_raw": '{"a":"\\ud83d"}'}),
    ],
)
def test_arguments_are_an_object(arguments: str, args: dict[str, Any]) -> None:
    got = said([user(), called(("c", "f", arguments)), result("c")])
    assert got.contents[1]["parts"] == [{"functionCall": {"name": "f", "args": args}}]


@pytest.mark.parametrize(
    ("content", "response"),
    [
        ('{"temp":21}', {"temp": 21}),
        ("21", {"output": "21"}),
        ("[1]", {"output": "[1]"}),
        ("", {"output": ""}),
        ([{"type": "text", "text": '{"a":'}, {"type": "text", "text": "1}"}], {"a": 1}),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], {"output": "a\nb"}),
        # The host would look for what is referred to.
        ('{"a":{"$ref":"#/x"}}', {"output": '{"a":{"$ref":"#/x"}}'}),
    ],
)
def test_a_result_is_an_object(content: Any, response: dict[str, Any]) -> None:
    got = said([user(), called(("c", "f", "")), result("c", content)])
    assert got.contents[2] == {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}


def test_objects_too_deep_to_be_written_go_as_text() -> None:
    wide = '{"a":[' + ",".join(["{}"] * 300) + "]}"
    deep = '{"a":' * 300 + "1" + "}" * 300
    got = said([user(), called(("c", "f", deep), ("d", "g", wide)), result("c", deep), result("d", wide)])
    assert got.contents[1]["parts"][0]["functionCall"]["args"] == {"_raw": deep}
    assert got.contents[2]["parts"][0]["functionResponse"]["response"] == {"output": deep}
    assert got.contents[2]["parts"][1]["functionResponse"]["response"] == {"a": [{}] * 300}
    orjson.dumps(got.contents)


def test_results_come_together_in_the_order_of_their_calls_and_before_what_follows() -> None:
    got = said(
        [
            user(),
            called(("b", "f", ""), ("a", "g", ""), ("a", "h", "")),
            result("a", "first"),
            result("b", "second"),
            result("a", "third"),
            user("And?"),
        ]
    )
    assert [part.get("functionResponse", part) for part in got.contents[2]["parts"]] == [
        {"name": "f", "response": {"output": "second"}},
        {"name": "g", "response": {"output": "first"}},
        {"name": "h", "response": {"output": "third"}},
        {"text": "And?"},
    ]


def test_one_id_in_two_steps_has_two_names() -> None:
    got = said([user(), called(("a", "f", "")), result("a"), called(("a", "g", "")), result("a")])
    names = [part["functionResponse"]["name"] for turn in got.contents[2::2] for part in turn["parts"]]
    assert names == ["f", "g"]


def test_deprecated_and_free_text_calls() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    got = said(
        [
            user(),
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "ok"},
            {"role": "assistant", "content": None, "tool_calls": [custom]},
            result("c"),
        ]
    )
    assert got.contents[1]["parts"] == [{"functionCall": {"name": "f", "args": {}}}]
    assert got.contents[2]["parts"] == [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]
    assert got.contents[3]["parts"] == [{"functionCall": {"name": "shell", "args": {"input": "ls"}}}]


def remembered(**members: Any) -> ToolTurn:
    return ToolTurn(OLD.model.id, members.pop("host", OLD.name), **members)


CALLS = [user(), called(("c", "f", ""), ("d", "g", ""), content="Let me look."), result("c"), result("d")]


def parts_with(turn: ToolTurn, content: str = "Let me look.") -> list[dict[str, Any]]:
    messages = [CALLS[0], {**CALLS[1], "content": content}, *CALLS[2:]]
    parts: list[dict[str, Any]] = said(messages, turns={"d": turn}).contents[1]["parts"]
    return parts


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}}, **more}


def test_ids_go_back_on_both_sides_or_neither() -> None:
    turn = remembered(upstream_ids={"c": "fc1"}, signatures={"c": "c2ln"})
    got = said(CALLS, turns={"c": turn, "d": turn})
    assert got.contents[1]["parts"][1:] == [
        {"functionCall": {"id": "fc1", "name": "f", "args": {}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    assert [part["functionResponse"].get("id") for part in got.contents[2]["parts"]] == ["fc1", None]


def test_another_hosts_memory_is_worth_nothing() -> None:
    turn = remembered(
        host="other/host",
        upstream_ids={"c": "fc1"},
        signatures={"c": "c2ln"},
        thinking=(SealedThinking("t", "s"),),
    )
    assert said(CALLS, turns={"c": turn}).contents == said(CALLS).contents


def test_each_signature_is_on_the_part_that_it_came_on() -> None:
    turn = remembered(
        thinking=(
            SealedThinking("Hm.", "dGhvdWdodA=="),
            SealedThinking(detail={"text": "Let me", "thoughtSignature": "dGV4dA=="}),
            SealedThinking("", "YmV0d2Vlbg==", calls_before=1),
            SealedThinking("", None, redacted="another form"),
            SealedThinking(detail={"text": "", "thoughtSignature": "ZW5k"}, calls_before=9),
        ),
        signatures={"c": "Y2FsbA=="},
    )
    assert parts_with(turn) == [
        {"text": "Hm.", "thought": True, "thoughtSignature": "dGhvdWdodA=="},
        {"text": "Let me", "thoughtSignature": "dGV4dA=="},
        {"text": " look."},
        call("f", thoughtSignature="Y2FsbA=="),
        {"text": "", "thought": True, "thoughtSignature": "YmV0d2Vlbg=="},
        call("g"),
        {"text": "", "thoughtSignature": "ZW5k"},
    ]


def test_signed_text_that_the_caller_has_changed_goes_without() -> None:
    signed = SealedThinking(detail={"text": "look", "thoughtSignature": "dGV4dA=="})
    end = SealedThinking(detail={"text": "", "thoughtSignature": "ZW5k"})
    assert parts_with(remembered(thinking=(signed, end)), "Other.") == [*texts("Other."), call("f"), call("g")]


FOREIGN = called(("c", "f", ""), ("d", "g", ""))
RESULTS = [result("c"), result("d")]


def signatures(contents: list[dict[str, Any]]) -> list[list[Any]]:
    return [
        [part.get("thoughtSignature") for part in turn["parts"] if "functionCall" in part]
        for turn in contents
        if turn["role"] == "model"
    ]


def test_steps_made_elsewhere_since_the_users_last_words_say_so() -> None:
    old_step = [user(), FOREIGN, *RESULTS]
    got = said([*old_step, user(), FOREIGN, *RESULTS, FOREIGN, *RESULTS], NEW)
    assert signatures(got.contents) == [[None, None], [UNSIGNED, None], [UNSIGNED, None]]


def test_a_user_who_says_nothing_begins_no_turn() -> None:
    got = said([user(), FOREIGN, *RESULTS, user("")], NEW)
    assert signatures(got.contents) == [[UNSIGNED, None]]


def test_a_step_that_is_signed_is_left_alone() -> None:
    turn = ToolTurn(NEW.model.id, NEW.name, signatures={"d": "c2ln"})
    got = said([user(), FOREIGN, *RESULTS], NEW, {"c": turn, "d": turn})
    assert signatures(got.contents) == [[None, "c2ln"]]


def test_models_that_do_not_look_for_signatures_get_no_stand_in() -> None:
    assert signatures(said([user(), FOREIGN, *RESULTS]).contents) == [[None, None]]
    assert signatures(said([user(), {"role": "assistant", "content": "Hi."}], NEW).contents) == [[]]
