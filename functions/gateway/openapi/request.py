"""The body of a chat completion as schemas: every field with its type, range and meaning, and rules between fields."""

from typing import Any, Final

from core.surfaces.surface import Surface
from functions.gateway.openapi.messages import having, message_schemas, text_content
from functions.gateway.openapi.shapes import (
    Schema,
    anything,
    array,
    either,
    flag,
    free,
    mapping,
    number,
    ref,
    text,
    whole,
    words,
)
from functions.gateway.openapi.space import Space
from functions.gateway.openapi.tools import identifier, tool_choice, tool_schemas

_LARGEST: Final = 2**63 - 1
_TOKENS: Final = "Thinking counts. A limit above what the model can put out is refused with 400."


def request_schemas(surface: Surface) -> dict[str, Schema]:
    """The components of a surface's requests, by their full names."""
    space = Space(surface)
    made = {
        "ChatRequest": {**_chat_request(space), "allOf": _RULES},
        **message_schemas(space),
        **tool_schemas(space),
        **_settings(space),
    }
    return {space.name(component): shape for component, shape in made.items()}


def _chat_request(space: Space) -> Schema:
    return space.record(
        {
            **_essentials(space),
            **_sampling(),
            **_tools(space),
            **_output(space),
            **_caching(space),
            **_labels(space),
        },
        ("model", "messages"),
        "A chat completion. Every field of the OpenAI API is accepted; what a model cannot take is named in "
        "`usage.dropped_params`, or refused with 400 `unsupported_parameter` where leaving it out would change what "
        "was asked for. A null is the same as leaving the field out.",
    )


def _essentials(space: Space) -> dict[str, Schema]:
    return {
        "model": text(
            "The id of a model or one of its aliases, which `GET /models` lists; or `auto`: the gateway picks one.",
            least=1,
            most=256,
        ),
        "messages": array(
            space.ref("Message"),
            "The whole conversation so far; nothing of it is kept between requests.",
            least=1,
        ),
        "stream": flag("Send the answer as server-sent events while it is made. Default: `false`."),
        "stream_options": space.record(
            {
                "include_usage": flag("Send the usage in a last chunk, and `usage: null` in those before it."),
                "include_obfuscation": flag("Accepted; no padding is sent."),
            },
            about="Goes with `stream: true` only.",
        ),
        "max_completion_tokens": whole(
            f"The most tokens that the answer may have. {_TOKENS} It wins over `max_tokens`.", low=1, high=_LARGEST
        ),
        "max_tokens": whole(f"Deprecated name of `max_completion_tokens`. {_TOKENS}", low=1, high=_LARGEST),
        "n": whole("How many answers to give. Default: 1.", low=1, high=128),
        "stop": either(
            text(), array(text(), most=4), about="Up to four sequences that end the answer. Empty ones are left out."
        ),
        "routing": ref("RoutingPreferences", "What this request prefers of routing."),
        "extended_thinking": flag(
            "`false` asks for a direct answer, `true` for thinking where the model can choose. "
            "Default: the policy's, else the model's."
        ),
    }


def _sampling() -> dict[str, Schema]:
    return {
        "temperature": number("How freely to choose words.", low=0, high=2),
        "top_p": number("Share of the probability to choose from.", low=0, high=1),
        "frequency_penalty": number("Against words by how often they were said.", low=-2, high=2),
        "presence_penalty": number("Against words that were said at all.", low=-2, high=2),
        "seed": whole("For answers that can be repeated, as far as the host can.", low=-_LARGEST - 1, high=_LARGEST),
        "logit_bias": mapping(whole(low=-100, high=100), "Token ids, and how much to prefer them."),
        "logprobs": flag("Send the log probabilities of the tokens."),
        "top_logprobs": whole("How many alternatives per token. Goes with `logprobs: true` only.", low=0, high=20),
        "reasoning_effort": words(
            "none", "minimal", "low", "medium", "high", "xhigh", "max", about="How much to think before answering."
        ),
        "verbosity": words("low", "medium", "high", about="How long the answer is to be."),
        "service_tier": words(
            "auto", "default", "flex", "scale", "priority", "fast", about="The host's class of service."
        ),
    }


