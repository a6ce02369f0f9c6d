"""What callers say of an answer: bodies, and what becomes of them."""

import json
from typing import Any

import pytest

from core.errors import GatewayError
from core.surfaces.feedback import LONGEST_COMMENT, Feedback, feedback_object, parse_feedback


@pytest.mark.parametrize(
    ("body", "feedback"),
    [
        ({"score": 1}, Feedback(1_000, 0)),
        ({"score": 0}, Feedback(0, 0)),
        ({"score": 0.1234567, "comment": None}, Feedback(123, 0)),
        ({"score": 0.5, "comment": "x" * LONGEST_COMMENT}, Feedback(500, LONGEST_COMMENT)),
        ({"score": 0.5, "comment": ""}, Feedback(500, 0)),
    ],
)
def test_scores_with_and_without_a_comment(body: Any, feedback: Feedback) -> None:
    assert parse_feedback(json.dumps(body).encode()) == feedback


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        (b"", 400, "invalid_json", None),
        (b"[]", 400, "invalid_json", None),
        (b"{}", 400, "missing_required_parameter", "score"),
        (b'{"score": null}', 400, "missing_required_parameter", "score"),
        (b'{"score": 1.01}', 400, "invalid_value", "score"),
        (b'{"score": -0.01}', 400, "invalid_value", "score"),
        (b'{"score": true}', 400, "invalid_value", "score"),
        (b'{"score": "1"}', 400, "invalid_value", "score"),
        (b'{"score": 1, "comment": 5}', 400, "invalid_value", "comment"),
        (json.dumps({"score": 1, "comment": "x" * 2_001}).encode(), 400, "invalid_value", "comment"),
        (b'{"score": 1, "coment": ""}', 422, "unknown_field", "coment"),
    ],
)
def test_what_is_wrong_is_named(body: bytes, status: int, code: str, param: str | None) -> None:
    with pytest.raises(GatewayError) as caught:
        parse_feedback(body)
    assert (caught.value.status, caught.value.code, caught.value.param) == (status, code, param)
    assert "messages" not in caught.value.message


@pytest.mark.parametrize(
    ("model", "task", "counted"), [("a/x", "code", True), (None, "code", False), ("a/x", None, False)]
)
def test_it_is_counted_where_model_and_task_are_known(model: str | None, task: str | None, counted: bool) -> None:
    assert feedback_object("req-1", model, task, Feedback(250, 3)) == {
        "object": "routing.feedback",
        "request_id": "req-1",
        "model": model,
        "task": task,
        "score": 0.25,
        "comment_characters": 3,
        "counted": counted,
    }
