"""What an OpenAI-format server refuses before any model runs; nothing about what it answers."""

import json
from typing import Any

from tests.support.script import Received

ROLES = {"developer", "system", "user", "assistant", "tool", "function"}


def refusal(request: Received, api_key: str | None = None) -> tuple[int, str] | None:
    """Status and message of the refusal; None when the request is fine.

    The body is checked on `/chat/completions` alone, the credential everywhere.
    """
    if api_key is not None and request.headers.get("authorization") != f"Bearer {api_key}":
        return 401, "Incorrect API key provided"
    if not request.path.partition("?")[0].endswith("/chat/completions"):
        return None
    if request.method != "POST":
        return 405, "Only POST is allowed"
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return 400, "Content-Type is not application/json"
    try:
        body = json.loads(request.body)
    except ValueError:
        return 400, "The body is not JSON"
    if not isinstance(body, dict):
        return 400, "The body is not an object"
    problem = _stream_problem(body, request.headers.get("accept", "*/*")) or _body_problem(body)
    return (400, problem) if problem else None


def _stream_problem(body: dict[str, Any], accept: str) -> str | None:
    streams = body.get("stream") is True
    # OpenAI's own SDK asks for JSON also when it streams.
    taken = ("*/*", "application/json", *(("text/event-stream",) if streams else ()))
    if not any(kind in accept for kind in taken):
        return f"Accept is {accept} with stream {streams}"
    if body.get("stream_options") is not None and not streams:
        return "stream_options is only allowed with stream: true"
    return None


def _body_problem(body: dict[str, Any]) -> str | None:
    if not isinstance(body.get("model"), str):
        return "model is required"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages is required and has at least one message"
    roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
    if unknown := [role for role in roles if role not in ROLES]:
        return f"Unknown role {unknown[0]!r}"
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        return "max_tokens and max_completion_tokens exclude each other"
    return None
