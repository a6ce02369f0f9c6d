"""Says what kind of task a request is and how hard: its facts first, then a linear model over its words.

It knows no catalog, calls nothing, and keeps nothing of what it read.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.routing.facts import Facts
from core.routing.features import features
from core.routing.weights import Weights

TOOL_USE, VISION, LONG_CONTEXT = "tool_use", "vision", "long_context"
"""Tasks that follow from facts, never from words."""

TOOLS_OFFERED: Final = 0.55
TOOLS_IN_USE: Final = 0.9
IMAGES: Final = 0.75
LONG_TOKENS: Final = 48_000
MOST_LONG: Final = 0.85

HARDER_WITH_TOOLS: Final = 0.4
HARDER_IN_LOOP: Final = 0.5
HARDER_WHEN_LONG: Final = 0.5
HARDER_WITH_THINKING: Final = 0.5


@dataclass(frozen=True, slots=True)
class Classified:
    """What a request is: `task` with its `confidence`, all tasks' probabilities (their sum is 1), how hard (0..1)."""

    task: str
    confidence: float
    probabilities: Mapping[str, float]
    complexity: float


def classify(facts: Facts, weights: Weights) -> Classified:
    """Classify a request.

    The words give each text task its probability; tools, images and length then claim a share for theirs.
    """
    *scores, complexity = weights.scores(*features(facts.text, weights.cues))
    by_words = dict(zip(weights.outputs, _softmax(scores, weights.temperature), strict=False))
    claims = {TOOL_USE: _tool_claim(facts), VISION: IMAGES if facts.images else 0.0, LONG_CONTEXT: _long_claim(facts)}
    left = math.prod(1.0 - claim for claim in claims.values())
    unit = (1.0 - left) / (sum(claims.values()) or 1.0)
    probabilities = {task: left * share for task, share in by_words.items()}
    probabilities.update((task, unit * claim) for task, claim in claims.items())
    task = max(probabilities, key=probabilities.__getitem__)
    return Classified(task, probabilities[task], probabilities, _complexity(complexity, facts))


def _softmax(scores: list[float], temperature: float) -> list[float]:
    most = max(scores)
    raised = [math.exp((score - most) / temperature) for score in scores]
    total = sum(raised)
    return [value / total for value in raised]


def _tool_claim(facts: Facts) -> float:
    if facts.tool_loop or facts.tool_forced:
        return TOOLS_IN_USE
    return TOOLS_OFFERED if facts.tools else 0.0


def _long_claim(facts: Facts) -> float:
    """Half of the most at `LONG_TOKENS`, and soon nothing below, nearly all above."""
    return MOST_LONG / (1.0 + (LONG_TOKENS / max(1, facts.prompt_tokens)) ** 4)


def _complexity(by_words: float, facts: Facts) -> float:
    floors = (
        HARDER_WITH_TOOLS if facts.tools else 0.0,
        HARDER_IN_LOOP if facts.tool_loop else 0.0,
        HARDER_WHEN_LONG if facts.prompt_tokens > LONG_TOKENS else 0.0,
        HARDER_WITH_THINKING if facts.thinking else 0.0,
    )
    return min(1.0, max(by_words, *floors, 0.0))
