"""What a request takes of its limits."""

from fractions import Fraction

import pytest

from core.accounts.limits import Limited
from core.catalog.model import Target
from core.demand import demand_of, within
from core.money import Terms
from core.reservation import Amount
from core.routing.worst import Worst
from core.tenant import Limits
from tests.support.routing import NOW, make_catalog, make_host, make_model, make_request

KEY = "key:key_1"
IN_MONEY = (Limited(KEY, Limits(day_micros=1)),)
WORST = Worst(
    prompt_tokens=100,
    output_tokens=50,
    choices=2,
    calls=2,
    is_unusual=False,
    service_tier="",
    at_s=NOW,
    limit=None,
)


def targets(*prices: float | None) -> list[Target]:
    models = [make_model(f"lab/{number}", hosts=(make_host(price=price),)) for number, price in enumerate(prices)]
    catalog = make_catalog(*models)
    return [target for model in models for target in catalog.targets(model)]


def test_what_is_not_limited_takes_nothing() -> None:
    assert demand_of((), lambda: pytest.fail("nobody needs it"), targets(1), Terms()) is None


def test_where_only_requests_are_counted_nobody_asks_how_large_one_is() -> None:
    limited = (Limited(KEY, Limits(parallel=1, day_requests=5)),)
    demand = demand_of(limited, lambda: pytest.fail("nobody needs it"), targets(1), Terms())
    assert demand is not None
    assert (demand.call, demand.again) == (Amount(), Amount())


@pytest.mark.parametrize("limits", [Limits(day_micros=1), Limits(minute_tokens=1)])
def test_a_call_may_come_to_the_dearest_host_of_the_plan_and_every_choice(limits: Limits) -> None:
    demand = demand_of((Limited(KEY, limits),), lambda: WORST, targets(1, 3, None, 2), Terms())
    assert demand is not None
    assert demand.call == Amount(micros=3 * 200, tokens=200)
    # The call that asks once more has the first answer and the words that ask in its prompt.
    assert demand.again == Amount(micros=3 * (200 + 50 + 64), tokens=200 + 50 + 64)


def test_what_the_organisation_pays_on_top_is_held_too_and_rounded_up() -> None:
    terms = Terms(markup=Fraction(1, 3), discount=Fraction(1, 7), guardrail_pico=1)
    demand = demand_of(IN_MONEY, lambda: WORST, targets(1), terms)
    assert demand is not None
    assert demand.call.micros == 229
    free = demand_of(IN_MONEY, lambda: WORST, targets(1), Terms(provider_cost=False))
    assert free is not None
    assert free.call == Amount(0, 200)


def test_answers_are_bounded_where_the_request_does_not_bound_them_itself() -> None:
    (target,) = targets(1)
    free, own = make_request(), make_request(max_tokens=7)
    assert within(free, None, target) is free
    assert within(own, 5, target) is own
    assert (within(free, 5, target).max_tokens, within(free, 5, target).written["max_tokens"]) == (5, 5)
    most = target.max_output_tokens
    assert within(free, most + 1, target).max_tokens == most
