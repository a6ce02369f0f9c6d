"""Which models will think on a request, and how much they usually do, by catalog and switches."""

from dataclasses import replace
from enum import Enum
from typing import Final, NamedTuple

from core.catalog.model import Abilities, Thinking
from core.chat import ChatRequest
from core.decision import Policy

USUAL_REASONING: Final = 2_048
"""What a model that thinks is expected to think, in tokens, where the catalog does not say."""


class ThinkingMode(Enum):
    """What a request says about thinking."""

    OFF = "off"
    DEFAULT = "default"
    ON = "on"


class ThinkingTrait(NamedTuple):
    """All that decides whether a model thinks, and how much."""

    thinking: Thinking
    by_default: bool
    usual_tokens: int

    def thinks(self, mode: ThinkingMode) -> bool:
        """Whether it thinks when that is said."""
        if self.thinking is Thinking.OPTIONAL:
            return mode is ThinkingMode.ON or (mode is ThinkingMode.DEFAULT and self.by_default)
        return self.thinking is Thinking.ALWAYS

    def tokens(self, mode: ThinkingMode) -> int:
        """How much it usually thinks then, in tokens."""
        return self.usual_tokens if self.thinks(mode) else 0


def thinking_trait(abilities: Abilities) -> ThinkingTrait:
    """The trait of a model."""
    usual = USUAL_REASONING if abilities.reasoning_tokens is None else abilities.reasoning_tokens
    return ThinkingTrait(abilities.thinking, abilities.thinks_by_default, usual)


def with_default_thinking(request: ChatRequest, policy: Policy) -> ChatRequest:
    """The request with the policy's thinking where it says nothing of its own; its own word, in either field, wins."""
    switch, effort = request.extended_thinking, request.reasoning_effort
    if effort is None and switch is not False and policy.reasoning_effort is not None:
        request = replace(request, reasoning_effort=policy.reasoning_effort)
    if effort is None and switch is None and policy.extended_thinking is not None:
        request = replace(request, extended_thinking=policy.extended_thinking)
    return request


def thinking_mode(request: ChatRequest) -> ThinkingMode:
    """What a request says: `extended_thinking` wins over `reasoning_effort` (the contract, section 2)."""
    if request.extended_thinking is not None:
        return ThinkingMode.ON if request.extended_thinking else ThinkingMode.OFF
    if request.reasoning_effort is None:
        return ThinkingMode.DEFAULT
    return ThinkingMode.OFF if request.reasoning_effort == "none" else ThinkingMode.ON
