"""Decisions as schemas: which model serves a request and why, in an answer and as it was recorded."""

from typing import Final

from core.decision import Objective
from core.surfaces.decision import MOST_ALTERNATIVES, MOST_NAMED
from core.surfaces.surface import SURFACES
from functions.gateway.openapi.answers import FINISH_REASONS
from functions.gateway.openapi.shapes import (
    Schema,
    array,
    flag,
    mapping,
    nullable,
    number,
    record,
    ref,
    text,
    whole,
    words,
)

TASKS: Final = (
    *("chat", "qa", "code", "math", "reasoning", "analysis", "summarization", "extraction", "classification"),
    *("translation", "writing", "roleplay", "tool_use", "vision", "long_context"),
)

_TOLD: Final = {
    "alternatives": array(
        ref("Alternative"), "The ranking, the pick first; the best ones of it.", most=MOST_ALTERNATIVES
    ),
    "excluded": mapping(whole(low=1), "How many models were ruled out, by reason."),
}
_KEPT: Final = {
    "alternatives": array(ref("Alternative"), "The whole ranking, the pick first."),
    "excluded": mapping(array(text(), most=MOST_NAMED), "The models that were ruled out, by reason."),
}


def decision_schemas() -> dict[str, Schema]:
    """The components that describe decisions."""
    alternative = {
        "model": text(),
        "score": nullable(_share("For the objective in force.")),
        "quality": nullable(_share("For the task; null when it was not evaluated.")),
        "quality_basis": words("measured", "unknown"),
        "estimated_cost_micros": nullable(whole(low=0)),
        "estimated_ttft_ms": nullable(whole(low=0)),
    }
    attempt = {
        "model": text(),
        "outcome": text(
            "`served`, or how it failed: `rate_limited`, `first_token_timeout`, `own_key_failed` (the organisation's "
            "own key, or the account behind it), ..."
        ),
        "ms": whole("How long it took, in milliseconds.", low=0),
        "cost_micros": nullable(whole("Its part of the charge, in micro-dollars.", low=0)),
    }
    listed = array(ref("ListedDecision"), "The newest first.")
    return {
        "Routing": _decision(_TOLD, {}, "Which model serves the request, and why."),
        "RecordedDecision": _decision(
            _KEPT, _came_of_it(), "A decision with all that it weighed, and what came of it."
        ),
        "ListedDecision": _decision(_TOLD, _came_of_it(), "A decision of a list, with what came of it."),
        "DecisionList": record(
            {"object": words("list"), "data": listed, "has_more": flag("Whether there are older ones.")},
            ("object", "data", "has_more"),
            "The newest decisions.",
        ),
        "Alternative": record(alternative, list(alternative), "A model that was ranked."),
        "Attempt": record(attempt, list(attempt), "One call of a host."),
    }


def _decision(detail: dict[str, Schema], more: dict[str, Schema], about: str) -> Schema:
    always = {
        "object": words("routing"),
        "request_id": text("The id of the request.", pattern="^req-[0-9a-f]{32}$"),
        "created": whole("When the request came in, in Unix seconds."),
        "model": text("The catalog id of the model that serves."),
        "pick": text("The one that was ranked first."),
        "policy": text("The policy in force."),
        "optimize": words(*(objective.value for objective in Objective), about="The objective in force."),
        "task": nullable(words(*TASKS, about="What was asked for; null when that did not matter.")),
        "task_confidence": nullable(_share("How sure that is.")),
        "complexity": nullable(_share("How hard it is.")),
        "decisiveness": _share("How clearly the first beat the second. 1: the only choice."),
        **detail,
        "attempts": array(ref("Attempt"), "The attempts so far, in order."),
        "reasoning": text("Why, in one or two sentences."),
        **more,
    }
    sometimes = {
        "thinking": text("`on` when the model thinks."),
        "thinking_reason": text("`model_ignores_off`: the model thinks although the request asked it not to."),
        "truncated": words("max_tokens", about="The answer was cut at the limit."),
        "structured_output": words("unverified", about="Whether the model keeps to a schema was not verified."),
        "tool_memory": words("missing", about="What a tool loop should remember is gone; it goes on without."),
    }
    if detail is _KEPT:
        sometimes["excluded_totals"] = mapping(
            whole(low=1), f"How many were ruled out, by reason, when more than {MOST_NAMED} were for one."
        )
    return record({**always, **sometimes}, list(always), about)


def _came_of_it() -> dict[str, Schema]:
    return {
        "requested_model": text("What the request gave as `model`."),
        "surface": words(*(surface.name for surface in SURFACES)),
        "stream": flag("Whether a stream was asked for."),
        "outcome": text("`open` while it runs, then `served`, `failed`, `interrupted`, `caller_left` or `lost`."),
        "finish_reason": nullable(words(*FINISH_REASONS, about="Of the first answer.")),
        "error_code": nullable(text("The code of the failure that the caller saw.")),
        "latency_ms": nullable(whole("Wall time, in milliseconds.", low=0)),
        "ttft_ms": nullable(whole("Time to the first token of a stream, in milliseconds.", low=0)),
        "usage": nullable(ref("Usage", "Null while it runs.")),
    }


def _share(about: str) -> Schema:
    return number(about, low=0, high=1)
