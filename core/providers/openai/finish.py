"""Why an answer ended, in the words of every OpenAI dialect."""

from collections.abc import Mapping
from typing import Final

from core.chat import FinishReason

# Wire reference, 9.1, read 2026-11-30; the others are what clones copy from other formats.
FINISH: Final[Mapping[str, FinishReason]] = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "eos_token": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "safety": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}

# The answer failed, whatever came before: Mistral and OpenRouter, DeepSeek, vLLM.
FAILED: Final = frozenset({"error", "insufficient_system_resource", "abort"})


def finish_reason(word: str) -> FinishReason:
    """The canonical reason; a word that nobody documents ends an answer like any other."""
    return FINISH.get(word.lower(), FinishReason.STOP)
