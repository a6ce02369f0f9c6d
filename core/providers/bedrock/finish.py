"""Why an answer ended, in Converse's words."""

from collections.abc import Mapping
from typing import Final

from core.chat import FinishReason

# Wire reference, 9.1, read 2026-11-30. `refusal` is Claude's own, passed through. A guardrail often only masks what it
# found: what came stays.
FINISH: Final[Mapping[str, FinishReason]] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "content_filtered": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}

# The model wrote what cannot be read: the answer failed, whatever came before.
FAILED: Final = frozenset({"malformed_model_output", "malformed_tool_use"})


def finish_reason(word: str) -> FinishReason:
    """The canonical reason; a word that nobody documents ends an answer like any other."""
    return FINISH.get(word, FinishReason.STOP)
