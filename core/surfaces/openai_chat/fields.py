"""The top-level fields of a chat completion and what each may hold (OpenAI API reference, read 2026-11-30), as a table.

Rules between fields are not here.
"""

from typing import Final

from core.chat import Json, ResponseFormat
from core.surfaces.openai_chat.checks import (
    LARGEST,
    At,
    Table,
    anything,
    array,
    boolean,
    free_object,
    integer,
    named,
    number,
    one_of,
    record,
    string,
    up_to,
    variant,
    wrong,
    wrong_type,
)
from core.surfaces.openai_chat.messages import messages
from core.surfaces.openai_chat.parts import content_of
from core.surfaces.openai_chat.preferences import preferences
from core.surfaces.openai_chat.tools import function_call, functions, identifier, tool_choice, tools

_MOST_METADATA: Final = 16
_LONGEST_MODEL: Final = 256


def _model(value: Json, at: At) -> str:
    return str(_MODEL(named(value, at), at))


_MODEL: Final = up_to(_LONGEST_MODEL)
_BIAS: Final = integer(-100, 100)
_METADATA_VALUE: Final = up_to(512)
_METADATA_KEY: Final = 64


def _logit_bias(value: Json, at: At) -> Json:
    for token, bias in free_object(value, at).items():
        _BIAS(bias, (at, token))
    return value


def _metadata(value: Json, at: At) -> Json:
    if len(free_object(value, at)) > _MOST_METADATA:
        raise wrong(at, f"must have at most {_MOST_METADATA} entries; it has {len(value)}.")
    for key, text in value.items():
        if len(key) > _METADATA_KEY:
            raise wrong((at, key), f"must have a name of at most {_METADATA_KEY} characters.")
        _METADATA_VALUE(text, (at, key))
    return value


def _stop(value: Json, at: At) -> tuple[str, ...]:
    if type(value) is str:
        return (value,)
    if type(value) is list:
        return tuple(_SEQUENCES(value, at))
    raise wrong_type(at, "a string or an array of strings", value)


_SEQUENCES: Final = array(string, most=4)


def _voice(value: Json, at: At) -> Json:
    return value if type(value) is str else _VOICE(value, at)


_VOICE: Final = record({"id": named}, ("id",))


def _response_format(value: Json, at: At) -> ResponseFormat:
    got = _FORMAT(value, at)
    return ResponseFormat(got.pop("type"), **got.get("json_schema", {}))


_TYPE: Final[Table] = {"type": anything}
_JSON_SCHEMA: Final = record(
    {"name": identifier, "description": string, "schema": free_object, "strict": boolean}, ("name",)
)
_FORMAT: Final = variant(
    {
        "text": record(_TYPE),
        "json_object": record(_TYPE),
        "json_schema": record({**_TYPE, "json_schema": _JSON_SCHEMA}, ("json_schema",)),
    }
)
_MODERATED: Final = record({"mode": one_of("score", "block")}, ("mode",))
_APPROXIMATE: Final = record({"city": string, "country": string, "region": string, "timezone": string})

FIELDS: Final[Table] = {
    "audio": record(
        {"format": one_of("wav", "aac", "mp3", "flac", "opus", "pcm16"), "voice": _voice}, ("format", "voice")
    ),
    "extended_thinking": boolean,
    "frequency_penalty": number(-2, 2),
    "function_call": function_call,
    "functions": functions,
    "logit_bias": _logit_bias,
    "logprobs": boolean,
    "max_completion_tokens": integer(1, LARGEST),
    "max_tokens": integer(1, LARGEST),
    "messages": messages,
    "metadata": _metadata,
    "modalities": array(one_of("text", "audio")),
    "model": _model,
    "moderation": record({"model": named, "policy": record({"input": _MODERATED, "output": _MODERATED})}, ("model",)),
    "n": integer(1, 128),
    "parallel_tool_calls": boolean,
    "prediction": record({"type": one_of("content"), "content": content_of("text")}, ("type", "content")),
    "presence_penalty": number(-2, 2),
    "prompt_cache_key": string,
    "prompt_cache_options": record({"mode": one_of("implicit", "explicit"), "ttl": one_of("30m")}),
    "prompt_cache_retention": one_of("in_memory", "24h"),
    "reasoning_effort": one_of("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "response_format": _response_format,
    "routing": preferences,
    "safety_identifier": up_to(128),
    "seed": integer(-LARGEST - 1, LARGEST),
    "service_tier": one_of("auto", "default", "flex", "scale", "priority", "fast"),
    "stop": _stop,
    "store": boolean,
    "stream": boolean,
    "stream_options": record({"include_usage": boolean, "include_obfuscation": boolean}),
    "temperature": number(0, 2),
    "tool_choice": tool_choice,
    "tools": tools,
    "top_logprobs": integer(0, 20),
    "top_p": number(0, 1),
    "user": string,
    "verbosity": one_of("low", "medium", "high"),
    "web_search_options": record(
        {
            "search_context_size": one_of("low", "medium", "high"),
            "user_location": record(
                {"type": one_of("approximate"), "approximate": _APPROXIMATE}, ("type", "approximate")
            ),
        }
    ),
}
"""The 37 fields of OpenAI's, and our two."""
