"""The disposition table: what becomes of every request field in each upstream format, as data with the reason.

Rows follow the wire reference, sections 3 to 7 (read 2026-11-30). A nested field without a row of its own shares the
fate of the nearest field around it. What a single model, host or vendor refuses is catalog data and not here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from core.catalog.model import Format


class Disposition(Enum):
    """The four ways in which a field that a caller sent can end (the contract, section 2)."""

    FORWARDED = "forwarded"
    MAPPED = "mapped"
    DROPPED = "not_forwarded"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Rule:
    """One cell: the disposition, and why, or as what it is sent. `reaches` tells whether it gets to the upstream."""

    disposition: Disposition
    reason: str
    reaches: bool = field(init=False)

    def __post_init__(self) -> None:
        reaches = self.disposition in (Disposition.FORWARDED, Disposition.MAPPED)
        object.__setattr__(self, "reaches", reaches)


def _to(what: str) -> Rule:
    return Rule(Disposition.MAPPED, f"sent as {what}")


def _drop(why: str) -> Rule:
    return Rule(Disposition.DROPPED, why)


def _refuse(why: str) -> Rule:
    return Rule(Disposition.REFUSED, why)


_KEEP: Final = Rule(Disposition.FORWARDED, "sent as written")
_GATEWAY: Final = Rule(Disposition.MAPPED, "done by the gateway itself")
_ECHO: Final = Rule(Disposition.MAPPED, "part of an answer sent back; the gateway's memory decides what the model sees")
_NONE: Final = _drop("the format has no such setting")
_OPENAI: Final = _drop("only hosts of the OpenAI format have it")
_IDS: Final = _refuse("The file is kept by another vendor. Send its bytes in 'file_data'.")

Row = tuple[Rule, Rule, Rule, Rule]

# OpenAI, Anthropic, Gemini, Bedrock.
ROWS: Final[Mapping[str, Row]] = {
    "model": (_to("the host's name for it"),) * 2 + (_to("part of the path"),) * 2,
    "messages": (_KEEP, _to("`system` and `messages`"), _to("`contents`"), _to("`system` and `messages`")),
    "messages[].name": (_KEEP, _NONE, _NONE, _NONE),
    "messages[].refusal": (_KEEP, _to("text"), _to("text"), _to("text")),
    "messages[].audio": (_KEEP, _to("its transcript"), _to("its transcript"), _to("its transcript")),
    "messages[].annotations": (_ECHO,) * 4,
    "messages[].parsed": (_ECHO,) * 4,
    "messages[].reasoning": (_ECHO,) * 4,
    "messages[].reasoning_content": (_ECHO,) * 4,
    "messages[].reasoning_details": (_ECHO,) * 4,
    "messages[].tool_calls[].index": (_ECHO,) * 4,
    "messages[].tool_calls[].function.parsed_arguments": (_ECHO,) * 4,
    "messages[].function_call": (_to("a tool call"),) * 4,
    "messages[].content[].image_url": (_KEEP, _to("`image`"), _to("`inlineData`"), _to("`image`")),
    "messages[].content[].image_url.detail": (_KEEP, _NONE, _NONE, _NONE),
    "messages[].content[].input_audio": (
        _KEEP,
        _refuse("This model takes no audio."),
        _to("`inlineData`"),
        _to("`audio`"),
    ),
    "messages[].content[].file": (_KEEP, _to("`document`"), _to("`inlineData`"), _to("`document`")),
    "messages[].content[].file.file_id": (_KEEP, _IDS, _IDS, _IDS),
    "messages[].content[].file.filename": (_KEEP, _to("`title`"), _NONE, _to("`name`")),
    "messages[].content[].prompt_cache_breakpoint": (
        _KEEP,
        _to("`cache_control`"),
        _drop("caching is automatic"),
        _to("`cachePoint`"),
    ),
    "messages[].content[].prompt_cache_breakpoint.ttl": (
        _KEEP,
        _drop("no equal lifetime: one hour is asked for"),
        _drop("caching is automatic"),
        _drop("no equal lifetime: one hour is asked for"),
    ),
    "audio": (_KEEP, _NONE, _drop("its voices are others"), _NONE),
    "extended_thinking": (_to("the host's own switch"),) * 4,
    "frequency_penalty": (_KEEP, _NONE, _to("`frequencyPenalty`"), _NONE),
    "function_call": (_to("`tool_choice`"),) * 2 + (_to("`toolConfig`"),) * 2,
    "functions": (_to("`tools`"),) * 3 + (_to("`toolConfig`"),),
    "logit_bias": (_KEEP,) + (_drop("token ids of another vocabulary"),) * 3,
    "logprobs": (_KEEP, _NONE, _to("`responseLogprobs`"), _NONE),
    "max_completion_tokens": (
        _to("the host's name for the limit"),
        _to("`max_tokens`"),
        _to("`maxOutputTokens`"),
        _to("`maxTokens`"),
    ),
    "max_tokens": (
        _to("the host's name for the limit"),
        _to("`max_tokens`"),
        _to("`maxOutputTokens`"),
        _to("`maxTokens`"),
    ),
    "metadata": (_KEEP, _OPENAI, _drop("its labels are for billing"), _to("`requestMetadata`")),
    "modalities": (_KEEP,) + (_refuse("This model answers in text only."),) * 3,
    "moderation": (_KEEP, _OPENAI, _OPENAI, _drop("the operator sets guardrails")),
    "n": (
        _KEEP,
        _refuse("This model gives one answer per call."),
        _to("`candidateCount`"),
        _refuse("This model gives one answer per call."),
    ),
    "parallel_tool_calls": (
        _KEEP,
        _to("`disable_parallel_tool_use`"),
        _NONE,
        _to("`disable_parallel_tool_use`, to Claude"),
    ),
    "prediction": (_KEEP, _OPENAI, _OPENAI, _OPENAI),
    "presence_penalty": (_KEEP, _NONE, _to("`presencePenalty`"), _NONE),
    "prompt_cache_key": (_KEEP, _OPENAI, _OPENAI, _OPENAI),
    "prompt_cache_options": (
        _KEEP,
        _to("top-level `cache_control`, by its mode"),
        _drop("caching is automatic"),
        _NONE,
    ),
    "prompt_cache_options.ttl": (_KEEP, _drop("no equal lifetime"), _drop("caching is automatic"), _NONE),
    "prompt_cache_retention": (_KEEP, _drop("no equal lifetime"), _OPENAI, _OPENAI),
    "reasoning_effort": (
        _to("the host's own switch"),
        _to("`effort` or a budget"),
        _to("`thinkingConfig`"),
        _to("`effort` or the model's own field"),
    ),
    "response_format": (
        _KEEP,
        _to("`output_config.format`, or an instruction"),
        _to("`responseMimeType` and `responseJsonSchema`"),
        _to("`outputConfig.textFormat`, or an instruction"),
    ),
    "response_format.json_schema": (
        _KEEP,
        _to("`output_config.format`"),
        _to("`responseJsonSchema`"),
        _to("`outputConfig.textFormat`"),
    ),
    "response_format.json_schema.name": (_KEEP, _NONE, _NONE, _to("`name`")),
    "response_format.json_schema.description": (_KEEP, _NONE, _NONE, _to("`description`")),
    "response_format.json_schema.strict": (_KEEP,) + (_to("nothing: schemas are always enforced"),) * 3,
    "safety_identifier": (_KEEP, _to("`metadata.user_id`"), _OPENAI, _OPENAI),
    "seed": (_KEEP, _NONE, _to("`seed`"), _NONE),
    "service_tier": (_KEEP, _to("`service_tier`"), _to("`serviceTier`"), _to("`serviceTier`")),
    "stop": (_KEEP, _to("`stop_sequences`"), _to("`stopSequences`"), _to("`stopSequences`")),
    "store": (_KEEP, _OPENAI, _OPENAI, _OPENAI),
    "stream": (_GATEWAY,) * 4,
    "stream_options": (_GATEWAY,) * 4,
    "stream_options.include_usage": (_GATEWAY,) * 4,
    "stream_options.include_obfuscation": (_KEEP,) + (_GATEWAY,) * 3,
    "temperature": (
        _KEEP,
        _to("`temperature`, at most 1"),
        _to("`temperature`"),
        _to("`temperature`, at most 1"),
    ),
    "tool_choice": (_KEEP, _to("`tool_choice`"), _to("`functionCallingConfig`"), _to("`toolChoice`")),
    "tool_choice.allowed_tools": (_to("`allowed_tools`, or the subset of the tools"),)
    + (_to("the subset of the tools"),) * 3,
    "tools": (_KEEP, _to("`tools`"), _to("`functionDeclarations`"), _to("`toolConfig`")),
    "tools[].function.strict": (_KEEP, _to("`strict`"), _NONE, _to("`strict`")),
    "tools[].custom": (_to("a custom tool, or a function of one text"),) + (_to("a function of one text"),) * 3,
    "tools[].custom.format": (_KEEP,) + (_drop("said in the description, not enforced"),) * 3,
    "top_logprobs": (_KEEP, _NONE, _to("`logprobs`"), _NONE),
    "top_p": (_KEEP, _to("`top_p`"), _to("`topP`"), _to("`topP`")),
    "user": (_KEEP, _to("`metadata.user_id`"), _OPENAI, _OPENAI),
    "verbosity": (_KEEP, _OPENAI, _OPENAI, _OPENAI),
    "web_search_options": (_KEEP,) + (_drop("the host's own search is not used"),) * 3,
}

TABLE: Final[Mapping[Format, Mapping[str, Rule]]] = {
    wire: {name: row[place] for name, row in ROWS.items()}
    for place, wire in enumerate((Format.OPENAI, Format.ANTHROPIC, Format.GEMINI, Format.BEDROCK))
}

TOP_LEVEL: Final = frozenset(name for name in ROWS if name.isidentifier())
"""The fields of the body itself."""


def rule_for(field: str, wire: Format) -> Rule | None:
    """The rule for a field, by its pattern (`messages[].content[].image_url.detail`); None for one nobody documents."""
    column = TABLE[wire]
    while field:
        if field in column:
            return column[field]
        field = field[:-2] if field.endswith("[]") else field.rpartition(".")[0]
    return None
