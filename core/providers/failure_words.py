"""Says an upstream's failure to a caller, without naming the host, its addresses or anybody's keys."""

import re
from typing import Final

from core.catalog.model import Target
from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    Interrupted,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
)
from core.providers.http_errors import ErrorBody

MAX_WORDS: Final = 300

_GENERIC: Final[dict[type[UpstreamFailure], str]] = {
    UpstreamRejected: "The model's host says that the request is wrong. "
    "Check its parameters against what the model supports.",
    ContextTooLong: "The prompt does not fit the model's context window. "
    "Shorten it, lower max_tokens, or choose a model with a larger window.",
    ContentRefused: "The content was declined before the model answered.",
    UpstreamRateLimited: "The model is asked too often at the moment. Try again later.",
    ModelUnavailable: "The model is not available at the moment. Try again, or choose another.",
    AccountFailure: "The gateway has no access to the model at the moment. Choose another model.",
    BadReply: "The model's answer could not be read. Send the request again.",
    Interrupted: "The model's answer broke off before it was complete. Send the request again.",
}
_OTHERWISE: Final = "The model's host failed to answer. Try again, or choose another model."

# Hosts and makers of APIs; a message may name another one than the vendor that was asked.
_PROVIDERS: Final = (
    "openai",
    "azure",
    "microsoft",
    "anthropic",
    "google",
    "vertex ai",
    "vertex",
    "ai studio",
    "amazon",
    "aws",
    "bedrock",
    "groq",
    "together ai",
    "together.ai",
    "deepseek",
    "mistral ai",
    "mistral",
    "xai",
    "x.ai",
    "openrouter",
    "fireworks",
    "cerebras",
    "sambanova",
    "deepinfra",
    "novita",
    "moonshot",
    "zhipu",
    "minimax",
    "alibaba",
    "dashscope",
    "nebius",
    "baseten",
    "vllm",
    "llama.cpp",
)
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+|\b[\w.+-]+@[\w-]+\.[\w.]+|\b\d{1,3}(?:\.\d{1,3}){3}\S*")
_SECRET: Final = re.compile(
    r"\b(?:sk|gsk|xai|tgp|hr)[-_][\w*.-]{4,}"
    r"|\b(?:key|pk|rk|org|proj|req|user|acct)[-_](?=[\w*.-]*\d)[\w*.-]{6,}"
    r"|\bbearer\s+\S+"
    r"|[\w+/=-]*\*{3,}[\w+/=-]*"  # keys shown in part
    r"|\b(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+/=-]{24,}",  # long tokens, hashes, UUIDs
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"\s+")


def caller_message(kind: type[UpstreamFailure], said: ErrorBody, target: Target) -> str:
    """What a caller is told: general words, and the host's own, cleaned, where the request is at fault."""
    words = _GENERIC.get(kind, _OTHERWISE)
    if kind is not UpstreamRejected:
        return words
    told = cleaned(said.message, target)
    return f"{words} It says: {told}" if told else words


def bad_reply(detail: str) -> BadReply:
    """The failure of an answer that is none.

    Args:
        detail: What is wrong with it, for the operator.
    """
    return BadReply(_GENERIC[BadReply], detail=detail)


def interrupted() -> Interrupted:
    """The failure of an answer that broke off."""
    return Interrupted(_GENERIC[Interrupted])


def cleaned(message: str, target: Target) -> str:
    """A host's message without addresses, keys, ids and names of hosts, on one line, cut short.

    The host's name for the model becomes the catalog's.
    """
    text = _SPACE.sub(" ", message).strip()
    text = text.replace(target.host.upstream_model, target.model.id)
    text = _ADDRESS.sub("(address)", text)
    text = _SECRET.sub("(removed)", text)
    text = _names(target.vendor.name).sub("the host", text)
    return text if len(text) <= MAX_WORDS else text[: MAX_WORDS - 1].rstrip() + "…"


def _names(vendor: str) -> re.Pattern[str]:
    listed = [re.escape(name) for name in sorted({vendor, *_PROVIDERS}, key=len, reverse=True)]
    # An English word is a name only where it is written like one.
    either = "|".join([*(name for name in listed if name != "together"), "(?-i:Together)"])
    # A name inside a longer one with hyphens is a model's (`mistral-large`).
    one = rf"(?<![\w/-])(?:{either})(?![\w/-])"
    return re.compile(rf"{one}(?: {one})*", re.IGNORECASE)
