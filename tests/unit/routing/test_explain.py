"""Why a model was chosen, in plain words built from the numbers."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.decision import Objective
from core.routing.explain import Told, reasoning
from core.routing.score import Entrant


def entrant(model: str, **members: Any) -> Entrant:
    plain: dict[str, Any] = {
        "row": 0,
        "value": 0.8,
        "is_measured": True,
        "is_cramped": False,
        "micros": 420.0,
        "ttft_ms": None,
    }
    return Entrant(model, **{**plain, **members})


ONE, TWO = entrant("lab/one"), entrant("lab/two", value=0.78, micros=610.0)


def told(pick: Entrant, second: Entrant | None = None, **members: Any) -> str:
    plain: dict[str, Any] = {
        "score": 0.7,
        "best": pick,
        "best_score": 1.0,
        "eligible": 12,
        "enough": 3,
        "cramped": 0,
        "objective": Objective.BALANCED,
        "task": "code",
        "max_tokens": None,
        "stand_ins": (),
        "is_loop": False,
        "is_doubtful": False,
    }
    return reasoning(Told(pick=pick, second=second, **{**plain, **members}))


@pytest.mark.parametrize(
    ("objective", "members", "expected"),
    [
        (
            Objective.BALANCED,
            {},
            "3 of 12 models are expected to do this code request nearly as well as the best; lab/one costs least of "
            "them, about $0.00042, where lab/two costs about $0.00061.",
        ),
        (
            Objective.BALANCED,
            {"enough": 1},
            "lab/one is expected to do this code request best of 12 models: 0.80, before lab/two with 0.78.",
        ),
        (
            Objective.QUALITY,
            {},
            "lab/one is expected to do this code request best of 12 models: 0.80, before lab/two with 0.78.",
        ),
        (
            Objective.COST,
            {},
            "lab/one costs least of 12 models for this code request, about $0.00042, where lab/two costs about "
            "$0.00061.",
        ),
    ],
)
def test_each_objective_has_its_sentence(objective: Objective, members: Any, expected: str) -> None:
    assert told(ONE, TWO, objective=objective, **members) == expected


def test_time_is_told_where_it_is_known() -> None:
    quick, slow = entrant("quick", ttft_ms=310.4), entrant("slow", ttft_ms=900)
    assert told(quick, slow, objective=Objective.LATENCY) == (
        "quick is the quickest of 12 models to its first token: about 310 ms, before slow with about 900 ms."
    )
    assert told(quick, TWO, objective=Objective.LATENCY).endswith("about 310 ms.")
    assert told(ONE, TWO, objective=Objective.LATENCY) == (
        "No first-token time is known of the 12 models that can serve this request; lab/one promises most for its "
        "quality and price."
    )


def test_prices_are_told_where_they_are_known() -> None:
    unpriced = entrant("free", micros=None)
    assert "No price is known of the 12 models" in told(unpriced, TWO, objective=Objective.COST)
    assert told(unpriced, TWO).startswith("free is expected to do this code request best")
    assert told(ONE, unpriced, objective=Objective.COST).endswith("about $0.00042.")


@pytest.mark.parametrize(
    ("micros", "expected"),
    [
        (0.0, "about nothing"),
        (0.034, "$0.000000034"),
        (5.0, "$0.0000050"),
        (12_345.0, "$0.012"),
        (2_345_000.0, "$2.35"),
    ],
)
def test_dollars_have_two_digits_that_count(micros: float, expected: str) -> None:
    assert expected in told(entrant("a", micros=micros), TWO, objective=Objective.COST)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (10_600.0, "about $0.011, about as much as b."),
        (10_600.4, "about $0.011, about as much as b."),
        (10_610.0, "about $0.01060, where b costs about $0.01061."),
        (10_700.0, "about $0.0106, where b costs about $0.0107."),
        (11_900.0, "about $0.011, where b costs about $0.012."),
        (None, "about $0.011."),
    ],
)
def test_two_prices_have_as_many_digits_as_tell_them_apart(other: float | None, expected: str) -> None:
    pick, second = entrant("a", micros=10_600.0), entrant("b", micros=other)
    assert told(pick, second, objective=Objective.COST).endswith(expected)


NUMBERS = st.floats(0, 1e9, allow_subnormal=False)


@given(NUMBERS, NUMBERS)
@example(9_960.0, 10_000.0)  # $0.0100 and $0.010
def test_no_price_is_told_twice(one: float, other: float) -> None:
    said = told(entrant("a", micros=one), entrant("b", micros=other), objective=Objective.COST)
    first, *second = re.findall(r"about (?:nothing|\$([0-9.]+[0-9]))", said)
    assert [float(price or 0) for price in second] != [float(first or 0)]
    assert bool(second) != ("about as much as b" in said)


def test_no_quality_score_or_time_is_told_twice() -> None:
    near, same = entrant("near", value=0.799, ttft_ms=310.2), entrant("same", ttft_ms=310.4)
    assert told(ONE, near, objective=Objective.QUALITY).endswith("0.800, before near with 0.799.")
    assert told(ONE, same, objective=Objective.QUALITY).endswith("0.80, and same about as well.")
    assert told(near, same, objective=Objective.LATENCY).endswith("about 310 ms, as is same.")
    assert told(TWO, ONE, best=ONE, best_score=0.8012, score=0.8011).endswith("a little higher (0.8012 to 0.8011).")
    assert told(TWO, ONE, best=ONE, best_score=0.8, score=0.8).endswith("a little higher.")


def test_the_only_model_needs_no_comparison() -> None:
    assert told(ONE) == "lab/one is the only model that can serve this request."


def test_what_stays_and_what_goes_on() -> None:
    assert "lab/two served this conversation before" in told(TWO, ONE, best=ONE)
    assert told(ONE, is_loop=True).startswith("lab/one made the tool calls")


CRAMPED = entrant("deep", is_cramped=True)
UNKNOWN = entrant("new", is_measured=False)


@pytest.mark.parametrize(
    ("models", "members", "expected"),
    [
        (
            (ONE, TWO),
            {"cramped": 1, "max_tokens": 90},
            "One model that thinks was placed behind the others, since the limit of 90 tokens leaves too little room.",
        ),
        ((ONE, TWO), {"cramped": 4, "max_tokens": 90}, "4 models that think were placed behind the others"),
        (
            (CRAMPED, TWO),
            {"cramped": 4, "max_tokens": 90},
            "The limit of 90 tokens leaves little room for the thinking that it usually does.",
        ),
        ((ONE, TWO), {"is_doubtful": True}, "Every host that can serve it has failed lately"),
        ((UNKNOWN, TWO), {"objective": Objective.COST}, "No model that can serve it was evaluated for code."),
    ],
)
def test_one_thing_more_is_said_where_there_is_one(models: tuple[Entrant, ...], members: Any, expected: str) -> None:
    said = told(*models, **members)
    assert expected in said
    assert said.count(". ") == 1


@pytest.mark.parametrize("objective", [Objective.QUALITY, Objective.BALANCED])
def test_no_quality_is_told_of_a_model_that_was_not_evaluated(objective: Objective) -> None:
    assert told(UNKNOWN, TWO, objective=objective, stand_ins=("chat", "writing")) == (
        "No model that can serve it was evaluated for code; of 12, new comes first by scores for chat and writing."
    )
    assert told(UNKNOWN, TWO, objective=objective).endswith("new comes first.")
    assert told(ONE, UNKNOWN, objective=objective, enough=1).endswith("best of 12 models: 0.80.")
