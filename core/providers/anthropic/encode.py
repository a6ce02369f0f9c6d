"""The request to an Anthropic-format host, built from the canonical members alone."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import orjson

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, Json, TextPart
from core.providers.anthropic.caching import AUTOMATIC, MOST_MARKS, settle_marks
from core.providers.anthropic.history import Conversation, conversation
from core.providers.anthropic.thinking import thinking_members
from core.providers.anthropic.tools import tool_members
from core.providers.base import Outgoing, Prepared
from core.providers.fields import Disposed, refusal
from core.providers.merging import merged
from core.tokens import estimated_tokens

NEWEST_VERSION: Final = "2026-10-21"
"""The API version where the catalog names none (Anthropic's SDK 2.13.0, read 2026-11-30)."""

_HEADERS: Final[Mapping[str, str]] = {
    "content-type": "application/json",
    "accept": "text/event-stream",
    "accept-encoding": "identity",  # compressed streams arrive in lumps
}
_TIERS: Final[Mapping[str, str]] = {"default": "standard_only"}
_JSON_ONLY: Final[dict[str, Json]] = {
    "type": "text",
    "text": "Answer with one JSON object and nothing else: no text around it, no code fence.",
}


def outgoing(request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed) -> Outgoing:
    """The unsigned call.

    Raises:
        InvalidRequest: A field that cannot be left out has no form at this target, or a file is of no known type.
    """
    if refused := refusal(disposed, request):
        raise refused
    body, custom_tools = encode_body(request, target, prepared, disposed)
    version = target.host.api_version or NEWEST_VERSION
    headers = {**_HEADERS, "anthropic-version": version}
    url = target.vendor.base_url.rstrip("/")
    if target.has(Quirk.VERTEX_PATH):
        model = quote(body.pop("model"), safe="@")
        url, headers = f"{url}/{model}:streamRawPredict", {**_HEADERS}
        body["anthropic_version"] = version
    else:
        url += "/messages"
    return Outgoing(
        target=target,
        url=url,
        headers={**headers, **target.vendor.headers},
        body=orjson.dumps(body),
        custom_tools=custom_tools,
    )


def encode_body(
    request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed
) -> tuple[dict[str, Json], frozenset[str]]:
    """The body, and the names of the free-text tools that stand in it as functions."""
    said = conversation(request, target, prepared, disposed)
    max_tokens = request.max_tokens or _most_tokens(request, target)
    thinking = thinking_members(
        request, target, max_tokens=max_tokens, has_thinking=said.has_thinking, in_loop=said.in_loop
    )
    body: dict[str, Json] = {
        "model": target.host.upstream_model,
        "max_tokens": max_tokens,
        "messages": said.messages,
        "stream": True,
        **thinking,
    }
    body.update(_caching(request, said, disposed))
    body.update(_sampling(request, disposed))
    _ask_for_json(request, said, body, disposed)
    if said.system:
        body["system"] = said.system
    tools = tool_members(request, target, disposed)
    body.update(tools.members)
    return merged(body, target.host.options), tools.wrapped


def _most_tokens(request: ChatRequest, target: Target) -> int:
    """The limit where the caller sets none; the format insists on one."""
    texts = [part.text for message in request.messages for part in message.parts if isinstance(part, TextPart)]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    room = target.context_tokens - estimated_tokens(sum(len(text.encode()) for text in texts))
    return max(1, min(target.max_output_tokens, room))


def _caching(request: ChatRequest, said: Conversation, disposed: Disposed) -> dict[str, Json]:
    options = request.written.get("prompt_cache_options")
    wants = isinstance(options, Mapping) and options.get("mode") != "explicit"
    is_automatic = wants and disposed.sends("prompt_cache_options")
    settle_marks(said.blocks, MOST_MARKS - is_automatic)
    return {"cache_control": AUTOMATIC} if is_automatic else {}


def _sampling(request: ChatRequest, disposed: Disposed) -> dict[str, Json]:
    members: dict[str, Json] = {}
    if request.temperature is not None and disposed.sends("temperature"):
        members["temperature"] = min(request.temperature, 1)
    if request.top_p is not None and disposed.sends("top_p"):
        members["top_p"] = request.top_p
    stop = [each for each in request.stop if each.strip()]
    if stop and disposed.sends("stop"):
        members["stop_sequences"] = stop
    if request.service_tier is not None and disposed.sends("service_tier"):
        members["service_tier"] = _TIERS.get(request.service_tier, request.service_tier)
    if request.safety_identifier is not None and disposed.sends("safety_identifier"):
        members["metadata"] = {"user_id": request.safety_identifier}
    elif request.user is not None and disposed.sends("user"):
        members["metadata"] = {"user_id": request.user}
    return members


def _ask_for_json(request: ChatRequest, said: Conversation, body: dict[str, Json], disposed: Disposed) -> None:
    """A schema as it is; plain JSON, which the format cannot ask for, in words."""
    wanted = request.response_format
    if wanted is None or wanted.type == "text" or not disposed.sends("response_format"):
        return
    if wanted.type == "json_schema" and wanted.schema is not None:
        shape = {"type": "json_schema", "schema": wanted.schema}
        body["output_config"] = {**body.get("output_config", {}), "format": shape}
    else:
        said.system.append(_JSON_ONLY)
