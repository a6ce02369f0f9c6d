"""The `routing` object of an answer as schemas: which model served, and why."""

from typing import Final

from core.decision import Objective
from core.surfaces.decision import MOST_ALTERNATIVES
from functions.gateway.openapi.shapes import Schema, array, mapping, nullable, number, record, ref, text, whole, words

TASKS: Final = (
    *("chat", "qa", "code", "math", "reasoning", "analysis", "summarization", "extraction", "classification"),
    *("translation", "writing", "roleplay", "tool_use", "vision", "long_context"),
)


def decision_schemas() -> dict[str, Schema]:
    """The components that describe a decision."""
    always = {
        "object": words("routing"),
        "request_id": text("The id of the request.", pattern="^req-[0-9a-f]{32}$"),
        "created": whole("When the request came in, in Unix seconds."),
        "model": text("The catalog id of the model that serves."),
        "pick": text("The one that was ranked first."),
        "policy": text("The policy in force."),
        "optimize": words(*(objective.value for objective in Objective), about="The objective in force."),
        "task": nullable(words(*TASKS, about="What was asked for; null when the request named its model.")),
        "task_confidence": nullable(_share("How sure that is.")),
        "complexity": nullable(_share("How hard it is.")),
        "decisiveness": _share("How clearly the first beat the second. 1: the only choice."),
        "alternatives": array(ref("Alternative"), "The ranking, the pick first.", most=MOST_ALTERNATIVES),
        "excluded": mapping(whole(low=1), "How many models were ruled out, by reason."),
        "attempts": array(ref("Attempt"), "The attempts so far, in order."),
        "reasoning": text("Why, in one or two sentences."),
    }
    sometimes = {
        "thinking": text("`on` when the model thinks."),
        "thinking_reason": text("`model_ignores_off`: the model thinks although the request asked it not to."),
        "truncated": words("max_tokens", about="The answer was cut at the limit."),
        "structured_output": words("unverified", about="Whether the model keeps to a schema was not verified."),
        "tool_memory": words("missing", about="What a tool loop should remember is gone; it goes on without."),
    }
    return {
        "Routing": record({**always, **sometimes}, list(always), "Which model serves the request, and why."),
        "Alternative": record(
            alternative := {
                "model": text(),
                "score": nullable(_share("For the objective in force.")),
                "quality": nullable(_share("For the task; null when it was not evaluated.")),
                "quality_basis": words("measured", "unknown"),
                "estimated_cost_micros": nullable(whole(low=0)),
                "estimated_ttft_ms": nullable(whole(low=0)),
            },
            list(alternative),
            "A model that was ranked.",
        ),
        "Attempt": record(
            attempt := {
                "model": text(),
                "outcome": text("`served`, or how it failed: `rate_limited`, `first_token_timeout`, ..."),
                "ms": whole("How long it took, in milliseconds.", low=0),
                "cost_micros": nullable(whole("Its part of the charge, in micro-dollars.", low=0)),
            },
            list(attempt),
            "One call of a host.",
        ),
    }


def _share(about: str) -> Schema:
    return number(about, low=0, high=1)
