"""Expected costs are those of the price list, however they were reckoned."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Host, Thinking
from core.catalog.schedule import PriceChange
from core.chat import Usage
from core.money import PICO_PER_MICRO, ContextTier, Prices, Rates, price
from core.routing.estimate import Ask, Costs, ask_of
from core.routing.reading import Reading, usual_answer
from core.routing.thought import ThinkingMode
from tests.support.routing import (
    CODE,
    NOW,
    make_abilities,
    make_host,
    make_index,
    make_model,
    make_prices,
    make_request,
    thinker,
)

PLAIN = Ask(1_000, 700, None, 1, ThinkingMode.DEFAULT, None, NOW)

rates = st.builds(Rates, st.integers(0, 10**9), st.integers(0, 10**9))
asked = {"per_request": st.just(0) | st.integers(0, 10**12), "minimum": st.just(0) | st.integers(0, 10**12)}
tiers = st.lists(st.builds(ContextTier, st.integers(1, 5_000), st.just(">"), rates), max_size=2).map(tuple)
price_lists = st.builds(
    Prices,
    base=rates,
    tiers=tiers,
    service_tiers=st.dictionaries(st.sampled_from(["flex", "fast"]), st.sampled_from([Fraction(1, 2), Fraction(3)])),
    service_prices=st.dictionaries(st.just("batch"), st.builds(Prices, base=rates, tiers=tiers, **asked)),
    **asked,
)
asks = st.builds(
    Ask,
    prompt_tokens=st.integers(0, 10_000),
    answer_tokens=st.integers(1, 2_000),
    max_tokens=st.none() | st.integers(2_000, 9_000),
    choices=st.integers(1, 4),
    mode=st.sampled_from(ThinkingMode),
    service_tier=st.sampled_from([None, "flex", "batch", "default"]),
    at_s=st.just(NOW),
)


@given(st.lists(st.none() | price_lists, min_size=1, max_size=6), st.sampled_from([0, 3_000]), asks)
def test_they_are_what_money_says(found: list[Prices | None], reasoning: int, ask: Ask) -> None:
    hosts = [Host(f"v{place}", "up", prices=prices) for place, prices in enumerate(found)]
    index = make_index(make_model("m", hosts, abilities=thinker(reasoning)))
    costs = Costs(index, ask).micros(range(index.size))
    one = ask.answer_tokens + reasoning
    output = ask.choices * (one if ask.max_tokens is None else min(one, ask.max_tokens))
    usage = Usage(input_tokens=ask.prompt_tokens, output_tokens=output, service_tier=ask.service_tier)
    for row, prices in enumerate(found):
        expected = None if prices is None else float(price(usage, prices).total) / PICO_PER_MICRO
        assert costs.get(row) == (expected if expected is None else pytest.approx(expected))


def test_one_of_many_is_reckoned_like_all() -> None:
    index = make_index(*(make_model(f"m{place}", price=place, abilities=thinker(50)) for place in range(9)))
    costs = Costs(index, PLAIN)
    assert costs.micros([8])[8] == costs.micros(range(9))[8] == 1_750 * 8


def test_a_host_with_prices_of_its_own_is_reckoned_where_it_is_asked_about() -> None:
    changing = make_host("a", price=1, price_changes=(PriceChange(make_prices(5)),))
    index = make_index(make_model("m", [changing, make_host("b", 2)]))
    assert Costs(index, PLAIN).micros([1]) == {1: 3_400}
    assert Costs(index, PLAIN).micros([0]) == {0: 8_500}


def test_rough_costs_are_reckoned_once() -> None:
    costs = Costs(make_index(make_model("m")), PLAIN)
    assert costs.rough() is costs.rough()
    assert costs.rough().values[0] == 1_700 * PICO_PER_MICRO


def test_prices_are_those_of_the_moment() -> None:
    until_then = make_host(price=1, price_changes=(PriceChange(make_prices(5), since="2026-01-01"),))
    only_later = make_host(price=None, price_changes=(PriceChange(make_prices(5), since="2100-01-01"),))
    index = make_index(make_model("m", [until_then, only_later]))
    assert Costs(index, PLAIN).micros([0, 1]) == {0: 8_500}


def test_a_request_in_numbers() -> None:
    request = make_request(max_tokens=90, n=3, service_tier="flex", extended_thinking=False)
    ask = ask_of(request, CODE, NOW)
    assert ask == Ask(1_000, 90, 90, 3, ThinkingMode.OFF, "flex", NOW)
    assert (ask.room, PLAIN.room) == (45, None)
    assert ask_of(make_request(), CODE, NOW).answer_tokens == 700


def test_a_usual_answer_is_the_mean_of_the_plausible_tasks_and_grows_with_difficulty() -> None:
    mixed = Reading(1, {"code": 0.5, "classification": 0.5}, "code", 0.5, 0.5)
    assert usual_answer(mixed) == 365
    assert usual_answer(replace(mixed, complexity=1.0)) == 474
    assert usual_answer(replace(mixed, complexity=0.0)) == 255
    assert usual_answer(replace(mixed, tasks={})) == 300
    assert usual_answer(replace(mixed, tasks={"knitting": 1.0}, complexity=0.5)) == 300


@pytest.mark.parametrize(
    ("members", "mode"),
    [
        ({}, ThinkingMode.DEFAULT),
        ({"extended_thinking": True, "reasoning_effort": "none"}, ThinkingMode.ON),
        ({"extended_thinking": False, "reasoning_effort": "high"}, ThinkingMode.OFF),
        ({"reasoning_effort": "none"}, ThinkingMode.OFF),
        ({"reasoning_effort": "low"}, ThinkingMode.ON),
    ],
)
def test_what_a_request_says_of_thinking(members: dict[str, object], mode: ThinkingMode) -> None:
    assert ask_of(make_request(**members), CODE, NOW).mode is mode


@pytest.mark.parametrize(
    ("thinking", "by_default", "expected"),
    [
        (Thinking.NONE, False, {}),
        (Thinking.ALWAYS, False, {"off": 90, "default": 90, "on": 90}),
        (Thinking.OPTIONAL, False, {"on": 90}),
        (Thinking.OPTIONAL, True, {"default": 90, "on": 90}),
    ],
)
def test_who_thinks_when(thinking: Thinking, by_default: bool, expected: dict[str, int]) -> None:
    able = make_abilities(thinking=thinking, thinks_by_default=by_default, reasoning_tokens=90)
    index = make_index(make_model("m", abilities=able))
    found = {mode.value: index.reasoning[mode][0] for mode in ThinkingMode}
    assert found == {**dict.fromkeys(("off", "default", "on"), 0), **expected}


def test_who_thinks_an_unknown_amount_is_taken_to_think_the_usual_one() -> None:
    assert make_index(make_model("m", abilities=thinker(None))).reasoning[ThinkingMode.OFF][0] == 2_048
