"""What callers say of an answer: read from a body, and said back. What they write in words is counted and not kept."""

from dataclasses import dataclass
from typing import Final

from core.chat import Json
from core.surfaces.openai_chat.body import read_object
from core.surfaces.openai_chat.checks import Scan, number, record, up_to

LONGEST_COMMENT: Final = 2_000
"""How long a comment may be, in characters."""

_FEEDBACK: Final = record({"score": number(0, 1), "comment": up_to(LONGEST_COMMENT)}, ("score",), refuse=True)


@dataclass(frozen=True, slots=True)
class Feedback:
    """A score in thousandths, and how many characters of comment came with it."""

    thousandths: int
    comment_characters: int


def parse_feedback(body: bytes) -> Feedback:
    """Read a body, `{"score": 0..1, "comment"?: "..."}`; it is ours, and alike on both surfaces.

    Raises:
        InvalidRequest: It is not JSON, the score is missing or wrong, or the comment is too long.
        Unprocessable: It has another member.
    """
    got = _FEEDBACK(read_object(body, "'score'"), Scan(strict=True))
    return Feedback(round(got["score"] * 1000), len(got.get("comment", "")))


def feedback_object(request_id: str, model: str | None, task: str | None, feedback: Feedback) -> dict[str, Json]:
    """What became of it.

    Args:
        request_id: In the `req-` form.
        model: The model that served, None where none did.
        task: The task that the request was taken for, None where nobody had to tell.
        feedback: What was said.
    """
    return {
        "object": "routing.feedback",
        "request_id": request_id,
        "model": model,
        "task": task,
        "score": feedback.thousandths / 1000,
        "comment_characters": feedback.comment_characters,
        "counted": model is not None and task is not None,
    }
