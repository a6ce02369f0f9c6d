"""What holds for any catalog, policy and request: nothing is widened, nothing is lost, unknown is never preferred."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Host, Model, Promises, StructuredOutput, Target, Thinking
from core.chat import ChatRequest
from core.decision import DataRules, Decision, HostRules, Objective, Plan, Policy, Preferences
from core.errors import Unprocessable
from core.money import Terms
from core.providers.fields import dispose, fields_of
from core.providers.refusals import refusable
from core.routing import sieves
from core.routing.auto import Wanted, plan_auto
from core.routing.board import NOTHING_KNOWN, HealthView
from core.routing.conversations import Served
from core.routing.estimate import ask_of
from core.routing.health import HostHealth
from core.routing.index import Index
from core.routing.policy import Effective, narrow
from core.routing.quality import qualities
from core.routing.reading import Reading
from core.routing.sieves import CODES
from core.routing.stages import refusal_code
from core.routing.worst import Worst, worst_of
from core.surfaces.decision import routing_object
from tests.support.requests import ask
from tests.support.routing import NOW, make_abilities, make_index, make_model, make_prices

VENDORS = ("vendor-x", "vendor-y", "vendor-z")
REGIONS = ("eu", "us")
TASKS = ("code", "chat", "translation")
NAMES = tuple(f"m{number}" for number in range(5))

chances = st.floats(0, 1)
some_regions = st.none() | st.sets(st.sampled_from(REGIONS), min_size=1).map(lambda found: tuple(sorted(found)))
data_rules = st.builds(DataRules, some_regions, st.booleans(), st.booleans())
some_names = st.sets(st.sampled_from((*NAMES, "gone"))).map(lambda found: tuple(sorted(found)))
some_vendors = st.sets(st.sampled_from(VENDORS)).map(lambda found: tuple(sorted(found)))
hosts = st.builds(
    Host,
    vendor=st.sampled_from(VENDORS),
    upstream_model=st.sampled_from(["a", "b"]),
    prices=st.none() | st.integers(0, 40).map(make_prices),
    promises=st.builds(Promises, st.sampled_from((None, *REGIONS)), st.booleans(), st.booleans()),
    context_tokens=st.none() | st.sampled_from([1_500, 50_000]),
    deprecated=st.sampled_from([None, None, "2026-01-01"]),
)


@st.composite
def models(draw: st.DrawFn, name: str) -> Model:
    return make_model(
        name,
        draw(st.lists(hosts, min_size=1, max_size=2)),
        quality=draw(st.dictionaries(st.sampled_from(TASKS), st.floats(0, 1))),
        max_output_tokens=draw(st.sampled_from([500, 4_000])),
        first_token_ms=draw(st.none() | st.integers(1, 2_000)),
        abilities=make_abilities(
            tools=draw(st.booleans()),
            vision=draw(st.booleans()),
            structured_output=draw(st.sampled_from(StructuredOutput)),
            thinking=draw(st.sampled_from(Thinking)),
            reasoning_tokens=draw(st.none() | st.integers(0, 3_000)),
        ),
    )


@dataclass(frozen=True)
class Case:
    """A catalog, an envelope, and a request inside it."""

    index: Index
    policy: Policy
    preferences: Preferences
    effective: Effective
    wanted: Wanted


@st.composite
def cases(draw: st.DrawFn) -> Case:
    found = [draw(models(name)) for name in NAMES[: draw(st.integers(1, len(NAMES)))]]
    index = make_index(*found)
    policy = Policy(
        allow_models=draw(st.none() | some_names),
        allow_providers=draw(st.none() | some_vendors),
        optimize=draw(st.sampled_from(Objective)),
        max_cost_micros=draw(st.none() | st.integers(0, 100_000)),
        min_quality=draw(st.none() | chances),
        data=draw(data_rules),
    )
    within, costs = policy.allow_models, policy.max_cost_micros
    preferences = Preferences(
        models=draw(st.none() | some_names) if within is None else None,
        exclude=draw(some_names),
        providers=HostRules(ignore=draw(some_vendors), order=draw(some_vendors)),
        max_cost_micros=draw(st.none() | st.integers(0, 100_000 if costs is None else costs)),
        min_quality=draw(st.none() | st.floats(policy.min_quality or 0, 1)),
        data=DataRules(no_training=draw(st.booleans()), zero_retention=draw(st.booleans())),
    )
    request = ChatRequest(
        "auto",
        (),
        {},
        max_tokens=draw(st.none() | st.integers(1, 5_000)),
        n=draw(st.integers(1, 3)),
        extended_thinking=draw(st.none() | st.booleans()),
    )
    spread = draw(st.dictionaries(st.sampled_from(TASKS), st.floats(0.01, 1), min_size=1))
    task = max(spread, key=lambda each: spread[each])
    reading = Reading(draw(st.integers(0, 60_000)), spread, task, draw(chances), draw(chances))
    effective = narrow(policy, preferences)
    known = {
        name: HostHealth(error_rate=draw(chances), ttft_ms=draw(st.none() | st.floats(1, 999)))
        for name in draw(st.sets(st.sampled_from(index.hosts)))
    }
    ill = {name: HostHealth(cooldowns=1, cooling_until=NOW + 5) for name in draw(st.sets(st.sampled_from(index.hosts)))}
    wanted = Wanted(
        request=request,
        reading=reading,
        effective=effective,
        key_models=draw(st.none() | some_names),
        refusal=None,
        worst=worst(request, reading, effective),
        view=HealthView(NOW, {**known, **ill}, frozenset(ill) | {*known}),
        now=NOW,
        before=draw(st.none() | st.builds(Served, st.sampled_from(NAMES), st.sampled_from(index.hosts))),
    )
    return Case(index, policy, preferences, effective, wanted)


def worst(request: ChatRequest, reading: Reading, effective: Effective) -> Worst | None:
    if effective.max_cost_micros is None:
        return None
    return worst_of(
        request,
        reading.prompt_tokens,
        cap_micros=effective.max_cost_micros,
        terms=Terms(markup=Fraction(1, 20)),
        max_tokens_default=effective.policy.max_tokens_default,
        reasks=False,
        at_s=NOW,
    )


def eligible(case: Case, effective: Effective) -> int:
    """The hosts that pass every stage under these rules."""
    wanted, index = case.wanted, case.index
    numbers = ask_of(wanted.request, wanted.reading, NOW)
    stages = [
        *sieves.policy(index, effective, wanted.key_models),
        *sieves.offered(index, NOW),
        *sieves.sizes(index, numbers),
        *sieves.cost(index, worst(wanted.request, wanted.reading, effective)),
        *sieves.quality(qualities(index, wanted.reading), effective.min_quality),
    ]
    return sieves.passed(index, stages).rows


@given(cases())
def test_a_request_never_widens_its_policy(case: Case) -> None:
    with_request, alone = eligible(case, case.effective), eligible(case, narrow(case.policy, Preferences()))
    assert with_request & ~alone == 0


def decided(case: Case) -> tuple[Plan, Decision] | None:
    """The plan and the decision; None where no host passes every stage, which is then said of every model."""
    if eligible(case, case.effective):
        return plan_auto(case.index, case.wanted)
    with pytest.raises(Unprocessable) as refused:
        plan_auto(case.index, case.wanted)
    assert refused.value.code == "no_eligible_model"
    assert all(model in refused.value.message for model in case.index.spans)
    assert not any(vendor in refused.value.message for vendor in VENDORS)
    return None


@given(cases())
def test_whoever_is_asked_is_allowed(case: Case) -> None:
    found = decided(case)
    if found is None:
        return
    policy, asked = case.policy, case.effective
    for leg in found[0].legs:
        model, host = leg.target.model, leg.target.host
        assert policy.allow_models is None or model.id in policy.allow_models
        assert policy.allow_providers is None or host.vendor in policy.allow_providers
        assert model.id not in case.preferences.exclude
        assert host.vendor not in case.preferences.providers.ignore
        assert host.promises.no_training >= asked.data.no_training
        assert host.promises.zero_retention >= asked.data.zero_retention
        assert asked.data.regions is None or host.promises.region in asked.data.regions
        assert leg.target.max_output_tokens >= (case.wanted.request.max_tokens or 0)
        if asked.max_cost_micros is not None:
            assert host.prices is not None
        if asked.min_quality is not None:
            assert case.wanted.reading.task in model.quality


@given(cases())
def test_every_model_is_either_ranked_or_excluded_for_one_reason(case: Case) -> None:
    found = decided(case)
    if found is not None:
        _, decision = found
        excluded = [model for models in decision.excluded.values() for model in models]
        ranked = [alternative.model for alternative in decision.alternatives]
        assert sorted([*ranked, *excluded]) == sorted(case.index.spans)
        assert set(decision.excluded) <= set(CODES)


@given(cases())
def test_unknown_quality_never_stands_before_measured(case: Case) -> None:
    found = decided(case)
    if found is None:
        return
    limit = case.wanted.request.max_tokens
    ranked = [
        (alternative.quality is None, case.index.catalog.find(alternative.model))
        for alternative in found[1].alternatives
    ]
    for (before_unknown, before), (after_unknown, after) in pairwise(ranked):
        assert before is not None
        assert after is not None
        if before_unknown and not after_unknown:
            # Only a model that will think, under a limit that it can use up, stands behind an unknown one.
            assert limit is not None
            assert after.abilities.thinking is not Thinking.NONE


@given(cases())
def test_a_decision_is_in_order_and_names_no_host(case: Case) -> None:
    found = decided(case)
    if found is None:
        return
    plan, decision = found
    first = decision.alternatives[0]
    assert first.model == decision.pick == plan.legs[0].target.model.id
    scores = [alternative.score or 0.0 for alternative in decision.alternatives]
    assert all(0 <= score <= 1 and not math.isnan(score) for score in scores)
    others = [score for alternative, score in zip(decision.alternatives, scores, strict=True) if alternative != first]
    assert others == sorted(others, reverse=True)
    assert 0 <= decision.decisiveness <= 1
    assert decision.pick in decision.reasoning
    assert 1 <= decision.reasoning.count(". ") + 1 <= 2
    told = str(routing_object("req-" + "0" * 32, 0, decision, model=decision.pick, full=True))
    assert not any(vendor in told for vendor in VENDORS)


@given(cases())
def test_the_same_facts_give_the_same_decision(case: Case) -> None:
    again = Case(make_index(*case.index.catalog.models), case.policy, case.preferences, case.effective, case.wanted)
    assert decided(case) == decided(again)


IMAGE: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
AUDIO: Any = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
FILE: Any = {"type": "file", "file": {"file_data": "JVBERi0="}}
TOOL: Any = {"type": "function", "function": {"name": "f"}}

ABLE = make_model("able", [Host("vendor-x", "able", make_prices(1), promises=Promises("eu", True, True))], quality=0.9)


def unable(**members: Any) -> Model:
    return make_model("unable", abilities=make_abilities(**members))


def sent(part: Any) -> ChatRequest:
    return ask([{"role": "user", "content": [part]}])


EVERY_CODE: dict[str, tuple[Model, ChatRequest, Preferences]] = {
    "policy": (unable(), ask(), Preferences(exclude=("unable",))),
    "region": (unable(), ask(), Preferences(data=DataRules(regions=("eu",)))),
    "data_promises": (unable(), ask(), Preferences(data=DataRules(zero_retention=True))),
    "deprecated": (make_model("unable", deprecated="2026-01-01"), ask(), Preferences()),
    "no_tools": (unable(tools=False), ask(tools=[TOOL]), Preferences()),
    "no_vision": (unable(vision=False), sent(IMAGE), Preferences()),
    "no_documents": (unable(documents=False), sent(FILE), Preferences()),
    "no_audio": (unable(audio_input=False), sent(AUDIO), Preferences()),
    "no_structured_output": (
        unable(structured_output=StructuredOutput.UNVERIFIED),
        ask(response_format={"type": "json_schema", "json_schema": {"name": "s", "schema": {}}}),
        Preferences(),
    ),
    "no_choices": (unable(choices=1), ask(n=2), Preferences()),
    "unsupported_parameter": (unable(refuses=frozenset({"stop"})), ask(stop=["END"]), Preferences()),
    "output_too_small": (make_model("unable", max_output_tokens=9), ask(max_tokens=10), Preferences()),
    "context_too_small": (make_model("unable", context_tokens=9), ask(), Preferences()),
    "price_unknown": (make_model("unable", price=None), ask(), Preferences(max_cost_micros=100_000)),
    "cost_cap": (make_model("unable", price=4_000), ask(), Preferences(max_cost_micros=100_000)),
    "quality_unknown": (make_model("unable", quality=None), ask(), Preferences(min_quality=0.1)),
    "min_quality": (make_model("unable", quality=0.1), ask(), Preferences(min_quality=0.5)),
    "unhealthy": (unable(), ask(), Preferences()),
}


@pytest.mark.parametrize("code", CODES)
def test_every_reason_code_is_reached(code: str) -> None:
    model, request, preferences = EVERY_CODE[code]
    index = make_index(ABLE, model)
    effective = narrow(Policy(), preferences)
    reading = Reading(50, {"code": 1.0}, "code", 1.0, 0.5)
    fields = refusable(fields_of(request))

    def refusal(target: Target) -> str | None:
        return refusal_code(dispose(request, target, fields).refused)

    ill = HealthView(NOW, {"lab": HostHealth(cooldowns=1, cooling_until=NOW + 1)}, frozenset({"lab"}))
    wanted = Wanted(
        request=request,
        reading=reading,
        effective=effective,
        key_models=None,
        refusal=refusal if fields else None,
        worst=worst(request, reading, effective),
        view=ill if code == "unhealthy" else NOTHING_KNOWN,
        now=NOW,
    )
    _, decision = plan_auto(index, wanted)
    assert {reason: [*models] for reason, models in decision.excluded.items()} == {code: ["unable"]}
