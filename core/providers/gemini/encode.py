"""The request to a Gemini-format host, built from the canonical members alone."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import orjson

from core.catalog.model import Target
from core.chat import ChatRequest, Json
from core.providers.base import Outgoing, Prepared
from core.providers.fields import Disposed, refusal
from core.providers.gemini.history import conversation
from core.providers.gemini.schema import cleaned_schema
from core.providers.gemini.thinking import thinking_config
from core.providers.gemini.tools import tool_members
from core.providers.merging import merged

_HEADERS: Final[Mapping[str, str]] = {
    "content-type": "application/json",
    "accept": "text/event-stream",
    "accept-encoding": "identity",  # compressed streams arrive in lumps
}
_VERSION: Final = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")

# As google-genai 3.6.1 sends them; the host's own default is what `auto` asks for.
_TIERS: Final[Mapping[str, str]] = {"default": "standard", "flex": "flex", "priority": "priority", "fast": "priority"}


def outgoing(request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed) -> Outgoing:
    """The unsigned call.

    Raises:
        InvalidRequest: A field that cannot be left out has no form at this target, or a file is of no known type.
    """
    if refused := refusal(disposed, request):
        raise refused
    body, custom_tools = encode_body(request, target, prepared, disposed)
    return Outgoing(
        target=target,
        url=_url(target),
        headers={**_HEADERS, **target.vendor.headers},
        body=orjson.dumps(body),
        custom_tools=custom_tools,
        choices=request.n,
    )


def encode_body(
    request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed
) -> tuple[dict[str, Json], frozenset[str]]:
    """The body, and the names of the free-text tools that stand in it as functions."""
    said = conversation(request, target, prepared)
    body: dict[str, Json] = {"contents": said.contents}
    if said.system:
        body["systemInstruction"] = {"parts": said.system}
    tools = tool_members(request, disposed)
    body.update(tools.members)
    config = {**_limits(request, disposed), **_sampling(request, disposed), **_shape(request, disposed)}
    thinking = thinking_config(request, target)
    if thinking:
        config["thinkingConfig"] = thinking
    if config:
        body["generationConfig"] = config
    tier = _TIERS.get(request.service_tier or "")
    if tier is not None and disposed.sends("service_tier"):
        body["serviceTier"] = tier
    return merged(body, target.host.options), tools.wrapped


def _url(target: Target) -> str:
    """The address, with the host's own API version in the place of the vendor's."""
    address = urlsplit(target.vendor.base_url.rstrip("/"))
    path = address.path
    version = target.host.api_version
    if version:
        own = f"/{quote(version, safe='')}"
        path = _VERSION.sub(own, path, count=1) if _VERSION.search(path) else own + path
    model = quote(target.host.upstream_model, safe="@")
    return urlunsplit(address._replace(path=f"{path}/models/{model}:streamGenerateContent", query="alt=sse"))


def _limits(request: ChatRequest, disposed: Disposed) -> dict[str, Json]:
    members: dict[str, Json] = {}
    limited = disposed.sends("max_completion_tokens") or disposed.sends("max_tokens")
    if request.max_tokens is not None and limited:
        members["maxOutputTokens"] = request.max_tokens
    if request.stop and disposed.sends("stop"):
        members["stopSequences"] = list(request.stop)
    if request.n > 1 and disposed.sends("n"):
        members["candidateCount"] = request.n
    return members


def _sampling(request: ChatRequest, disposed: Disposed) -> dict[str, Json]:
    values = {
        "temperature": ("temperature", request.temperature),
        "top_p": ("topP", request.top_p),
        "presence_penalty": ("presencePenalty", request.presence_penalty),
        "frequency_penalty": ("frequencyPenalty", request.frequency_penalty),
        "seed": ("seed", request.seed),
    }
    members: dict[str, Json] = {
        theirs: value for name, (theirs, value) in values.items() if value is not None and disposed.sends(name)
    }
    if request.logprobs and disposed.sends("logprobs"):
        members["responseLogprobs"] = True
        if request.top_logprobs and disposed.sends("top_logprobs"):
            members["logprobs"] = request.top_logprobs
    return members


def _shape(request: ChatRequest, disposed: Disposed) -> dict[str, Json]:
    """JSON, with its schema where there is one."""
    wanted = request.response_format
    if wanted is None or wanted.type == "text" or not disposed.sends("response_format"):
        return {}
    members: dict[str, Json] = {"responseMimeType": "application/json"}
    if wanted.type == "json_schema" and wanted.schema is not None:
        members["responseJsonSchema"] = cleaned_schema(wanted.schema)
    return members
