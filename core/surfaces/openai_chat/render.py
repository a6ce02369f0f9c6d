"""Renders a whole reply as OpenAI's chat completion object. Nothing is decided here and no byte is written."""

from collections.abc import Mapping
from typing import Final

from core.chat import Choice, FinishReason, Json, Reply, ToolCall
from core.surfaces.surface import Surface

NOTES: Final = ("system_fingerprint", "service_tier", "moderation", "metadata")
"""Top-level members that a host may add to an answer; others could name the host."""

BLANK_ENDS: Final = frozenset({FinishReason.STOP, FinishReason.LENGTH})
"""The ends of an answer that may be a string of no length; one that was declined has none."""


def render_reply(
    surface: Surface,
    reply: Reply,
    *,
    response_id: str,
    created: int,
    model: str,
    usage: Mapping[str, Json],
    routing: Mapping[str, Json] | None = None,
    legacy_functions: bool = False,
) -> dict[str, Json]:
    """The body of an answer.

    Args:
        surface: Where the request came in.
        reply: The whole answer; each of its choices has ended.
        response_id: In the surface's form.
        created: Unix time in seconds.
        model: The id to show.
        usage: The usage object.
        routing: The decision; it is shown where the surface shows decisions in the body.
        legacy_functions: Whether the caller used the deprecated `functions`.
    """
    body: dict[str, Json] = {
        "id": response_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [_choice(choice, legacy_functions) for choice in reply.choices],
        "usage": usage,
    }
    body.update({name: reply.notes[name] for name in NOTES if name in reply.notes})
    if surface.own_frames and routing is not None:
        body["routing"] = routing
    return body


def finish_reason(reason: FinishReason, legacy_functions: bool) -> str:
    """The reason in OpenAI's words, the deprecated one for callers of deprecated functions."""
    if legacy_functions and reason is FinishReason.TOOL_CALLS:
        return "function_call"
    return reason.value


def _choice(choice: Choice, legacy_functions: bool) -> dict[str, Json]:
    return {
        "index": choice.index,
        "message": _message(choice, legacy_functions),
        "logprobs": None if choice.logprobs is None else {"content": None, "refusal": None, **choice.logprobs},
        "finish_reason": None if choice.finish is None else finish_reason(choice.finish, legacy_functions),
    }


def _message(choice: Choice, legacy_functions: bool) -> dict[str, Json]:
    message: dict[str, Json] = {"role": "assistant", "content": _content(choice), "refusal": choice.refusal}
    if choice.reasoning is not None:
        message["reasoning_content"] = choice.reasoning
    if choice.annotations:
        message["annotations"] = list(choice.annotations)
    if choice.audio is not None:
        message["audio"] = dict(choice.audio)
    if choice.tool_calls and legacy_functions:
        # The deprecated form has room for one call; more than one is not asked for.
        first = choice.tool_calls[0]
        message["function_call"] = {"name": first.name, "arguments": first.arguments}
    elif choice.tool_calls:
        message["tool_calls"] = [_tool_call(call) for call in choice.tool_calls]
    return message


def _content(choice: Choice) -> str | None:
    # As OpenAI does: null beside calls and for what was declined, a string where an answer merely has nothing in it.
    is_blank = choice.is_empty and choice.finish in BLANK_ENDS
    return "" if is_blank else choice.text


def _tool_call(call: ToolCall) -> dict[str, Json]:
    if call.kind == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
