"""Says in the words of the model behind Bedrock whether and how hard to think: Claude's, or its own native field."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.catalog.model import Target
from core.chat import ChatRequest, Json
from core.providers.anthropic.thinking import thinking_members as claude_members
from core.providers.openai.thinking import thinking_members as native_members
from core.providers.thinking import is_claude


@dataclass(frozen=True, slots=True)
class ThinkingMembers:
    """Members for `additionalModelRequestFields` and for `outputConfig`."""

    additional: Mapping[str, Json] = field(default_factory=dict)
    output: Mapping[str, Json] = field(default_factory=dict)


def thinking_members(request: ChatRequest, target: Target, *, has_thinking: bool) -> ThinkingMembers:
    """What to say about thinking; nothing where the model is to do as it likes.

    Args:
        request: What the caller asks.
        target: Where it goes.
        has_thinking: Whether the last turn with tool calls brings its thinking along.
    """
    if not is_claude(target):
        return ThinkingMembers(additional=native_members(request, target))
    limit = request.max_tokens or target.max_output_tokens
    members = claude_members(request, target, max_tokens=limit, has_thinking=has_thinking)
    thinking = {name: value for name, value in members.items() if name != "output_config"}
    return ThinkingMembers(thinking, members.get("output_config", {}))
