"""Keeps out of a failure's message what a host repeats of the call: the key that it was sent, the caller's own text.

A host's verdict on a request is told to its caller in the host's words, and some hosts quote all that they got.
"""

from collections.abc import Iterator
from typing import Final

from core.chat import ChatRequest, RefusalPart, TextPart
from core.errors import UpstreamFailure
from core.providers.base import Credential
from core.providers.failure_words import general_words

RUN: Final = 24
"""How many characters in a row that are the caller's count as a quotation; fewer may be anybody's."""

STEP: Final = 8
SHORTEST: Final = 8
"""A text of a caller's that is shorter than this is not looked for."""


def silence(error: UpstreamFailure, request: ChatRequest, credential: Credential) -> None:
    """Put general words in the place of a message that repeats the key, or what the caller wrote."""
    words = general_words(type(error))
    if error.message == words:
        return
    secrets = (credential.key, credential.secret_key, credential.session_token)
    if any(secret and secret in error.message for secret in secrets) or quotes(error.message, request):
        error.message = words


def quotes(message: str, request: ChatRequest) -> bool:
    """Whether a message repeats one of the request's texts, or a long run of one."""
    runs = [message[start : start + RUN] for start in range(0, len(message) - RUN + 1, STEP)]
    for text in _texts(request):
        if SHORTEST <= len(text) <= len(message) and " ".join(text.split()) in message:
            return True
        if len(text) >= RUN and any(run in text for run in runs):
            return True
    return False


def _texts(request: ChatRequest) -> Iterator[str]:
    for message in request.messages:
        for part in message.parts:
            match part:
                case TextPart(text=text) | RefusalPart(refusal=text):
                    yield text
                case _:  # media: nobody quotes those in words
                    pass
        yield from (call.arguments for call in message.tool_calls)
        if message.reasoning_content:
            yield message.reasoning_content
