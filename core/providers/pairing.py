"""Puts a history's tool results into the order of their calls, and gives ids that return a name of their own.

Anthropic and Bedrock refuse a tool call id that two calls of a conversation share; other hosts hand out `call_0` in
every turn.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from core.chat import Message, Role

RESULTS: Final = (Role.TOOL, Role.FUNCTION)
"""The roles of tool results."""

_Pair: TypeAlias = tuple[str, str]
"""An id as written, and the id that it gets."""


def in_call_order(messages: Sequence[Message]) -> list[Message]:
    """The history, message for message; only results change places, within the run that follows their calls."""
    ordered: list[Message] = []
    results: list[Message] = []
    pairs: list[_Pair] = []
    taken: set[str] = set()
    for message in messages:
        if message.role in RESULTS:
            results.append(message)
            continue
        ordered += _sorted(results, pairs)
        results = []
        pairs = [(call.id, _own(call.id, taken)) for call in message.tool_calls]
        ordered.append(_renamed(message, pairs))
    return ordered + _sorted(results, pairs)


def _sorted(results: Sequence[Message], pairs: Sequence[_Pair]) -> list[Message]:
    left = list(results)
    ordered: list[Message] = []
    for written, own in pairs:
        found = next((result for result in left if result.tool_call_id == written), None)
        if found is not None:
            left.remove(found)
            ordered.append(found if own == written else replace(found, tool_call_id=own))
    return ordered + left


def _renamed(message: Message, pairs: Sequence[_Pair]) -> Message:
    if all(written == own for written, own in pairs):
        return message
    calls = zip(message.tool_calls, pairs, strict=True)
    return replace(message, tool_calls=tuple(replace(call, id=own) for call, (_, own) in calls))


def _own(call_id: str, taken: set[str]) -> str:
    own, count = call_id, 1
    while own in taken:
        count += 1
        own = f"{call_id}#{count}"
    taken.add(own)
    return own
