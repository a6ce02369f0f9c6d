"""Decisions with thousands of models: what a record names of them, and what a list shows."""

from typing import Any

from core.decision import Alternative, Decision, Objective
from core.record import Record
from core.surfaces.decision import MOST_ALTERNATIVES, MOST_NAMED, listed_decision, routing_object

ID = "req-" + "0" * 32
MANY = Decision(
    pick="m0",
    policy="default",
    optimize=Objective.COST,
    alternatives=tuple(Alternative(f"m{number}") for number in range(30)),
    reasoning="It is cheap.",
    excluded={"policy": [f"x{number}" for number in range(MOST_NAMED + 9)], "no_tools": ["y", "z"]},
)


def shown(*, full: bool) -> dict[str, Any]:
    return routing_object(ID, 7, MANY, model="m0", full=full)


def record(decision: dict[str, Any]) -> Record:
    return Record(ID[:4], ID, "key", 7_000, 9_000, "auto", "plain", True, decision=decision)


def test_a_record_names_as_many_as_fit_and_says_how_many_there_were() -> None:
    full = shown(full=True)
    assert len(full["excluded"]["policy"]) == MOST_NAMED
    assert full["excluded"]["no_tools"] == ["y", "z"]
    assert full["excluded_totals"] == {"policy": MOST_NAMED + 9}
    assert len(full["alternatives"]) == 30


def test_an_answer_counts_them_all() -> None:
    answer = shown(full=False)
    assert answer["excluded"] == {"policy": MOST_NAMED + 9, "no_tools": 2}
    assert "excluded_totals" not in answer


def test_one_of_a_list_has_as_little_detail_as_an_answer() -> None:
    listed = listed_decision(record(shown(full=True)), None)
    answer = shown(full=False)
    assert {name: listed[name] for name in answer} == answer
    assert "excluded_totals" not in listed
    assert len(listed["alternatives"]) == MOST_ALTERNATIVES


def test_a_record_without_a_decision_can_be_listed() -> None:
    listed = listed_decision(record({}), None)
    assert (listed["alternatives"], listed["excluded"], listed["outcome"]) == ([], {}, "open")
