"""Where a model's abilities or a value narrow what its format allows: one small function per field concerned."""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from core.catalog.model import Format, Quirk, StructuredOutput, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, Json, Message, RefusalPart, Role
from core.providers.dispositions import Disposition, Rule
from core.providers.nested import AUDIO, BREAKPOINT, FILE, IMAGE
from core.providers.thinking import ClaudeBudget, claude_budget, is_claude, wish

Narrow: TypeAlias = Callable[[Json, ChatRequest, Target], Rule | None]
"""The rule that holds instead of the table's, or None when that one stands."""

SILENT: Final = Rule(Disposition.DROPPED, "it asks for what happens anyway, or the decision tells")

_NO_TOOLS: Final = Rule(Disposition.REFUSED, "This model calls no tools.")
_NO_FORCE: Final = Rule(Disposition.REFUSED, "This model cannot be made to call a tool. Use 'auto'.")
_NO_JSON_BESIDE_TOOLS: Final = Rule(Disposition.REFUSED, "This model answers in JSON only without tools.")
_TEXT_ONLY: Final = Rule(Disposition.REFUSED, "This model answers in text only.")
_NO_AUDIO: Final = Rule(Disposition.DROPPED, "the model answers in text only")
_NO_NAMES: Final = Rule(Disposition.DROPPED, "the host refuses names on messages")
_NO_THINKING: Final = Rule(Disposition.DROPPED, "the model does not think")
_NO_SWITCH: Final = Rule(Disposition.DROPPED, "the host has no switch for it")
_NO_STRENGTH: Final = Rule(Disposition.DROPPED, "the host can switch thinking, not set its strength")
_CANNOT_STOP: Final = Rule(Disposition.DROPPED, "the model thinks whatever it is told")
_NO_ROOM: Final = Rule(Disposition.DROPPED, "the limit leaves no room for it")
_CONTRADICTED: Final = Rule(Disposition.DROPPED, "`extended_thinking` says otherwise")
_YIELDED: Final = Rule(Disposition.DROPPED, "the model cannot think and be made to call a tool")
_WHILE_THINKING: Final = Rule(Disposition.DROPPED, "the model's sampling is fixed while it thinks")
_FOREIGN_IDS: Final = Rule(Disposition.DROPPED, "token ids mean nothing before a model is chosen")
_NO_TIER: Final = Rule(Disposition.DROPPED, "the host has no such tier")
_NO_TRANSCRIPT: Final = Rule(Disposition.DROPPED, "the audio is kept by another vendor")
_TWO_USERS: Final = Rule(Disposition.DROPPED, "`safety_identifier` is sent instead")
_TOO_LARGE: Final = Rule(Disposition.DROPPED, "the host takes 32 bits")
_MANY_CALLS: Final = Rule(Disposition.DROPPED, "the model cannot be held to one call at a time")
_ODD_METADATA: Final = Rule(Disposition.DROPPED, "the host takes shorter values, of fewer characters")
_BLANK: Final = Rule(Disposition.DROPPED, "the host refuses blank stop sequences")

_SWITCHES_ONLY: Final = frozenset(
    {
        *(ThinkingSwitch.THINKING_TYPE, ThinkingSwitch.ENABLE_THINKING),
        *(ThinkingSwitch.TEMPLATE_ENABLE_THINKING, ThinkingSwitch.TEMPLATE_THINKING),
        ThinkingSwitch.REASONING_ENABLED,
    }
)
# Keys and values of `requestMetadata` (Bedrock's service model in botocore 1.43.127, read 2026-11-30).
_REQUEST_METADATA: Final = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}", re.ASCII)
# "Prompt caching" of Anthropic and of Bedrock, read 2026-11-30.
_MOST_MARKS: Final = 4
_TIERS: Final[Mapping[Format, frozenset[str]]] = {
    Format.ANTHROPIC: frozenset({"auto", "default"}),
    Format.GEMINI: frozenset({"auto", "default", "flex", "priority", "fast"}),
    Format.BEDROCK: frozenset({"auto", "default", "flex", "priority"}),
}


