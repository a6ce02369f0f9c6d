"""What of the tool-turn memory goes back to a host: only what that very host made, where it was in its turn."""

from collections.abc import Mapping, Sequence

from core.catalog.model import Target
from core.chat import SealedThinking, ToolCall
from core.ports import ToolTurn


def own_turn(turns: Mapping[str, ToolTurn], calls: Sequence[ToolCall], target: Target) -> ToolTurn | None:
    """What this host left of the turn with these calls; what another one signed is worth nothing here.

    Args:
        turns: Remembered turns, by the ids of their calls.
        calls: The calls of one assistant turn.
        target: The host that the request goes to.
    """
    turn = next((turns[call.id] for call in calls if call.id in turns), None)
    return turn if turn is not None and turn.host == target.name else None


def own_ids(turns: Mapping[str, ToolTurn], target: Target) -> Mapping[str, str]:
    """The ids that this host itself gave to calls, by ours."""
    return {
        call_id: turn.upstream_ids[call_id]
        for call_id, turn in turns.items()
        if turn.host == target.name and turn.upstream_ids.get(call_id)
    }


def after_calls(thinking: Sequence[SealedThinking], calls: int, *, is_last: bool = False) -> list[SealedThinking]:
    """The blocks that came after so many of a turn's calls, in their order; all that came later too, after the last."""
    return [block for block in thinking if block.calls_before == calls or (is_last and block.calls_before > calls)]
