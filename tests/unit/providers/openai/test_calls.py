"""Tool calls in fragments."""

from typing import Any

import pytest

from core.errors import BadReply
from core.events import Event, ToolCallDelta, ToolCallStarted, fold
from core.providers.openai.calls import CallAssembler


def events(*fragments: Any, custom: frozenset[str] = frozenset()) -> list[Event]:
    made: list[Event] = []
    calls = CallAssembler(0, custom)
    for fragment in fragments:
        calls.add(fragment, made)
    calls.end(made)
    return made


def calls(*fragments: Any, custom: frozenset[str] = frozenset()) -> list[tuple[str, str, str]]:
    choices = fold(events(*fragments, custom=custom)).choices
    return [(call.id, call.name, call.arguments) for choice in choices for call in choice.tool_calls]


def piece(arguments: Any = None, name: str | None = None, **members: Any) -> dict[str, Any]:
    return {**members, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        # OpenAI's own
        ([piece("", "f", index=0, id="a"), piece('{"x":', index=0), piece("1}", index=0)], [("a", "f", '{"x":1}')]),
        # interleaved
        (
            [
                piece("", "f", index=0, id="a"),
                piece("", "g", index=1, id="b"),
                piece("1", index=0),
                piece("2", index=1),
            ],
            [("a", "f", "1"), ("b", "g", "2")],
        ),
        # counted from 1, with a gap
        ([piece("1", "f", index=1, id="a"), piece("2", "g", index=3, id="b")], [("a", "f", "1"), ("b", "g", "2")]),
        # index missing
        ([piece("1", "f", id="a"), piece("2"), piece("3", "g", id="b")], [("a", "f", "12"), ("b", "g", "3")]),
        ([piece("1", "f", id="a"), piece("2", "f", id="b"), piece("3", id="a")], [("a", "f", "13"), ("b", "f", "2")]),
        ([piece("1", "f", index=True, id="a")], [("a", "f", "1")]),
        # the id on every fragment; made up anew for every fragment; null or empty later
        ([piece("1", "f", index=0, id="a"), piece("2", "f", index=0, id="a")], [("a", "f", "12")]),
        ([piece("1", "f", index=0, id="a"), piece("2", index=0, id="z")], [("a", "f", "12")]),
        ([piece("1", "f", index=0, id="a"), piece("2", index=0, id="")], [("a", "f", "12")]),
        # one index for all
        ([piece("1", "f", index=0, id="a"), piece("2", "f", index=0, id="b")], [("a", "f", "1"), ("b", "f", "2")]),
        # no ids at all
        ([piece("{}", "f", index=0), piece("{}", "f", index=0)], [("", "f", "{}"), ("", "f", "{}")]),
        ([piece('{"x":', "f", index=0), piece("1}", "f", index=0)], [("", "f", '{"x":1}')]),
        ([piece("{}", "f", index=0), piece("{}", "g", index=0)], [("", "f", "{}"), ("", "g", "{}")]),
        ([piece("", "f"), piece("", "g")], [("", "f", ""), ("", "g", "")]),
        # the name in pieces, or again and again
        ([piece("", "get_", index=0), piece("{}", "weather", index=0)], [("", "get_weather", "{}")]),
        ([piece("", "get_", index=0, id="a"), piece("", "weather", index=0)], [("a", "get_weather", "")]),
        ([piece("", "get_", index=0, id="a"), piece("", "weather", index=0, id="a")], [("a", "get_weather", "")]),
        ([piece("", "f", index=0), piece("", "f", index=0), piece("{}", "f", index=0)], [("", "f", "{}")]),
        ([piece("", "f", index=0), piece("", "g", index=0, id="b")], [("", "f", ""), ("b", "g", "")]),
        (
            [piece("", "f", index=0), piece("", "g", index=1), piece("{}", "h", index=0)],
            [("", "f", ""), ("", "g", ""), ("", "h", "{}")],
        ),
        ([piece("{}", "f"), piece("", "f")], [("", "f", "{}")]),
        # the id after the name, the name after the arguments
        ([piece("", "f", index=0), piece("1", index=0, id="a")], [("a", "f", "1")]),
        ([piece("1", index=0, id="a"), piece("2", "f", index=0)], [("a", "f", "12")]),
        # arguments in other forms
        ([piece({"b": 1, "a": [2]}, "f", index=0, id="a")], [("a", "f", '{"b":1,"a":[2]}')]),
        ([piece(None, "f", index=0, id="null")], [("", "f", "")]),
        ([{"index": 0, "id": 7, "function": {"name": "f"}}], [("", "f", "")]),
        # nothing
        ([{"index": 0}, {"index": 0, "function": None}], []),
    ],
)
def test_fragments_become_calls(fragments: list[Any], expected: list[tuple[str, str, str]]) -> None:
    assert calls(*fragments) == expected


def test_a_start_comes_first_and_every_piece_as_it_comes() -> None:
    made = events(piece("1", index=0, id="a"), piece("2", "f", index=0), piece("3", index=0))
    assert made == [
        ToolCallStarted(0, 0, "a", "f"),
        ToolCallDelta(0, 0, "1"),
        ToolCallDelta(0, 0, "2"),
        ToolCallDelta(0, 0, "3"),
    ]


@pytest.mark.parametrize("fragment", ["f", None, piece("1", index=0), {"function": {"arguments": "1"}}])
def test_what_belongs_to_no_call_is_a_bad_reply(fragment: Any) -> None:
    with pytest.raises(BadReply):
        events(fragment)


def test_a_call_that_never_gets_a_name_is_a_bad_reply() -> None:
    with pytest.raises(BadReply):
        events(piece("1", index=0, id="a"))


def test_custom_calls_come_as_text() -> None:
    made = events({"index": 0, "id": "a", "custom": {"name": "shell", "input": "l"}}, {"custom": {"input": "s"}})
    assert made == [
        ToolCallStarted(0, 0, "a", "shell", "custom"),
        ToolCallDelta(0, 0, "l"),
        ToolCallDelta(0, 0, "s"),
    ]


def test_functions_that_stand_for_custom_tools_are_held_and_unwrapped() -> None:
    shell = frozenset({"shell"})
    made = events(piece('{"inp', "shell", index=0, id="a"), piece('ut":"ls"}', index=0), custom=shell)
    assert made == [ToolCallStarted(0, 0, "a", "shell", "custom"), ToolCallDelta(0, 0, "ls")]
    late = events(piece('{"input":', index=0, id="a"), piece('"ls"}', "shell", index=0), custom=shell)
    assert late == made


def test_what_is_held_comes_out_once() -> None:
    assembler = CallAssembler(0, frozenset({"shell"}))
    made: list[Event] = []
    assembler.add(piece('{"input":"ls"}', "shell", index=0, id="a"), made)
    assembler.end(made)
    assembler.end(made)
    assert len(made) == 2


def test_deprecated_calls_are_calls() -> None:
    assembler = CallAssembler(0, frozenset())
    made: list[Event] = []
    for fragment in ({"name": "f", "arguments": ""}, {"arguments": "{}"}, "odd"):
        assembler.add_legacy(fragment, made)
    assert made == [ToolCallStarted(0, 0, "", "f"), ToolCallDelta(0, 0, "{}")]
    assert assembler.count == 1
