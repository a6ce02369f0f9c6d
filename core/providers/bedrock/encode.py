"""The request to Bedrock's ConverseStream, built from the canonical members alone."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import orjson

from core.catalog.model import Target
from core.chat import ChatRequest, Json
from core.providers.base import Outgoing, Prepared
from core.providers.bedrock.caching import settle_points
from core.providers.bedrock.history import conversation
from core.providers.bedrock.thinking import thinking_members
from core.providers.bedrock.tools import tool_members
from core.providers.fields import Disposed, refusal
from core.providers.merging import merged

_HEADERS: Final[Mapping[str, str]] = {
    "content-type": "application/json",
    "accept": "application/vnd.amazon.eventstream",
    "accept-encoding": "identity",  # compressed streams arrive in lumps
}
_HOTTEST: Final = 1
_JSON_ONLY: Final[dict[str, Json]] = {
    "text": "Answer with one JSON object and nothing else: no text around it, no code fence."
}
_FORMAT: Final = "response_format.json_schema"


def outgoing(request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed) -> Outgoing:
    """The unsigned call.

    Raises:
        InvalidRequest: A field that cannot be left out has no form at this target, or a file is of no known type.
    """
    if refused := refusal(disposed, request):
        raise refused
    body, custom_tools = encode_body(request, target, prepared, disposed)
    # An ARN has slashes. Colons stay: some transports turn `%3A` into one, and what is signed must be what is sent.
    model = quote(target.host.upstream_model, safe=":")
    return Outgoing(
        target=target,
        url=f"{target.vendor.base_url.rstrip('/')}/model/{model}/converse-stream",
        headers={**_HEADERS, **target.vendor.headers},
        body=orjson.dumps(body),
        custom_tools=custom_tools,
    )


def encode_body(
    request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed
) -> tuple[dict[str, Json], frozenset[str]]:
    """The body, and the names of the free-text tools that stand in it as functions."""
    said = conversation(request, target, prepared, disposed)
    settle_points(said.lists)
    tools = tool_members(request, target, disposed)
    thinking = thinking_members(request, target, has_thinking=said.has_thinking)
    text_format = _text_format(request, disposed)
    is_told = text_format is None and _wants_json(request, disposed)
    body: dict[str, Json] = {
        "messages": said.messages,
        "system": [*said.system, _JSON_ONLY] if is_told else said.system,
        "inferenceConfig": _inference(request, disposed),
        **tools.members,
        "outputConfig": {} if text_format is None else {"textFormat": text_format},
        "additionalModelRequestFields": tools.additional,
        "serviceTier": _tier(request, disposed),
        "requestMetadata": request.written["metadata"] if disposed.sends("metadata") else {},
    }
    body = merged(body, target.host.options)
    body = merged(body, {"additionalModelRequestFields": thinking.additional, "outputConfig": thinking.output})
    return {name: value for name, value in body.items() if value}, tools.wrapped


def _inference(request: ChatRequest, disposed: Disposed) -> dict[str, Json]:
    members: dict[str, Json] = {}
    limited = disposed.sends("max_completion_tokens") or disposed.sends("max_tokens")
    if request.max_tokens is not None and limited:
        members["maxTokens"] = request.max_tokens
    if request.temperature is not None and disposed.sends("temperature"):
        members["temperature"] = min(request.temperature, _HOTTEST)
    if request.top_p is not None and disposed.sends("top_p"):
        members["topP"] = request.top_p
    if request.stop and disposed.sends("stop"):
        members["stopSequences"] = list(request.stop)
    return members


def _wants_json(request: ChatRequest, disposed: Disposed) -> bool:
    wanted = request.response_format
    return wanted is not None and wanted.type != "text" and disposed.sends("response_format")


def _text_format(request: ChatRequest, disposed: Disposed) -> dict[str, Json] | None:
    """The schema as it was written, in a string; None where there is none, so that JSON must be asked for in words."""
    wanted = request.response_format
    if wanted is None or wanted.schema is None or not _wants_json(request, disposed):
        return None
    shape: dict[str, Json] = {"schema": orjson.dumps(wanted.schema).decode()}
    if wanted.name is not None and disposed.sends(f"{_FORMAT}.name"):
        shape["name"] = wanted.name
    if wanted.description and disposed.sends(f"{_FORMAT}.description"):
        shape["description"] = wanted.description
    return {"type": "json_schema", "structure": {"jsonSchema": shape}}


def _tier(request: ChatRequest, disposed: Disposed) -> dict[str, Json]:
    tier = request.service_tier
    if tier is None or tier == "auto" or not disposed.sends("service_tier"):
        return {}
    return {"type": tier}
