"""The request to an OpenAI-format host: the caller's own JSON with what must differ for this host."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import orjson

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, Json
from core.providers.base import Outgoing, Prepared
from core.providers.fields import Disposed, refusal
from core.providers.merging import merged
from core.providers.openai.history import history
from core.providers.openai.thinking import thinking_members
from core.providers.openai.tools import tool_members

# Written from the canonical members below, not copied.
_BUILT: Final = frozenset(
    {
        *("model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"),
        *("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"),
        *("reasoning_effort", "logprobs", "top_logprobs", "stop", "n"),
    }
)

_HEADERS: Final[Mapping[str, str]] = {
    "content-type": "application/json",
    "accept": "text/event-stream",
    "accept-encoding": "identity",  # compressed streams arrive in lumps
}


def outgoing(request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed) -> Outgoing:
    """The unsigned call.

    Raises:
        InvalidRequest: A field that cannot be left out has no form at this target.
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
    body: dict[str, Json] = {
        "model": target.host.upstream_model,
        "messages": history(request, target, prepared, disposed),
        "stream": True,
    }
    if not target.has(Quirk.NO_STREAM_OPTIONS):
        body["stream_options"] = _stream_options(request, disposed)
    for name, value in request.written.items():
        if name not in _BUILT and disposed.sends(name):
            body[target.vendor.renames.get(name, name)] = _in_host_words(name, value, target)
    body.update(_sampling(request, target, disposed))
    tools = tool_members(request, target, disposed)
    body.update(tools.members)
    if tools.members and _may_limit_calls(request, target, disposed):
        body["parallel_tool_calls"] = request.parallel_tool_calls
    for pattern in disposed.reported:
        if pattern not in disposed.kept and ("." in pattern or "[]" in pattern):
            body = _without(body, pattern.replace("[]", ".[]").split("."))
    body = merged(body, target.host.options)
    return merged(body, thinking_members(request, target)), tools.wrapped


def _url(target: Target) -> str:
    url = target.vendor.base_url.rstrip("/")
    if target.has(Quirk.URLS_IN_PATH):
        url += f"/deployments/{quote(target.host.upstream_model, safe='')}"
    url += "/chat/completions"
    version = target.host.api_version
    return f"{url}?api-version={quote(version, safe='')}" if version else url


def _stream_options(request: ChatRequest, disposed: Disposed) -> dict[str, Json]:
    written = request.written.get("stream_options")
    options = dict(written) if isinstance(written, dict) else {}
    if not disposed.sends("stream_options.include_obfuscation"):
        options.pop("include_obfuscation", None)
    # Metered whether or not the caller wants to see it.
    return {**options, "include_usage": True}


def _sampling(request: ChatRequest, target: Target, disposed: Disposed) -> dict[str, Json]:
    """Members whose canonical value counts, not how it was written."""
    members: dict[str, Json] = {}
    limited = disposed.sends("max_completion_tokens") or disposed.sends("max_tokens")
    if request.max_tokens is not None and limited:
        members[_limit_name(target)] = request.max_tokens
    if request.stop and disposed.sends("stop"):
        as_text = isinstance(request.written.get("stop"), str)
        members["stop"] = request.stop[0] if as_text else list(request.stop)
    if request.n > 1 and disposed.sends("n"):
        members["n"] = request.n
    if request.logprobs and disposed.sends("logprobs"):
        if target.has(Quirk.INTEGER_LOGPROBS):
            members["logprobs"] = max(1, request.top_logprobs or 0)
        else:
            members["logprobs"] = True
            if request.top_logprobs is not None and disposed.sends("top_logprobs"):
                members["top_logprobs"] = request.top_logprobs
    return members


def _may_limit_calls(request: ChatRequest, target: Target, disposed: Disposed) -> bool:
    if request.parallel_tool_calls is None:
        return False
    # The deprecated form has room for one call: that was not written, but it was asked for.
    asked = disposed.sends("parallel_tool_calls") or request.legacy_functions
    return asked and not target.refuses("parallel_tool_calls")


def _limit_name(target: Target) -> str:
    return target.host.limit_field or target.vendor.renames.get("max_tokens", "max_tokens")


def _in_host_words(name: str, value: Json, target: Target) -> Json:
    words = target.vendor.values.get(name)
    return words.get(value, value) if words and isinstance(value, str) else value


def _without(value: Json, steps: list[str]) -> Json:
    """A copy without the member at that place; `[]` stands for every item of a list."""
    step, *rest = steps
    if step == "[]":
        return [_without(item, rest) for item in value] if isinstance(value, list) else value
    if not isinstance(value, dict) or step not in value:
        return value
    if not rest:
        return {name: item for name, item in value.items() if name != step}
    return {**value, step: _without(value[step], rest)}
