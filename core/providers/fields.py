"""Decides what becomes of each field of one request at one target; the only source of `usage.dropped_params`.

The table is in `dispositions`; here it meets what the caller set and what the target can do. Nothing is sent from here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.catalog.model import Format, Target
from core.chat import ChatRequest, Json
from core.errors import InvalidRequest
from core.providers.dispositions import TABLE, TOP_LEVEL, Disposition, Rule
from core.providers.narrowing import ADJUSTED, NARROWED, SILENT
from core.providers.nested import nested_fields

Fields: TypeAlias = Mapping[str, Json]
"""The fields that a request sets, by their dotted pattern, each with a value that tells whether it says anything.

None stands for what the gateway adds by itself; callers are not told about that.
"""

ESSENTIAL: Final = frozenset(
    {
        *("tools", "functions", "tool_choice", "function_call", "tool_choice.allowed_tools"),
        *("tools[].custom", "response_format", "response_format.json_schema"),
        *("stop", "n", "modalities"),
        *("messages[].content[].image_url", "messages[].content[].input_audio"),
        "messages[].content[].file",
    }
)
"""Leaving these out would change what was asked for, so that a target without them is no target."""

_CANNOT: Final = Rule(Disposition.REFUSED, "This model does not take it.")
_IS_REFUSED: Final = Rule(Disposition.DROPPED, "the model or its host answers it with an error")

# Always sent, under whatever name a host has for it.
_RENAMED: Final = frozenset({"model", "messages", "max_tokens", "max_completion_tokens"})

QUIET: Final[Mapping[str, tuple[Json, ...]]] = {
    "n": (1,),
    "logprobs": (False,),
    "store": (False,),
    "stream": (True, False),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "metadata": ({},),
    "modalities": (["text"],),
    "response_format": ({"type": "text"},),
    "tool_choice": ("auto",),
    "function_call": ("auto",),
    "parallel_tool_calls": (True,),
    "service_tier": ("auto",),
    "verbosity": ("medium",),
    "stream_options.include_obfuscation": (True, False),
    "messages[].content[].image_url.detail": ("auto",),
    "tools[].function.strict": (False,),
    "tools[].custom.format": ("text",),
}
"""Saying what holds anyway: when it cannot be sent, nothing is lost, and nothing is reported."""


@dataclass(frozen=True, slots=True)
class Disposed:
    """The dispositions of one request at one target; `reported` are the dotted names for `usage.dropped_params`.

    `refused` are the fields that this target cannot leave out and cannot serve, each with a sentence for the caller.
    """

    kept: frozenset[str]
    reported: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    def sends(self, field: str) -> bool:
        """Whether the caller set this field and it reaches the upstream in some form."""
        return field in self.kept


def fields_of(request: ChatRequest) -> Fields:
    """Every documented field that the caller set. Many targets can be asked about one such answer."""
    fields = {name: value for name, value in request.written.items() if name in TOP_LEVEL}
    if request.legacy_functions:
        fields.setdefault("parallel_tool_calls", None)
    if request.extended_thinking is not None:
        fields["extended_thinking"] = request.extended_thinking
    fields.update(nested_fields(request))
    return fields


def dispose(request: ChatRequest, target: Target, fields: Fields | None = None) -> Disposed:
    """Decide for every field that the caller set. Codecs send what `sends` says and nothing else.

    A field whose value was changed on the way (a temperature cut to the host's range) is both kept and reported.

    Args:
        request: What the caller asks.
        target: Where it may go.
        fields: What `fields_of` said of this request, when it was asked before.
    """
    column = TABLE[target.vendor.format]
    refuses = target.model.abilities.refuses | target.host.refuses | target.vendor.refuses
    kept: list[str] = []
    reported: list[str] = []
    refused: list[tuple[str, str]] = []
    for name, value in (fields_of(request) if fields is None else fields).items():
        rule = column[name]
        if rule.reaches:
            narrow = NARROWED.get(name)
            narrowed = None if narrow is None else narrow(value, request, target)
            if narrowed is not None:
                rule = narrowed
            elif name in refuses and name not in _RENAMED:
                rule = _CANNOT if name in ESSENTIAL else _IS_REFUSED
            else:
                kept.append(name)
                adjusted = ADJUSTED.get(name)
                if adjusted is not None and adjusted(request, target):
                    reported.append(name)
                continue
        if rule is SILENT or value is None or value in QUIET.get(name, ()):
            continue
        if rule.disposition is Disposition.REFUSED:
            refused.append((name, rule.reason))
        else:
            reported.append(name)
    (kept if target.vendor.format is Format.OPENAI else reported).extend(request.unknown)
    return Disposed(frozenset(kept), tuple(sorted(reported)), tuple(refused))


def refusal(disposed: Disposed, request: ChatRequest) -> InvalidRequest | None:
    """What the caller is told when a target refuses the request; None when it does not."""
    if not disposed.refused:
        return None
    field, reason = disposed.refused[0]
    return InvalidRequest(reason, param=first_place(field, request), code="unsupported_parameter")


def first_place(pattern: str, request: ChatRequest) -> str:
    """Where a field first stands in a request: `messages[1].content[0].file` for `messages[].content[].file`.

    A pattern that the caller's own words do not match comes back as it is.
    """
    found = _first(request.written, pattern.replace("[]", ".[]").split("."))
    return pattern if found is None else found.removeprefix(".")


def _first(value: Json, steps: Sequence[str]) -> str | None:
    """The path from a value on; None where it leads to nothing."""
    if not steps:
        return None if value is None else ""
    step, rest = steps[0], steps[1:]
    if step == "[]":
        items = value if isinstance(value, list) else ()
        found = ((index, _first(item, rest)) for index, item in enumerate(items))
        return next((f"[{index}]{path}" for index, path in found if path is not None), None)
    path = _first(value.get(step), rest) if isinstance(value, Mapping) else None
    return None if path is None else f".{step}{path}"
