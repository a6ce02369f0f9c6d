"""What choosing wants to know of the content of a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.chat import ChatRequest
from core.routing.classify import classify
from core.routing.facts import facts_of
from core.routing.weights import Weights

LEVELS: Final = ((0.625, 0.8), (0.125, 0.5), (0.0, 0.2))
"""Easy, usual and hard requests: from which complexity on, and which complexity they then count as.

Complexity is told by words, and small rewordings move it a little. With every step of it the cheapest model that is
good enough would be another, so only these steps count; they lie between the grades that people gave.
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """A request as it was read.

    `prompt_tokens` is an estimate, `tasks` the probability of each task that is plausible, `task` the likeliest and
    `confidence` how sure that is; `complexity` runs from 0 (anyone can do it) to 1.
    """

    prompt_tokens: int
    tasks: Mapping[str, float]
    task: str
    confidence: float
    complexity: float


def levelled(complexity: float) -> float:
    """The complexity that a request counts as."""
    return next(level for bound, level in LEVELS if complexity >= bound)


def read(request: ChatRequest, weights: Weights) -> Reading:
    """Read a request."""
    facts = facts_of(request)
    found = classify(facts, weights)
    return Reading(facts.prompt_tokens, found.probabilities, found.task, found.confidence, found.complexity)


LIKE: Final[Mapping[str, tuple[str, ...]]] = {
    "qa": ("reasoning", "chat"),
    "extraction": ("analysis", "summarization"),
    "classification": ("analysis", "reasoning"),
    "translation": ("writing", "summarization"),
    "roleplay": ("chat", "writing"),
    "vision": ("analysis", "reasoning"),
    "long_context": ("summarization", "analysis"),
    "chat": ("writing", "summarization"),
}
"""The tasks to look at where nobody was evaluated for a task: they give an order, and never a quality."""

USUAL_ANSWER: Final[Mapping[str, int]] = {
    "chat": 250,
    "qa": 200,
    "code": 700,
    "math": 500,
    "reasoning": 600,
    "analysis": 700,
    "summarization": 300,
    "extraction": 200,
    "classification": 30,
    "translation": 300,
    "writing": 900,
    "roleplay": 250,
    "tool_use": 120,
    "vision": 250,
    "long_context": 400,
}
"""How long an answer usually is, in tokens and without thinking. Planning figures, not measurements."""

_ANY_ANSWER: Final = 300


def usual_answer(reading: Reading) -> int:
    """How long an answer is expected to be, in tokens: the mean over the plausible tasks, longer for hard ones."""
    total = sum(reading.tasks.values())
    if total <= 0:
        return _ANY_ANSWER
    mean = sum(chance * USUAL_ANSWER.get(task, _ANY_ANSWER) for task, chance in reading.tasks.items()) / total
    return max(1, round(mean * (0.5 + levelled(reading.complexity))))
