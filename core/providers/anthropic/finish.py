"""Why an answer ended, in Anthropic's words."""

from collections.abc import Mapping
from typing import Final

from core.chat import FinishReason

# Wire reference, 9.1, read 2026-11-30. A paused turn goes on only with server tools, which are not used.
FINISH: Final[Mapping[str, FinishReason]] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "pause_turn": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "refusal": FinishReason.CONTENT_FILTER,
}


def finish_reason(word: str) -> FinishReason:
    """The canonical reason; a word that nobody documents ends an answer like any other."""
    return FINISH.get(word, FinishReason.STOP)
