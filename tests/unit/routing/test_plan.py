"""The plan for a named model: its hosts in order, and clear words when none is left."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.catalog.model import Abilities, Host, Model, Promises, StructuredOutput, Target, Thinking
from core.chat import ChatRequest, ResponseFormat
from core.decision import BUILT_IN_POLICY, Candidate, DataRules, Decision, HostRules, Plan, Policy, Preferences
from core.errors import GatewayError, InvalidRequest, Overloaded, Unprocessable
from core.money import Terms
from core.routing.board import HealthView
from core.routing.health import HostHealth
from core.routing.plan import Named, plan_named
from core.routing.policy import narrow
from core.routing.stages import capable
from core.routing.worst import worst_of
from tests.support.routing import CODE, NOW, make_prices
from tests.support.targets import make_vendor

ONE = Host(vendor="one", upstream_model="m", promises=Promises(region="eu"))
TWO = Host(vendor="two", upstream_model="m", promises=Promises(region="us", no_training=True, zero_retention=True))


def make_model(abilities: Abilities | None = None) -> Model:
    return Model("lab/m", "M", "lab", (ONE, TWO), 8_192, 2_048, abilities or Abilities())


def candidates(model: Model, *refused: tuple[str, str]) -> list[Candidate]:
    return [Candidate(Target(model, host, make_vendor(host.vendor)), refused) for host in model.hosts]


def make_request(**members: object) -> ChatRequest:
    written: dict[str, object] = {"model": "lab/m", "messages": []}
    return ChatRequest(**{"model": "lab/m", "messages": (), "written": written, **members})  # type: ignore[arg-type]  # members are the test's


def planned(
    request: ChatRequest | None = None,
    model: Model | None = None,
    found: Sequence[Candidate] | None = None,
    preferences: Preferences | None = None,
    policy: Policy = BUILT_IN_POLICY,
    **members: Any,
) -> tuple[Plan, Decision]:
    model = model or make_model()
    effective = narrow(policy, preferences or Preferences())
    named = Named(request or make_request(), model, candidates(model) if found is None else found, effective, **members)
    return plan_named(named)


def hosts(plan: Plan) -> list[str]:
    return [leg.target.vendor.name for leg in plan.legs]


def hosts_of(preferences: Preferences, **members: Any) -> list[str]:
    return hosts(planned(preferences=preferences, **members)[0])


def refusal(
    request: ChatRequest | None = None,
    found: Sequence[Candidate] | None = None,
    preferences: Preferences | None = None,
    **members: Any,
) -> GatewayError:
    with pytest.raises(GatewayError) as refused:
        planned(request, None, found, preferences, **members)
    return refused.value


def test_hosts_are_tried_in_catalog_order() -> None:
    assert hosts_of(Preferences()) == ["one", "two"]


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        (Preferences(providers=HostRules(order=("two",))), ["two", "one"]),
        (Preferences(providers=HostRules(only=("two",))), ["two"]),
        (Preferences(providers=HostRules(ignore=("two",))), ["one"]),
        (Preferences(data=DataRules(regions=("us",))), ["two"]),
        (Preferences(data=DataRules(no_training=True)), ["two"]),
        (Preferences(data=DataRules(zero_retention=True)), ["two"]),
    ],
)
def test_preferences_narrow_and_order_the_hosts(preferences: Preferences, expected: list[str]) -> None:
    assert hosts_of(preferences) == expected


def test_the_decision_names_no_host() -> None:
    _, decision = planned(preferences=Preferences(providers=HostRules(ignore=("one",))))
    assert (decision.pick, decision.decisiveness, decision.excluded) == ("lab/m", 1.0, {})
    assert decision.alternatives[0].model == "lab/m"


def test_when_all_are_ruled_out_the_reasons_are_told() -> None:
    preferences = Preferences(providers=HostRules(ignore=("one",)), data=DataRules(regions=("eu",)))
    error = refusal(make_request(), candidates(make_model()), preferences)
    assert isinstance(error, Unprocessable)
    assert error.code == "no_eligible_model"
    assert error.message == "No host of lab/m is left: policy, region. Widen the routing object, or name another model."


def test_a_limit_beyond_the_model_is_refused_naming_the_field_that_was_used() -> None:
    error = refusal(make_request(max_tokens=4_096), candidates(make_model()))
    assert isinstance(error, InvalidRequest)
    assert (error.param, "2048" in error.message) == ("max_tokens", True)
    written = {"max_completion_tokens": 4_096}
    assert refusal(make_request(max_tokens=4_096, written=written), []).param == "max_completion_tokens"


def test_without_a_host_the_gateway_is_overloaded_not_the_request_wrong() -> None:
    assert isinstance(refusal(make_request(), []), Overloaded)


def test_a_field_that_no_host_takes_is_named() -> None:
    error = refusal(make_request(), candidates(make_model(), ("tools", "It does not call tools.")))
    assert (error.status, error.code, error.param) == (400, "unsupported_parameter", "tools")
    assert "It does not call tools." in error.message


def test_structured_output_that_is_known_to_fail_is_422() -> None:
    error = refusal(make_request(), candidates(make_model(), ("response_format.json_schema", "No schemas.")))
    assert (error.status, error.code, error.param) == (422, "no_eligible_model", "response_format.json_schema")


def test_an_unverified_model_is_used_and_the_decision_says_so() -> None:
    model = make_model(Abilities(structured_output=StructuredOutput.UNVERIFIED))
    request = make_request(response_format=ResponseFormat("json_schema", name="x", schema={}))
    _, decision = planned(request, model)
    assert decision.structured_output == "unverified"


def test_a_stream_without_thinking_holds_reasoning() -> None:
    model = make_model(Abilities(thinking=Thinking.ALWAYS))
    plan, _ = planned(make_request(stream=True, extended_thinking=False), model)
    assert (plan.hold_reasoning, plan.whole) == (True, False)


def test_a_whole_answer_of_a_model_that_always_thinks_has_ten_minutes() -> None:
    model = make_model(Abilities(thinking=Thinking.ALWAYS))
    plan, decision = planned(model=model)
    assert (plan.whole, plan.deadline_s, plan.legs[0].budgets.first_token_s) == (True, 590.0, None)
    assert decision.thinking is None


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("messages[].content[].image_url", "no_vision"),
        ("tools", "no_tools"),
        ("n", "no_choices"),
        ("seed", "unsupported_parameter"),
    ],
)
def test_hosts_that_refuse_a_field_are_left_for_those_that_do_not(field: str, code: str) -> None:
    model = make_model()
    first, second = candidates(model)
    found = [Candidate(first.target, ((field, "It does not."),)), second]
    assert hosts(planned(model=model, found=found)[0]) == ["two"]
    assert capable(tuple(found)).dropped == ((found[0], code),)


@pytest.mark.parametrize(
    ("preferences", "policy"),
    [
        (Preferences(exclude=("lab/m",)), BUILT_IN_POLICY),
        (Preferences(models=("lab/other",)), BUILT_IN_POLICY),
        (Preferences(), Policy(allow_models=("lab/other",))),
    ],
)
def test_a_model_outside_policy_or_routing_object_is_refused(preferences: Preferences, policy: Policy) -> None:
    error = refusal(preferences=preferences, policy=policy)
    assert (error.status, error.code, error.param) == (422, "policy_violation", "model")


def cooling(name: str) -> HealthView:
    known = {name: HostHealth(cooldowns=1, cooling_until=NOW + 9)}
    return HealthView(NOW, known, frozenset(known))


def test_a_host_out_of_use_is_asked_last_and_the_one_that_made_the_calls_first() -> None:
    assert hosts_of(Preferences(), view=cooling("one/m")) == ["two", "one"]
    assert hosts_of(Preferences(providers=HostRules(order=("one",))), view=cooling("one")) == ["two", "one"]
    assert hosts_of(Preferences(), view=cooling("one/m"), caller="one/m") == ["one", "two"]


def test_a_cost_cap_leaves_hosts_that_cannot_pass_it() -> None:
    request = make_request(max_tokens=100)
    worst = worst_of(
        request, CODE.prompt_tokens, cap_micros=2_000, terms=Terms(), max_tokens_default=8_192, reasks=False, at_s=NOW
    )
    offers = (Host("dear", "m", make_prices(2)), Host("cheap", "m", make_prices(1)), Host("unpriced", "m"))
    model = Model("lab/m", "M", "lab", offers, 8_192, 2_048)
    assert hosts(planned(request, model, worst=worst)[0]) == ["cheap"]
    owned = replace(worst, free_vendors=frozenset({"dear", "unpriced"}))
    assert hosts(planned(request, model, worst=owned)[0]) == ["dear", "cheap", "unpriced"]
    error = refusal(request, candidates(make_model()), worst=worst)
    assert (error.code, "price_unknown" in error.message) == ("no_eligible_model", True)
    assert "cost_cap" in refusal(request, candidates(model)[:1], worst=worst).message


def test_models_that_the_operator_named_may_stand_in() -> None:
    small = Model("lab/small", "S", "lab", (Host("three", "s"),), 8_192, 100)
    other = Model("lab/other", "O", "lab", (Host("three", "o"), Host("four", "o")), 8_192, 2_048)
    fallbacks = [
        Candidate(candidates(small)[0].target),
        Candidate(candidates(other)[0].target, (("tools", "It does not."),)),
        candidates(other)[1],
    ]
    plan, decision = planned(fallbacks=fallbacks)
    assert [leg.target.name for leg in plan.legs] == ["one/m", "two/m", "three/s", "four/o"]
    assert [each.model for each in decision.alternatives] == ["lab/m", "lab/small", "lab/other"]
    assert decision.reasoning == (
        "The request named lab/m. If it fails, lab/small and then lab/other may stand in for it."
    )
    plan, _ = planned(make_request(max_tokens=1_000), fallbacks=fallbacks)
    assert [leg.target.name for leg in plan.legs] == ["one/m", "two/m", "four/o"]