def _media(ability: str, what: str) -> Narrow:
    refusal = Rule(Disposition.REFUSED, f"This model takes no {what}.")

    def narrow(value: Json, request: ChatRequest, target: Target) -> Rule | None:
        return None if getattr(target.model.abilities, ability) else refusal

    return narrow


def _tools(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    return None if target.model.abilities.tools else _NO_TOOLS


def _tool_choice(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    choice = request.tool_choice
    is_forced = choice is not None and choice.mode == "required"
    return _NO_FORCE if is_forced and not target.model.abilities.forced_tools else None


def _choices(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    most = target.model.abilities.choices
    if value <= most:
        return None
    answers = "one answer" if most == 1 else f"at most {most} answers"
    return Rule(Disposition.REFUSED, f"This model gives {answers} per call.")


def _modalities(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    wants_audio = "audio" in request.modalities
    return _TEXT_ONLY if wants_audio and not target.model.abilities.audio_output else None


def _audio(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    return None if target.model.abilities.audio_output else _NO_AUDIO


def _response_format(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    wanted = request.response_format
    abilities = target.model.abilities
    if wanted is None or wanted.type == "text":
        return None
    if request.tools and target.has(Quirk.JSON_WITHOUT_TOOLS):
        return _NO_JSON_BESIDE_TOOLS
    if abilities.structured_output is not StructuredOutput.NONE:
        return None
    if wanted.type == "json_schema":
        return Rule(Disposition.REFUSED, "This model does not follow a JSON Schema.")
    # These two are told in words, and the answer's JSON is taken out.
    is_instructed = target.vendor.format in (Format.ANTHROPIC, Format.BEDROCK)
    if abilities.json_mode or is_instructed:
        return None
    return Rule(Disposition.REFUSED, "This model has no JSON mode.")


def _extended_thinking(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    thinking = target.model.abilities.thinking
    if thinking is Thinking.NONE:
        return _NO_THINKING if value else SILENT
    if thinking is Thinking.ALWAYS:
        return None if value else SILENT
    if wish(request, target).yielded and value:
        return _YIELDED
    if value and _is_by_budget(target) and _budget(request, target) is None:
        return _NO_ROOM
    return _NO_SWITCH if target.host.thinking_switch is ThinkingSwitch.NONE else None


def _reasoning_effort(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    abilities = target.model.abilities
    switch = target.host.thinking_switch
    wanted = wish(request, target)
    if abilities.thinking is Thinking.NONE:
        return SILENT if value == "none" else _NO_THINKING
    if wanted.ignored:
        return _CANNOT_STOP
    if wanted.yielded:
        return _YIELDED
    if request.extended_thinking is (value == "none"):
        return _CONTRADICTED
    if switch is ThinkingSwitch.NONE:
        return _NO_SWITCH
    has_budget_only = _is_by_budget(target) and not abilities.efforts
    if wanted.state == "on" and has_budget_only and _budget(request, target) is None:
        return _NO_ROOM
    has_strength = switch not in _SWITCHES_ONLY or bool(abilities.efforts)
    return None if value == "none" or has_strength else _NO_STRENGTH


def _is_by_budget(target: Target) -> bool:
    return target.host.thinking_switch is ThinkingSwitch.BUDGET and is_claude(target)


def _budget(request: ChatRequest, target: Target) -> ClaudeBudget | None:
    return claude_budget(wish(request, target).effort, request.max_tokens or target.max_output_tokens)


def _sampling(lowest: float) -> Narrow:
    def narrow(value: Json, request: ChatRequest, target: Target) -> Rule | None:
        if lowest <= value <= 1 or not is_claude(target):
            return None
        always = target.model.abilities.thinking is Thinking.ALWAYS
        thinks = always or wish(request, target).state == "on"
        return _WHILE_THINKING if thinks else None

    return narrow


def _names(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    return _NO_NAMES if target.has(Quirk.NO_MESSAGE_NAMES) else None


def _said_audio(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    # `value` tells whether every such message brings its transcript.
    return None if value or target.vendor.format is Format.OPENAI else _NO_TRANSCRIPT


def _custom_format(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    is_native = target.has(Quirk.CUSTOM_TOOLS)
    return None if is_native else Rule(Disposition.DROPPED, "said in the description, not enforced")


def _logit_bias(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    return _FOREIGN_IDS if request.model == "auto" and value else None


def _service_tier(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    tiers = _TIERS.get(target.vendor.format)
    return None if tiers is None or value in tiers else _NO_TIER


def _user(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    is_replaced = target.vendor.format is Format.ANTHROPIC and request.safety_identifier is not None
    return _TWO_USERS if is_replaced else None


def _parallel_calls(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    # Bedrock itself has no switch; Claude's own is passed on.
    has_switch = target.vendor.format is not Format.BEDROCK or is_claude(target)
    return None if has_switch else _MANY_CALLS


def _metadata(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    if target.vendor.format is not Format.BEDROCK:
        return None
    fits = all(key and all(map(_REQUEST_METADATA.fullmatch, (key, text))) for key, text in value.items())
    return None if fits else _ODD_METADATA


def _seed(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    fits = -(2**31) <= value < 2**31
    return None if fits or target.vendor.format is not Format.GEMINI else _TOO_LARGE


def _stop(value: Json, request: ChatRequest, target: Target) -> Rule | None:
    if target.vendor.format is not Format.ANTHROPIC:
        return None
    return None if any(not each.isspace() for each in request.stop) else _BLANK


NARROWED: Final[Mapping[str, Narrow]] = {
    IMAGE: _media("vision", "images"),
    AUDIO: _media("audio_input", "audio"),
    FILE: _media("documents", "files"),
    "messages[].name": _names,
    "messages[].audio": _said_audio,
    "audio": _audio,
    "extended_thinking": _extended_thinking,
    "functions": _tools,
    "function_call": _tool_choice,
    "logit_bias": _logit_bias,
    "metadata": _metadata,
    "modalities": _modalities,
    "n": _choices,
    "parallel_tool_calls": _parallel_calls,
    "reasoning_effort": _reasoning_effort,
    "response_format": _response_format,
    "seed": _seed,
    "service_tier": _service_tier,
    "stop": _stop,
    "temperature": _sampling(1),
    "tool_choice": _tool_choice,
    "tools": _tools,
    "tools[].custom.format": _custom_format,
    "top_p": _sampling(0.95),
    "user": _user,
}


def _is_cut(request: ChatRequest, target: Target) -> bool:
    """Anthropic and Bedrock take temperatures up to 1."""
    reaches_one = target.vendor.format in (Format.ANTHROPIC, Format.BEDROCK)
    return reaches_one and request.temperature is not None and request.temperature > 1


def _is_level_moved(request: ChatRequest, target: Target) -> bool:
    """Another level, or a budget that the limit cuts."""
    wanted = wish(request, target)
    budget = _budget(request, target) if wanted.state == "on" and _is_by_budget(target) else None
    return wanted.clamped or (budget is not None and budget.cut)


def _has_blank(request: ChatRequest, target: Target) -> bool:
    is_strict = target.vendor.format is Format.ANTHROPIC
    return is_strict and any(each.isspace() for each in request.stop)


def _still_offers(request: ChatRequest, target: Target) -> bool:
    """Bedrock cannot say `none`; tools are left out, unless the history needs them."""
    choice = request.tool_choice
    if target.vendor.format is not Format.BEDROCK or choice is None or choice.mode != "none":
        return False
    return any(message.tool_calls for message in request.messages)


def _has_many_marks(request: ChatRequest, target: Target) -> bool:
    """Claude's formats keep the last marks of too many."""
    if target.vendor.format not in (Format.ANTHROPIC, Format.BEDROCK):
        return False
    return sum(map(_marks_of, request.messages)) > _MOST_MARKS


def _marks_of(message: Message) -> int:
    marked = sum(not isinstance(part, RefusalPart) and part.breakpoint is not None for part in message.parts)
    return min(marked, 1) if message.role in (Role.TOOL, Role.FUNCTION) else marked


ADJUSTED: Final[Mapping[str, Callable[[ChatRequest, Target], bool]]] = {
    "temperature": _is_cut,
    "reasoning_effort": _is_level_moved,
    BREAKPOINT: _has_many_marks,
    "stop": _has_blank,
    "tool_choice": _still_offers,
    "function_call": _still_offers,
}
"""Fields that are sent, but not as they were written when this holds: kept and reported."""
