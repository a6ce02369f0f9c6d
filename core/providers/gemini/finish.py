"""Why an answer ended, in Gemini's words.

`FinishReason` of google-genai 3.6.1, and wire reference, section 9.1, read 2026-11-30.
"""

from collections.abc import Mapping
from typing import Final

from core.chat import FinishReason
from core.errors import UpstreamFailure, UpstreamRejected
from core.providers.failure_words import bad_reply

FINISH: Final[Mapping[str, FinishReason]] = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "CONTINUATION": FinishReason.LENGTH,  # the host's own limit: there is more, in another call
    **dict.fromkeys(
        (
            *("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "MODEL_ARMOR", "RECITATION", "LANGUAGE"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
        ),
        FinishReason.CONTENT_FILTER,
    ),
}

UNCLEAR: Final = frozenset(
    {
        *("OTHER", "FINISH_REASON_UNSPECIFIED", "ESCALATION", "PUP_LIMITED_DISABLED"),
        *("NO_IMAGE", "IMAGE_OTHER"),
    }
)
"""An end like any other where there is something to show; words that nobody documents are taken like these."""

FAILED: Final = frozenset(
    {
        *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS"),
        "MISSING_THOUGHT_SIGNATURE",
    }
)
"""The attempt failed, whatever came before."""

_UNSIGNED: Final = (
    "The model does not take this conversation up in the middle of a tool call that it did not make itself. "
    "Ask again from the last user message on, or choose another model."
)


def finish_reason(word: str, *, has_content: bool) -> FinishReason | None:
    """The canonical reason; None where the word is unclear and nothing came, which is no answer."""
    known = FINISH.get(word)
    return known or (FinishReason.STOP if has_content else None)


def failure(word: str) -> UpstreamFailure:
    """What one of `FAILED` means. What the host says of it may quote the answer: nobody is told."""
    if word == "MISSING_THOUGHT_SIGNATURE":
        return UpstreamRejected(_UNSIGNED, param="messages", detail=word, upstream_code=word)
    return bad_reply(word)
