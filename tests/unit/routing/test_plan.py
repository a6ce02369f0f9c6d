"""The plan for a named model: its hosts in order, and clear words when none is left."""

import pytest

from core.catalog.model import Abilities, Host, Model, Promises, StructuredOutput, Target, Thinking
from core.chat import ChatRequest, ResponseFormat
from core.decision import BUILT_IN_POLICY, Candidate, DataRules, HostRules, Preferences
from core.errors import GatewayError, InvalidRequest, Overloaded, Unprocessable
from core.routing.plan import plan_named
from core.routing.policy import narrow
from core.routing.stages import capable
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


def hosts_of(preferences: Preferences) -> list[str]:
    model = make_model()
    plan, _ = plan_named(make_request(), model, candidates(model), narrow(BUILT_IN_POLICY, preferences))
    return [leg.target.vendor.name for leg in plan.legs]


def refusal(request: ChatRequest, found: list[Candidate], preferences: Preferences | None = None) -> GatewayError:
    with pytest.raises(GatewayError) as refused:
        plan_named(request, make_model(), found, narrow(BUILT_IN_POLICY, preferences or Preferences()))
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
    model = make_model()
    preferences = Preferences(providers=HostRules(ignore=("one",)))
    _, decision = plan_named(make_request(), model, candidates(model), narrow(BUILT_IN_POLICY, preferences))
    assert (decision.pick, decision.decisiveness, decision.excluded) == ("lab/m", 1.0, {})
    assert decision.alternatives[0].model == "lab/m"


def test_when_all_are_ruled_out_the_reasons_are_told() -> None:
    preferences = Preferences(providers=HostRules(ignore=("one",)), data=DataRules(regions=("eu",)))
    error = refusal(make_request(), candidates(make_model()), preferences)
    assert isinstance(error, Unprocessable)
    assert error.code == "no_eligible_model"
    assert "policy, region" in error.message


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
    _, decision = plan_named(request, model, candidates(model), narrow(BUILT_IN_POLICY, Preferences()))
    assert decision.structured_output == "unverified"


def test_a_stream_without_thinking_holds_reasoning() -> None:
    model = make_model(Abilities(thinking=Thinking.ALWAYS))
    effective = narrow(BUILT_IN_POLICY, Preferences())
    request = make_request(stream=True, extended_thinking=False)
    plan, decision = plan_named(request, model, candidates(model), effective, thinking_reason="model_ignores_off")
    assert (plan.hold_reasoning, plan.whole) == (True, False)
    assert (decision.thinking, decision.thinking_reason) == ("on", "model_ignores_off")


def test_a_whole_answer_of_a_model_that_always_thinks_has_ten_minutes() -> None:
    model = make_model(Abilities(thinking=Thinking.ALWAYS))
    plan, decision = plan_named(make_request(), model, candidates(model), narrow(BUILT_IN_POLICY, Preferences()))
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
    plan, _ = plan_named(make_request(), model, found, narrow(BUILT_IN_POLICY, Preferences()))
    assert [leg.target.vendor.name for leg in plan.legs] == ["two"]
    assert capable(tuple(found)).dropped == ((found[0], code),)
