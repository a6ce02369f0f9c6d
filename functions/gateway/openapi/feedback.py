"""What callers say of answers, as schemas and examples."""

from typing import Any

from core.surfaces.feedback import LONGEST_COMMENT, Feedback, feedback_object
from functions.gateway.openapi.decision import TASKS
from functions.gateway.openapi.shapes import Schema, flag, nullable, number, record, text, whole, words


def feedback_schemas() -> dict[str, Schema]:
    """The components that describe feedback."""
    comment = text("Why. It is counted and not kept: nothing that people write is.", most=LONGEST_COMMENT)
    kept = {
        "object": words("routing.feedback"),
        "request_id": text(pattern="^req-[0-9a-f]{32}$"),
        "model": nullable(text("The catalog id of the model that served.")),
        "task": nullable(words(*TASKS, about="What the request was taken for; null when the model was named.")),
        "score": number("As it is kept: in thousandths.", low=0, high=1),
        "comment_characters": whole("How long the comment was.", low=0),
        "counted": flag("Whether it counts for the quality of the model at the task: both have to be known."),
    }
    return {
        "FeedbackRequest": record(
            {"score": number("0: useless. 1: could not be better.", low=0, high=1), "comment": nullable(comment)},
            ("score",),
            additionalProperties=False,
        ),
        "Feedback": record(kept, list(kept), "What became of a score."),
    }


def example_score() -> dict[str, Any]:
    """A body."""
    return {"score": 0.9, "comment": "Right, and short."}


def example_feedback(request_id: str, model: str) -> dict[str, Any]:
    """What it is answered with."""
    return feedback_object(request_id, model, "qa", Feedback(900, 17))
