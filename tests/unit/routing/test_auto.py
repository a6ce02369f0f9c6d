"""The plan for `auto`: who is asked, in which order, what is told about it, and what is said when nobody can."""

import re
from dataclasses import replace

import pytest

from core.catalog.model import Abilities
from core.decision import HostRules, Objective, Policy, Preferences
from core.errors import Overloaded, Unprocessable
from core.routing.auto import MOST_NAMED, plan_auto
from core.routing.board import HealthView
from core.routing.conversations import Served
from core.routing.health import HostHealth
from core.routing.index import Index
from core.routing.reading import Reading
from tests.support.routing import (
    CODE,
    NOW,
    choose,
    make_host,
    make_index,
    make_model,
    make_request,
    make_wanted,
    ranked,
    thinker,
)

BEST = make_model("best", [make_host("a", 9, upstream_model="b1"), make_host("b", 8, upstream_model="b2")], quality=0.9)
CHEAP = make_model("cheap", [make_host("a", 1, upstream_model="c1")], quality=0.88)
POOR = make_model("poor", [make_host("b", 1, upstream_model="p1")], quality=0.3)
NEW = make_model("new", [make_host("a", "0.1", upstream_model="n1")], quality=None)
INDEX = make_index(POOR, BEST, NEW, CHEAP)


def cooling(*names: str) -> HealthView:
    known = dict.fromkeys(names, HostHealth(cooldowns=1, cooling_until=NOW + 9))
    return HealthView(NOW, known, frozenset(known))


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (Objective.QUALITY, ["best", "cheap", "poor", "new"]),
        (Objective.COST, ["cheap", "poor", "best", "new"]),
        (Objective.BALANCED, ["cheap", "best", "poor", "new"]),
        (Objective.LATENCY, ["cheap", "best", "poor", "new"]),
    ],
)
def test_each_objective_has_its_ranking(objective: Objective, expected: list[str]) -> None:
    _, decision = choose(INDEX, optimize=objective)
    assert ranked(decision) == expected
    assert (decision.pick, decision.optimize) == (expected[0], objective)


def test_the_decision_has_the_numbers() -> None:
    _, decision = choose(INDEX)
    first, *_, last = decision.alternatives
    assert (first.model, first.score, first.quality, first.estimated_cost_micros) == ("cheap", 1.0, 0.88, 1_700)
    assert (last.model, last.quality, last.estimated_ttft_ms) == ("new", None, None)
    assert (decision.task, decision.task_confidence, decision.complexity) == ("code", 0.9, 0.5)
    assert (decision.policy, decision.excluded) == ("default", {})
    assert decision.decisiveness == pytest.approx(1 - 1 / 8, abs=1e-3)


def test_the_only_choice_is_decisive_and_equals_are_a_coin_toss() -> None:
    assert choose(make_index(BEST))[1].decisiveness == 1.0
    twins = make_index(make_model("a", quality=0.5), make_model("b", quality=0.5))
    assert choose(twins)[1].decisiveness == 0.0
    nothing_known = make_index(*(make_model(name, price=None, quality=None) for name in "ab"))
    assert choose(nothing_known, optimize=Objective.COST)[1].decisiveness == 0.0


def test_the_chain_has_the_hosts_of_the_first_models() -> None:
    plan, _ = choose(INDEX, optimize=Objective.QUALITY)
    assert [leg.target.name for leg in plan.legs] == ["b/b2", "a/b1", "a/c1", "b/p1"]
    assert plan.max_attempts == 3
    plan, _ = choose(INDEX, optimize=Objective.QUALITY, fallback=False)
    assert ([leg.target.name for leg in plan.legs], plan.max_attempts) == (["b/b2", "a/b1"], 1)


def test_should_the_prompt_not_fit_there_is_a_larger_window_at_the_end_of_the_chain() -> None:
    models = [make_model(f"m{place}", price=place + 1) for place in range(5)]
    wide = make_model("wide", [make_host("a", 9), make_host("b", 9, context_tokens=1_000_000, upstream_model="w")])
    plan, _ = choose(make_index(*models, wide, make_model("wider", price=99, context_tokens=2_000_000)))
    assert [leg.target.name for leg in plan.legs] == ["lab/m0", "lab/m1", "lab/m2", "b/w"]
    assert len(choose(make_index(*models))[0].legs) == 3
    assert len(choose(make_index(*models, wide), fallback=False)[0].legs) == 1


