"""Tells which parameters a model supports, for its entry in the list of models; no request is looked at."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from core.catalog.model import Abilities, StructuredOutput, Target, Thinking
from core.providers.dispositions import TABLE, TOP_LEVEL


def _calls_tools(abilities: Abilities) -> bool:
    return abilities.tools


def _speaks(abilities: Abilities) -> bool:
    return abilities.audio_output


def _thinks(abilities: Abilities) -> bool:
    return abilities.thinking is not Thinking.NONE


def _answers_in_json(abilities: Abilities) -> bool:
    return abilities.json_mode or abilities.structured_output is not StructuredOutput.NONE


def _gives_choices(abilities: Abilities) -> bool:
    return abilities.choices > 1


_NEEDS: Final[Mapping[str, Callable[[Abilities], bool]]] = {
    **dict.fromkeys(("tools", "tool_choice", "parallel_tool_calls"), _calls_tools),
    **dict.fromkeys(("functions", "function_call"), _calls_tools),
    **dict.fromkeys(("modalities", "audio"), _speaks),
    **dict.fromkeys(("reasoning_effort", "extended_thinking"), _thinks),
    "response_format": _answers_in_json,
    "n": _gives_choices,
}


def supported_parameters(targets: Iterable[Target]) -> tuple[str, ...]:
    """The top-level fields that at least one of a model's hosts takes in some form, sorted."""
    return tuple(sorted({name for target in targets for name in TOP_LEVEL if _takes(target, name)}))


def _takes(target: Target, name: str) -> bool:
    rule = TABLE[target.vendor.format][name]
    needs = _NEEDS.get(name)
    return rule.reaches and not target.refuses(name) and (needs is None or needs(target.model.abilities))
