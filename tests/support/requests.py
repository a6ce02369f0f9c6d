"""Canonical requests for tests, read from callers' JSON as the plain surface reads it."""

import orjson

from core.chat import ChatRequest, Json
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN


def ask(messages: list[Json] | str = "Hi.", **members: Json) -> ChatRequest:
    """A request with these messages (or one user turn with this text) and these members."""
    turns = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return parse_chat(orjson.dumps({"model": "m", "messages": turns, **members}), PLAIN).request
