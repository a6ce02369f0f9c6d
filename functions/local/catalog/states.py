"""Merges what sources and overlay say about a model's abilities; what nobody states is not an ability."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from core.catalog.model import Abilities, StructuredOutput, Thinking
from functions.local.catalog.overlay import OverlayModel
from functions.local.catalog.sources.offer import Offer

# What an OpenAI model that thinks refuses, and what other owners' models without sampling refuse.
SAMPLING: Final = frozenset({"temperature", "top_p"})
OPENAI_SAMPLING: Final = SAMPLING | {
    *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs"),
}

# A planning figure, not a measurement: a quarter of the budget that Google's OpenAI-compatible endpoint gives an effort
# (wire reference, section 7.2, read 2026-11-30).
PLANNED_TOKENS: Final = {"minimal": 128, "low": 256, "medium": 2_048, "high": 6_144, "xhigh": 6_144, "max": 6_144}

ORDER: Final = ("minimal", "low", "medium", "high", "xhigh", "max")


def abilities(owner: str, model: OverlayModel, offers: Sequence[Offer], elsewhere: Iterable[Offer]) -> Abilities:
    """The abilities of a model.

    Args:
        owner: Whose model it is.
        model: What the overlay says.
        offers: What the sources say of the host whose word counts; of two that differ the first counts.
        elsewhere: What they say of all hosts.
    """
    stated = first_stated(offers)
    known = {name: value for name, value in model.abilities if value is not None}
    thinking = _thinking(model, stated)
    schema = _schema(offers, elsewhere)
    can_sample = stated.get("sampling", True) if model.sampling is None else model.sampling
    refused = OPENAI_SAMPLING if owner == "openai" else SAMPLING
    named: dict[str, bool] = {
        name: stated.get(name, False) for name in ("vision", "documents", "audio_input", "audio_output")
    }
    tools = bool(known.get("tools", stated.get("tools", False)))
    merged = {
        **named,
        "tools": tools,
        "parallel_tools": tools and stated.get("parallel_tools", True),
        "forced_tools": stated.get("forced_tools", True),
        "structured_output": schema,
        "json_mode": schema is StructuredOutput.VERIFIED,
        **known,
    }
    return Abilities(
        **merged,
        thinking=thinking,
        thinks_by_default=thinking is Thinking.OPTIONAL and _thinks_by_default(model, stated),
        efforts=_efforts(model, offers) if thinking is not Thinking.NONE else (),
        reasoning_tokens=_planned(model, thinking, stated),
        refuses=frozenset(model.refuses) | (frozenset() if can_sample else refused),
    )


def at_effort(able: Abilities, effort: str) -> Abilities:
    """The abilities of a variant that always thinks, and only this hard."""
    return replace(
        able,
        thinking=Thinking.ALWAYS,
        thinks_by_default=False,
        efforts=(effort,),
        reasoning_tokens=PLANNED_TOKENS[effort],
    )


def first_stated(offers: Iterable[Offer]) -> Mapping[str, bool]:
    """What is said of each ability, by the first source that says anything."""
    stated: dict[str, bool] = {}
    for offer in offers:
        for name, value in offer.states.items():
            stated.setdefault(name, value)
    return stated


def _schema(offers: Iterable[Offer], elsewhere: Iterable[Offer]) -> StructuredOutput:
    said = {offer.states["structured_output"] for offer in offers if "structured_output" in offer.states}
    if said == {True}:
        return StructuredOutput.VERIFIED
    somewhere = any(offer.states.get("structured_output") for offer in elsewhere)
    return StructuredOutput.NONE if said == {False} and not somewhere else StructuredOutput.UNVERIFIED


def _thinking(model: OverlayModel, stated: Mapping[str, bool]) -> Thinking:
    if model.thinking is not None:
        return model.thinking
    if not stated.get("thinking", False):
        return Thinking.NONE
    always = stated.get("always_thinks", False) or stated.get("can_be_silenced") is False
    return Thinking.ALWAYS if always else Thinking.OPTIONAL


def _thinks_by_default(model: OverlayModel, stated: Mapping[str, bool]) -> bool:
    if model.thinks_by_default is not None:
        return model.thinks_by_default
    return stated.get("thinks_by_default", model.default_effort not in (None, "none"))


def _efforts(model: OverlayModel, offers: Iterable[Offer]) -> tuple[str, ...]:
    found = model.efforts
    if found is None:
        found = next((offer.efforts for offer in offers if offer.efforts is not None), ())
    return tuple(effort for effort in ORDER if effort in found)


def _planned(model: OverlayModel, thinking: Thinking, stated: Mapping[str, bool]) -> int | None:
    thinks = thinking is Thinking.ALWAYS or (thinking is Thinking.OPTIONAL and _thinks_by_default(model, stated))
    return PLANNED_TOKENS[model.default_effort or "medium"] if thinks else None