def _tools(space: Space) -> dict[str, Schema]:
    calling = space.record({"name": text("One of the `functions`.", least=1)}, ("name",))
    return {
        "tools": array(
            space.kinds("type", {"function": "FunctionTool", "custom": "CustomTool"}), "What the model may call."
        ),
        "tool_choice": tool_choice(space),
        "parallel_tool_calls": flag("Whether several calls may come in one turn. Default: `true`."),
        "functions": array(space.ref("LegacyFunction"), "Deprecated by `tools`; one request does not have both."),
        "function_call": either(words("none", "auto"), calling, about="Deprecated by `tool_choice`."),
        "web_search_options": space.record(
            {
                "search_context_size": words("low", "medium", "high", about="How much of what is found is read."),
                "user_location": space.record(
                    {
                        "type": words("approximate"),
                        "approximate": space.record(
                            {
                                "city": text(),
                                "country": text("Two letters, ISO 3166."),
                                "region": text(),
                                "timezone": text("An IANA name."),
                            }
                        ),
                    },
                    ("type", "approximate"),
                ),
            },
            about="For models that search the web.",
        ),
    }


def _output(space: Space) -> dict[str, Schema]:
    voice = either(text(), space.record({"id": text(least=1)}, ("id",)), about="The name of a voice, or its id.")
    return {
        "response_format": space.kinds(
            "type",
            {"text": "TextResponse", "json_object": "JsonResponse", "json_schema": "SchemaResponse"},
            "The form of the answer.",
        ),
        "modalities": array(words("text", "audio"), "What the answer is made of. Default: text alone."),
        "audio": space.record(
            {"format": words("wav", "aac", "mp3", "flac", "opus", "pcm16"), "voice": voice},
            ("format", "voice"),
            "How a spoken answer is to sound. Needed with `audio` among the `modalities`.",
        ),
        "prediction": space.record(
            {"type": words("content"), "content": text_content(space)},
            ("type", "content"),
            "What much of the answer will be, which some models write faster then.",
        ),
    }


def _caching(space: Space) -> dict[str, Schema]:
    return {
        "prompt_cache_options": space.record(
            {"mode": words("implicit", "explicit"), "ttl": words("30m")}, about="How the host's prompt cache is used."
        ),
        "prompt_cache_key": text("Groups requests that begin alike, for the host's prompt cache."),
        "prompt_cache_retention": words("in_memory", "24h", about="Deprecated: how long the host may keep the prompt."),
    }


def _labels(space: Space) -> dict[str, Schema]:
    weighed = space.record({"mode": words("score", "block")}, ("mode",))
    return {
        "moderation": space.record(
            {"model": text(least=1), "policy": space.record({"input": weighed, "output": weighed})},
            ("model",),
            "Has the host judge prompt and answer.",
        ),
        "metadata": mapping(
            text(most=512),
            "Labels of the request: up to 16, names of up to 64 characters.",
            maxProperties=16,
            propertyNames={"maxLength": 64},
        ),
        "safety_identifier": text("Stands for the user when abuse is looked into.", most=128),
        "user": text("Stands for the user. `safety_identifier` and `prompt_cache_key` take its place."),
        "store": flag("Whether the host may keep the answer."),
    }


def _settings(space: Space) -> dict[str, Schema]:
    wanted = {
        "name": identifier(),
        "description": text("What the object is for."),
        "schema": free("The JSON Schema, sent to the host as written."),
        "strict": flag("Whether the answer must follow the schema exactly."),
    }
    return {
        "TextResponse": space.record({"type": words("text")}, ("type",), "Plain text, the default."),
        "JsonResponse": space.record(
            {"type": words("json_object")}, ("type",), "Some JSON object. A message must ask for JSON in words too."
        ),
        "SchemaResponse": space.record(
            {"type": words("json_schema"), "json_schema": space.record(wanted, ("name",))},
            ("type", "json_schema"),
            "JSON that follows a schema.",
        ),
    }


def _when(condition: Schema, then: Schema) -> dict[str, Any]:
    return {"if": condition, "then": then}


_FILLED: Final = array(anything(), least=1)
_OBJECT: Final[Schema] = {"type": "object"}
_SPOKEN: Final[Schema] = {"type": "array", "contains": {"const": "audio"}}
_CALLS: Final = either({"const": "required"}, _OBJECT)

_OFFERED: Final = either(having(tools=_FILLED), having(functions=_FILLED))

_RULES: Final = [
    _when(having(stream_options=_OBJECT), having(stream={"const": True})),
    _when(having(top_logprobs={"type": "integer"}), having(logprobs={"const": True})),
    _when(having(modalities=_SPOKEN), having(audio=_OBJECT)),
    _when(having(tool_choice=_CALLS), _OFFERED),
    _when(having(function_call=_OBJECT), _OFFERED),
    {"not": having(tools=_FILLED, functions=_FILLED)},
]
