"""The decision as callers and operators read it."""

from fractions import Fraction

import pytest

from core.chat import Json
from core.decision import Alternative, Decision, Objective
from core.money import Cost, Terms
from core.record import AttemptRow, Record
from core.surfaces.decision import MOST_ALTERNATIVES, recorded_decision, routing_object

ID = "req-" + "0" * 32
MILLION = Fraction(1_000_000)
SERVED = AttemptRow(
    "lab/small", "lab/upstream", "served", 900, cost=Cost(2 * MILLION, 2 * MILLION, MILLION), charged=True
)
FAILED = AttemptRow("lab/large", "shop/upstream", "rate_limited", 40, upstream_status=429, upstream_code="slow")


def decision(**members: Json) -> Decision:
    plain: dict[str, Json] = {
        "pick": "lab/small",
        "policy": "default",
        "optimize": Objective.BALANCED,
        "alternatives": (Alternative("lab/small", 0.9, 0.8, 120, 300), Alternative("lab/new")),
        "reasoning": "It was named.",
        **members,
    }
    return Decision(**plain)


def shown(made: Decision, *attempts: AttemptRow, **members: Json) -> dict[str, Json]:
    return routing_object(ID, 7, made, model="lab/small", attempts=attempts, **members)


def test_a_decision_in_full() -> None:
    made = decision(
        task="code",
        task_confidence=0.7,
        complexity=0.4,
        decisiveness=0.3,
        excluded={"no_tools": ("a", "b"), "policy": ("c",)},
        thinking="on",
        thinking_reason="model_ignores_off",
        structured_output="unverified",
        tool_memory="missing",
    )
    assert shown(made, FAILED, SERVED, truncated="max_tokens") == {
        "object": "routing",
        "request_id": ID,
        "created": 7,
        "model": "lab/small",
        "pick": "lab/small",
        "policy": "default",
        "optimize": "balanced",
        "task": "code",
        "task_confidence": 0.7,
        "complexity": 0.4,
        "decisiveness": 0.3,
        "alternatives": [
            {
                "model": "lab/small",
                "score": 0.9,
                "quality": 0.8,
                "quality_basis": "measured",
                "estimated_cost_micros": 120,
                "estimated_ttft_ms": 300,
            },
            {
                "model": "lab/new",
                "score": None,
                "quality": None,
                "quality_basis": "unknown",
                "estimated_cost_micros": None,
                "estimated_ttft_ms": None,
            },
        ],
        "excluded": {"no_tools": 2, "policy": 1},
        "attempts": [
            {"model": "lab/large", "outcome": "rate_limited", "ms": 40, "cost_micros": 0},
            {"model": "lab/small", "outcome": "served", "ms": 900, "cost_micros": 5},
        ],
        "reasoning": "It was named.",
        "thinking": "on",
        "thinking_reason": "model_ignores_off",
        "truncated": "max_tokens",
        "structured_output": "unverified",
        "tool_memory": "missing",
    }


def test_what_there_is_nothing_to_say_about_is_left_out() -> None:
    made = shown(decision())
    left_out = {"thinking", "thinking_reason", "truncated", "structured_output", "tool_memory"}
    assert not left_out & set(made)
    assert (made["task"], made["decisiveness"], made["attempts"], made["excluded"]) == (None, 1.0, [], {})


def test_answers_show_the_first_ten_and_counts_and_the_record_everything() -> None:
    many = decision(
        alternatives=tuple(Alternative(f"lab/{index}") for index in range(25)), excluded={"region": ("a", "b")}
    )
    assert [each["model"] for each in shown(many)["alternatives"]] == [f"lab/{i}" for i in range(MOST_ALTERNATIVES)]
    full = shown(many, full=True)
    assert len(full["alternatives"]) == 25
    assert full["excluded"] == {"region": ["a", "b"]}


@pytest.mark.parametrize(
    ("row", "terms", "expected"),
    [
        (SERVED, Terms(), 5),
        (SERVED, Terms(markup=Fraction(1, 5)), 6),
        (SERVED, Terms(discount=Fraction(3, 5), guardrail_pico=10**9), 2),
        (SERVED, Terms(provider_cost=False), 0),
        (AttemptRow("m", "h", "served", 1, charged=True), Terms(), None),
        (AttemptRow("m", "h", "no_content", 1, cost=Cost(MILLION, MILLION)), Terms(), 0),
    ],
)
def test_what_an_attempt_costs_its_caller(row: AttemptRow, terms: Terms, expected: int | None) -> None:
    assert shown(decision(), row, terms=terms)["attempts"][0]["cost_micros"] == expected


def record(**members: Json) -> Record:
    plain: dict[str, Json] = {
        "org": "org-1",
        "request_id": ID,
        "key_id": "key-1",
        "created_ms": 7_000,
        "lease_until_ms": 9_000,
        "requested_model": "auto",
        "surface": "plain",
        "stream": True,
        "decision": shown(decision(), FAILED, SERVED),
        **members,
    }
    return Record(**plain)


def test_afterwards_the_decision_has_what_came_of_it() -> None:
    settled = record(
        model="lab/large",
        attempts=(FAILED, SERVED),
        outcome="served",
        finish_reason="stop",
        upstream_finish_reason="end_turn",
        latency_ms=950,
        ttft_ms=60,
        settled_ms=7_950,
    )
    made = recorded_decision(settled, {"cost_micros": 5})
    assert made["model"] == "lab/large"
    assert made["pick"] == "lab/small"
    assert made["usage"] == {"cost_micros": 5}
    assert (made["outcome"], made["finish_reason"], made["error_code"]) == ("served", "stop", None)
    assert (made["latency_ms"], made["ttft_ms"]) == (950, 60)
    assert (made["requested_model"], made["surface"], made["stream"]) == ("auto", "plain", True)
    assert "upstream" not in str(made)
    assert "end_turn" not in str(made)
    assert recorded_decision(settled, None, with_hosts=True)["upstream_finish_reason"] == "end_turn"


def test_an_open_record_says_so() -> None:
    made = recorded_decision(record(), None)
    assert (made["outcome"], made["usage"], made["model"]) == ("open", None, "lab/small")


def test_operators_see_the_hosts() -> None:
    made = recorded_decision(record(attempts=(FAILED, SERVED)), None, with_hosts=True)
    assert [attempt["host"] for attempt in made["attempts"]] == ["shop/upstream", "lab/upstream"]
    assert (made["attempts"][0]["upstream_status"], made["attempts"][0]["upstream_code"]) == (429, "slow")
    assert recorded_decision(record(decision={}), None, with_hosts=True)["attempts"] == []
