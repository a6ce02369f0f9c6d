"""What Bedrock's own rules say of fields, beyond the table."""

from typing import Any

import pytest

from core.catalog.model import Abilities, Format, Target, Thinking, ThinkingSwitch
from core.providers.fields import dispose
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

TOOL = {"type": "function", "function": {"name": "f"}}


def target(switch: ThinkingSwitch, wire: Format = Format.BEDROCK) -> Target:
    able = Abilities(tools=True, thinking=Thinking.OPTIONAL)
    return make_target(vendor=make_vendor(format=wire), abilities=able, thinking_switch=switch)


CLAUDE, OTHER = target(ThinkingSwitch.ADAPTIVE), target(ThinkingSwitch.NONE)


def test_only_claude_can_be_held_to_one_call() -> None:
    request = ask(tools=[TOOL], parallel_tool_calls=False)
    assert dispose(request, CLAUDE).sends("parallel_tool_calls")
    assert dispose(request, CLAUDE).reported == ()
    assert dispose(request, OTHER).reported == ("parallel_tool_calls",)
    assert dispose(request, target(ThinkingSwitch.NONE, Format.ANTHROPIC)).sends("parallel_tool_calls")
    assert dispose(ask(tools=[TOOL], parallel_tool_calls=True), OTHER).reported == ()


@pytest.mark.parametrize(
    ("metadata", "is_sent"),
    [
        ({"team": "search: a_b@c$d#e=f/g+h,i.j-1"}, True),
        ({"team": ""}, True),
        ({"team": "x" * 256}, True),
        ({"team": "x" * 257}, False),
        ({"": "x"}, False),
        ({"team": "é"}, False),
        ({"t\u2003m": "x"}, False),
        ({"team": "a;b"}, False),
    ],
)
def test_metadata_goes_where_its_characters_do(metadata: dict[str, Any], is_sent: bool) -> None:
    disposed = dispose(ask(metadata=metadata), OTHER)
    assert disposed.sends("metadata") == is_sent
    assert disposed.reported == (() if is_sent else ("metadata",))
    assert not dispose(ask(metadata={"a": "b"}), target(ThinkingSwitch.NONE, Format.GEMINI)).sends("metadata")
