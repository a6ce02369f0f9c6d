"""The whole history as the upstream gets it: ids, and the rules that some hosts' templates have about neighbours."""

from collections.abc import Sequence
from typing import Final

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, Json
from core.providers.base import Prepared
from core.providers.fields import Disposed
from core.providers.openai.messages import Wording
from core.providers.openai.thinking import is_off
from core.providers.remembered import own_ids
from core.providers.tool_ids import OPENAI_IDS, SHORT_IDS, mapped_ids

_BETWEEN: Final = "\n\n"


def history(request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed) -> list[dict[str, Json]]:
    """The `messages` to send."""
    form = SHORT_IDS if target.has(Quirk.SHORT_TOOL_IDS) else OPENAI_IDS
    wording = Wording(
        target=target,
        prepared=prepared,
        disposed=disposed,
        ids=mapped_ids(request.messages, form, own_ids(prepared.turns, target)),
        reasoning_back=not is_off(request, target),
    )
    messages = [wording.sent(message) for message in request.messages]
    if target.has(Quirk.SINGLE_SYSTEM):
        messages = _one_system(messages)
    if target.has(Quirk.ALTERNATE_ROLES):
        messages = _alternating(messages)
    return messages


def _one_system(messages: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    systems = [message for message in messages if message["role"] in ("system", "developer")]
    others = [message for message in messages if message["role"] not in ("system", "developer")]
    if not systems:
        return others
    first = systems[0]
    for message in systems[1:]:
        first = {**first, "content": _joined(first["content"], message["content"])}
    return [first, *others]


def _alternating(messages: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    merged: list[dict[str, Json]] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is None or message["role"] != last["role"] or message["role"] not in ("user", "assistant"):
            merged.append(message)
            continue
        both = {**last, **message, "content": _joined(last["content"], message["content"])}
        calls = [*last.get("tool_calls", ()), *message.get("tool_calls", ())]
        if calls:
            both["tool_calls"] = calls
        merged[-1] = both
    return merged


def _joined(first: Json, second: Json) -> Json:
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return first + _BETWEEN + second
    return [*_parts(first), *_parts(second)]


def _parts(content: Json) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