def test_hosts_out_of_use_are_left_out_and_models_without_another_are_excluded() -> None:
    wanted = make_wanted(view=cooling("b/b2", "a/c1"), preferences=Preferences(optimize=Objective.QUALITY))
    plan, decision = plan_auto(INDEX, wanted)
    assert [leg.target.name for leg in plan.legs] == ["a/b1", "b/p1", "a/n1"]
    assert {code: [*models] for code, models in decision.excluded.items()} == {"unhealthy": ["cheap"]}


def test_better_a_host_that_failed_than_none() -> None:
    plan, decision = plan_auto(INDEX, make_wanted(view=cooling("a", "b")))
    assert plan.legs[0].target.name == "a/c1"
    assert decision.excluded == {}
    assert "failed lately" in decision.reasoning


class TestConversations:
    BEFORE = Served("best", "a/b1")

    def pick(self, index: Index, before: Served, **preferences: object) -> str:
        wanted = make_wanted(before=before, preferences=Preferences(**preferences))  # type: ignore[arg-type]  # as given
        return plan_auto(index, wanted)[1].pick

    def test_the_model_stays_while_another_is_hardly_better(self) -> None:
        near = make_index(make_model("a", price="1"), make_model("b", price="1.2"), make_model("c", price="2"))
        assert self.pick(near, Served("b", "lab/b")) == "b"
        assert self.pick(near, Served("c", "lab/c")) == "a"
        assert self.pick(near, Served("gone", "lab/gone")) == "a"

    def test_it_stays_with_the_host_too(self) -> None:
        plan, decision = plan_auto(
            INDEX, make_wanted(before=self.BEFORE, preferences=Preferences(optimize=Objective.QUALITY))
        )
        assert (decision.pick, plan.legs[0].target.name) == ("best", "a/b1")

    def test_a_model_without_a_known_quality_does_not_stay(self) -> None:
        index = make_index(make_model("known", price=1, quality=0.01), make_model("new", price=1, quality=None))
        assert self.pick(index, Served("new", "lab/new"), optimize=Objective.QUALITY) == "known"

    def test_the_others_follow_in_their_order(self) -> None:
        near = make_index(*(make_model(name, price=price) for name, price in (("a", "1"), ("b", "1.1"), ("c", "1.2"))))
        _, decision = plan_auto(near, make_wanted(before=Served("c", "lab/c")))
        assert (ranked(decision), decision.decisiveness) == (["c", "a", "b"], 0.0)
        assert decision.reasoning == (
            "c served this conversation before, as far as this gateway remembers, and a scores only a little higher "
            "(1.00 to 0.83)."
        )


class TestToolLoops:
    def test_the_model_that_made_the_calls_goes_on_and_its_host_is_asked_first(self) -> None:
        plan, decision = plan_auto(INDEX, make_wanted(caller=Served("best", "a/b1")))
        assert [leg.target.name for leg in plan.legs] == ["a/b1", "b/b2"]
        assert (ranked(decision), decision.decisiveness) == (["best"], 1.0)
        assert decision.reasoning == "best made the tool calls that are being answered, so it goes on."

    def test_also_when_its_hosts_have_failed(self) -> None:
        plan, _ = plan_auto(INDEX, make_wanted(caller=Served("best", "a/b1"), view=cooling("a/b1", "b/b2")))
        assert [leg.target.name for leg in plan.legs] == ["a/b1", "b/b2"]

    @pytest.mark.parametrize("model", ["gone", "best"])
    def test_where_it_cannot_serve_any_more_another_does(self, model: str) -> None:
        wanted = make_wanted(caller=Served(model, "a/b1"), preferences=Preferences(exclude=("best",)))
        assert plan_auto(INDEX, wanted)[1].pick == "cheap"


