"""Every stage of `auto`: what it lets pass, and the reason code for the rest."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from core.catalog.model import Model, StructuredOutput, Target
from core.chat import Message, ResponseFormat, Role, ToolCall
from core.decision import BUILT_IN_POLICY, DataRules, HostRules, Policy, Preferences
from core.money import Terms
from core.routing import sieves
from core.routing.board import HealthView
from core.routing.estimate import ask_of
from core.routing.health import HostHealth
from core.routing.index import Index
from core.routing.policy import narrow
from core.routing.quality import qualities
from core.routing.sieves import CODES, Sieve, passed
from core.routing.worst import worst_of
from tests.support.routing import (
    CODE,
    NOW,
    make_abilities,
    make_host,
    make_index,
    make_model,
    make_request,
    promising,
)

GOOD = make_model("good", [make_host("lab", promises=promising(region="eu", no_training=True, zero_retention=True))])


def excluded(index: Index, found: Iterable[Sieve]) -> dict[str, list[str]]:
    """What the stages rule out; they must have left something."""
    result = passed(index, found)
    assert result.rows
    return {code: [*models] for code, models in result.excluded.items()}


def against(other: Model, found: Any) -> dict[str, list[str]]:
    index = make_index(GOOD, other)
    return excluded(index, found(index))


def policy(preferences: Preferences, policy: Policy = BUILT_IN_POLICY, key_models: Any = None) -> Any:
    return lambda index: sieves.policy(index, narrow(policy, preferences), key_models)


OTHER = make_model("other", [make_host("shop", promises=promising(region="us", no_training=True))])


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (policy(Preferences(), key_models=("good",)), "policy"),
        (policy(Preferences(), Policy(allow_models=("good", "gone"))), "policy"),
        (policy(Preferences(models=("good",))), "policy"),
        (policy(Preferences(exclude=("other", "gone"))), "policy"),
        (policy(Preferences(), Policy(allow_providers=("lab",))), "policy"),
        (policy(Preferences(providers=HostRules(ignore=("shop",)))), "policy"),
        (policy(Preferences(data=DataRules(regions=("eu",)))), "region"),
        (policy(Preferences(data=DataRules(zero_retention=True))), "data_promises"),
    ],
)
def test_what_key_policy_and_request_allow(found: Any, code: str) -> None:
    assert against(OTHER, found) == {code: ["other"]}


def test_one_stage_may_have_several_reasons() -> None:
    nowhere = make_model("nowhere", [make_host("lab", promises=promising())])
    index = make_index(GOOD, OTHER, nowhere)
    rules = Preferences(data=DataRules(regions=("eu", "us"), zero_retention=True))
    assert excluded(index, policy(rules)(index)) == {"data_promises": ["other"], "region": ["nowhere"]}


def test_a_model_falls_with_its_last_host_and_for_that_ones_reason() -> None:
    both = make_model("both", [make_host("shop"), make_host("lab", promises=promising(region="us"))])
    rules = policy(Preferences(providers=HostRules(ignore=("shop",)), data=DataRules(regions=("eu",))))
    assert against(both, rules) == {"region": ["both"]}


def test_what_its_vendor_offers_no_more() -> None:
    index = make_index(GOOD, make_model("old", deprecated="2026-09-21"), make_model("ending", deprecated="2026-09-22"))
    assert excluded(index, sieves.offered(index, NOW)) == {"deprecated": ["old"]}


def abilities(*, refusing: str | None = None, **members: Any) -> Any:
    def refusal(target: Target) -> str | None:
        return refusing if not target.model.abilities.vision else None

    return lambda index: sieves.abilities(index, make_request(**members), refusal if refusing else None)


CALLS = (Message(Role.ASSISTANT, None, {}, tool_calls=(ToolCall("c", "f", "{}"),)),)
UNABLE = make_model(
    "unable",
    abilities=make_abilities(vision=False, tools=False, json_mode=False, structured_output=StructuredOutput.UNVERIFIED),
)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (abilities(refusing="no_vision"), "no_vision"),
        (abilities(messages=CALLS), "no_tools"),
        (abilities(response_format=ResponseFormat("json_schema")), "no_structured_output"),
        (abilities(response_format=ResponseFormat("json_object")), "no_structured_output"),
    ],
)
def test_who_can_do_what_is_asked(found: Any, code: str) -> None:
    assert against(UNABLE, found) == {code: ["unable"]}


@pytest.mark.parametrize("members", [{}, {"response_format": ResponseFormat("text")}])
def test_nothing_special_rules_nobody_out(members: Any) -> None:
    assert against(UNABLE, abilities(**members)) == {}


def test_a_json_mode_will_do_where_no_schema_is_asked_for() -> None:
    mode = make_model("mode", abilities=make_abilities(structured_output=StructuredOutput.UNVERIFIED))
    assert against(mode, abilities(response_format=ResponseFormat("json_object"))) == {}
    assert "no_structured_output" in against(mode, abilities(response_format=ResponseFormat("json_schema")))


@pytest.mark.parametrize(
    ("max_tokens", "expected"),
    [
        (None, {"context_too_small": ["narrow"]}),  # a usual answer has 700 tokens
        (600, {"context_too_small": []}),
        (601, {"context_too_small": ["narrow"]}),
        (5_001, {"output_too_small": ["narrow"]}),
    ],
)
def test_who_has_room_for_prompt_and_answer(max_tokens: int | None, expected: dict[str, list[str]]) -> None:
    narrow_model = make_model("narrow", context_tokens=1_600, max_output_tokens=5_000)
    ask = ask_of(make_request(max_tokens=max_tokens), CODE, NOW)
    found = against(narrow_model, lambda index: sieves.sizes(index, ask))
    assert found == {code: models for code, models in expected.items() if models}


def test_who_cannot_be_dearer_than_the_cap() -> None:
    worst = worst_of(
        make_request(max_tokens=400),
        CODE.prompt_tokens,
        cap_micros=1_500,
        terms=Terms(),
        max_tokens_default=8_192,
        reasks=False,
        at_s=NOW,
    )
    index = make_index(GOOD, make_model("dear", price="1.000001"), make_model("unpriced", price=None))
    assert excluded(index, sieves.cost(index, worst)) == {"price_unknown": ["unpriced"], "cost_cap": ["dear"]}
    assert excluded(index, sieves.cost(index, None)) == {}
    assert excluded(index, sieves.cost(index, replace(worst, free_vendors=frozenset({"lab", "gone"})))) == {}
    mixed = make_index(make_model("both", [make_host("own", None), make_host("other", 9)]), make_model("dear", price=9))
    owned = replace(worst, free_vendors=frozenset({"own"}))
    assert excluded(mixed, sieves.cost(mixed, owned)) == {"cost_cap": ["dear"]}


def test_who_is_expected_to_be_good_enough() -> None:
    index = make_index(GOOD, make_model("poor", quality=0.49), make_model("new", quality=None))
    found = qualities(index, CODE)
    assert excluded(index, sieves.quality(found, 0.5)) == {"quality_unknown": ["new"], "min_quality": ["poor"]}
    assert excluded(index, sieves.quality(found, None)) == {}


def test_who_is_not_out_of_use() -> None:
    cooling = HostHealth(cooldowns=1, cooling_until=NOW + 1)
    again = HostHealth(cooldowns=1, cooling_until=NOW - 1)
    host, account = make_model("host", [make_host("a", upstream_model="h")]), make_model("account", [make_host("b")])
    index = make_index(GOOD, host, account, OTHER)
    known = {"a/h": cooling, "b": cooling, "shop": again, "gone/x": cooling}
    view = HealthView(NOW, known, frozenset(known))
    assert excluded(index, sieves.health(index, view)) == {"unhealthy": ["host", "account"]}
    assert excluded(index, sieves.health(index, HealthView(NOW + 2, known, frozenset(known)))) == {}


def test_every_code_is_listed_once() -> None:
    assert len(set(CODES)) == len(CODES)
