"""OpenAI chat completions as callers write and read them: requests in, answers and streams out."""

from core.surfaces.openai_chat.parse import ParsedChat, parse_chat
from core.surfaces.openai_chat.render import render_reply
from core.surfaces.openai_chat.stream import StreamRenderer
from core.surfaces.openai_chat.usage import usage_object

__all__ = ["ParsedChat", "StreamRenderer", "parse_chat", "render_reply", "usage_object"]
