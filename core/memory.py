"""What an assistant turn with tool calls leaves for the next request of its loop (design: tool-turn memory)."""

from core.catalog.model import Target
from core.chat import Choice
from core.ports import ToolTurn


def tool_turn(target: Target, choice: Choice) -> ToolTurn | None:
    """The turn to remember under the ids of its calls, or None when the choice made no call."""
    if not choice.tool_calls:
        return None
    calls = choice.tool_calls
    return ToolTurn(
        model=target.model.id,
        host=target.name,
        thinking=choice.thinking,
        reasoning=choice.reasoning,
        signatures={call.id: call.signature for call in calls if call.signature is not None},
        upstream_ids={call.id: call.upstream_id for call in calls if call.upstream_id is not None},
    )