def test_a_model_that_always_thinks_stands_behind_when_the_limit_leaves_it_no_room() -> None:
    index = make_index(make_model("deep", quality=0.9, abilities=thinker(5_000)), make_model("plain", quality=0.4))
    roomy, _ = choose(index, optimize=Objective.QUALITY)
    assert roomy.legs[0].target.model.id == "deep"
    request = make_request(max_tokens=5_300)
    plan, decision = plan_auto(index, make_wanted(request, preferences=Preferences(optimize=Objective.QUALITY)))
    assert [leg.target.model.id for leg in plan.legs] == ["plain", "deep"]
    assert "placed behind the others" in decision.reasoning


def test_policy_names_and_times_are_those_in_force() -> None:
    policy = Policy(name="strict", first_token_ms=3_000, max_attempts=2, optimize=Objective.COST)
    request = make_request(stream=True, extended_thinking=False)
    plan, decision = plan_auto(INDEX, make_wanted(request, policy=policy))
    assert (decision.policy, decision.optimize) == ("strict", Objective.COST)
    assert (plan.max_attempts, plan.legs[0].budgets.first_token_s) == (2, 3.0)
    assert (plan.hold_reasoning, plan.whole) == (True, False)


def test_a_thinker_in_the_chain_gives_the_whole_answer_ten_minutes() -> None:
    plan, _ = choose(make_index(CHEAP, make_model("deep", quality=0.1, abilities=thinker())))
    assert (plan.deadline_s, plan.legs[0].budgets.first_token_s, plan.legs[1].budgets.first_token_s) == (590, 60, None)


def refusal(index: Index, **preferences: object) -> Unprocessable:
    with pytest.raises(Unprocessable) as refused:
        choose(index, **preferences)
    assert refused.value.code == "no_eligible_model"
    return refused.value


def test_when_nobody_can_serve_every_model_is_named_with_its_reason() -> None:
    blind = make_model("blind", context_tokens=500, abilities=Abilities())
    error = refusal(make_index(BEST, blind, NEW), exclude=("best",), min_quality=0.2)
    assert error.message == (
        "No model can serve this request. Widen the routing object, or shorten the prompt. "
        "Ruled out: policy: best; context_too_small: blind; quality_unknown: new."
    )


def test_of_thousands_of_models_as_many_are_named_as_there_is_room_for() -> None:
    many = make_index(*(make_model(f"m{place}") for place in range(MOST_NAMED + 7)), make_model("z", quality=None))
    message = refusal(many, providers=HostRules(only=("elsewhere",))).message
    assert len(re.findall(r"\bm\d+", message)) == MOST_NAMED
    assert "8 more" in message
    mixed = refusal(many, min_quality=0.9).message
    assert "quality_unknown: z; min_quality: m0, " in mixed
    assert mixed.count("8 more") == 1


def test_without_any_model_the_gateway_is_not_ready_rather_than_the_request_wrong() -> None:
    with pytest.raises(Overloaded):
        choose(make_index())


def test_only_the_keys_models_are_chosen_from() -> None:
    _, decision = plan_auto(INDEX, make_wanted(key_models=("poor", "new")))
    assert (ranked(decision), [*decision.excluded["policy"]]) == (["poor", "new"], ["best", "cheap"])


def test_difficulty_decides_what_is_good_enough() -> None:
    index = make_index(make_model("strong", price=9, quality=0.8), make_model("weak", price=1, quality=0.7))
    picks = [
        plan_auto(index, make_wanted(reading=replace(CODE, complexity=level)))[1].pick for level in (0.0, 0.6, 1.0)
    ]
    assert picks == ["weak", "strong", "strong"]


def test_a_task_that_nobody_was_evaluated_for_leaves_all_unknown_and_says_so() -> None:
    index = make_index(*(make_model(name, quality={"writing": value}) for name, value in (("a", 0.2), ("b", 0.9))))
    reading = Reading(100, {"translation": 1.0}, "translation", 0.8, 0.5)
    _, decision = plan_auto(index, make_wanted(reading=reading))
    assert (decision.pick, decision.alternatives[0].quality) == ("b", None)
    assert decision.reasoning == (
        "No model that can serve it was evaluated for translation; of 2, b comes first by scores for writing."
    )


def test_what_a_decision_costs_is_told_at_list_prices() -> None:
    _, decision = plan_auto(INDEX, make_wanted(make_request(n=2, service_tier="flex")))
    assert decision.alternatives[0].estimated_cost_micros == 1_000 + 2 * 700
