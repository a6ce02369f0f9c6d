"""Thinking out of deltas."""

from typing import Any

import pytest

from core.chat import SealedThinking
from core.events import Event, ThinkingSealed
from core.providers.openai.reasoning import ReasoningReader

TEXT = {"type": "reasoning.text", "text": "a"}


def texts(*deltas: dict[str, Any]) -> list[str]:
    reader = ReasoningReader(0)
    return [reader.text(delta) for delta in deltas]


def sealed(*lists: Any, is_whole: bool = False, calls: int = 0) -> list[SealedThinking]:
    reader = ReasoningReader(0)
    for details in lists:
        reader.collect(details, calls, is_whole=is_whole)
    events: list[Event] = []
    reader.end(events)
    reader.end(events)
    return [event.block for event in events if isinstance(event, ThinkingSealed)]


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        ([{"reasoning_content": "a"}, {"reasoning_content": "b"}], ["a", "b"]),
        ([{"reasoning": "a"}], ["a"]),
        ([{"reasoning": "a", "reasoning_content": "a"}], ["a"]),
        ([{"reasoning_content": "", "reasoning": "a"}], ["a"]),
        ([{"reasoning_content": "a"}, {"reasoning": "a"}], ["a", ""]),
        ([{"reasoning": {"odd": 1}}, {"content": "x"}], ["", ""]),
        ([{"reasoning_details": [TEXT, {"type": "reasoning.summary", "summary": "b"}]}], ["ab"]),
        ([{"reasoning_details": [{"type": "reasoning.encrypted", "data": "d"}, "odd"]}], [""]),
        ([{"reasoning": "a", "reasoning_details": [TEXT]}], ["a"]),
        ([{"reasoning_details": "odd"}], [""]),
    ],
)
def test_thinking_is_read_from_one_field(deltas: list[dict[str, Any]], expected: list[str]) -> None:
    assert texts(*deltas) == expected


@pytest.mark.parametrize(
    ("lists", "details"),
    [
        ([[{**TEXT, "index": 0}], [{**TEXT, "index": 0, "text": "b"}]], [{**TEXT, "index": 0, "text": "ab"}]),
        (
            [
                [{**TEXT, "index": 0}],
                [{**TEXT, "index": 1}],
                [{"type": "reasoning.text", "index": 0, "signature": "s"}],
            ],
            [{**TEXT, "index": 0, "signature": "s"}, {**TEXT, "index": 1}],
        ),
        ([[TEXT], [TEXT]], [{**TEXT, "text": "aa"}]),
        ([[TEXT], [{**TEXT, "index": 0}]], [TEXT, {**TEXT, "index": 0}]),
        (
            [[{"type": "reasoning.encrypted", "data": "d"}], [{"type": "reasoning.encrypted", "data": "e"}]],
            [{"type": "reasoning.encrypted", "data": "d"}, {"type": "reasoning.encrypted", "data": "e"}],
        ),
        ([[{**TEXT, "text": None}], [{**TEXT, "format": None}]], [TEXT | {"text": "a"}]),
        ([None, "odd", ["odd"]], []),
    ],
)
def test_details_are_put_together_by_index(lists: list[Any], details: list[Any]) -> None:
    assert [block.detail for block in sealed(*lists)] == details


def test_details_of_a_whole_answer_are_left_alone() -> None:
    assert [block.detail for block in sealed([TEXT, TEXT], is_whole=True)] == [TEXT, TEXT]


def test_details_know_how_many_calls_preceded_them() -> None:
    assert sealed([TEXT], calls=2) == [SealedThinking(detail=TEXT, calls_before=2)]
