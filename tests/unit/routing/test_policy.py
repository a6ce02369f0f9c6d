"""A request narrows its policy and never widens it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decision import BUILT_IN_POLICY, DataRules, HostRules, Objective, Policy, Preferences
from core.errors import Unprocessable
from core.routing.policy import Effective, narrow

STRICT = Policy(
    name="strict",
    allow_models=("lab/a", "lab/b"),
    allow_providers=("lab",),
    allow_optimize=(Objective.COST,),
    optimize=Objective.COST,
    max_cost_micros=100,
    min_quality=0.5,
    data=DataRules(regions=("eu-central-1", "eu-west-1"), no_training=True),
)


def test_nothing_asked_leaves_the_policy_as_it_is() -> None:
    assert narrow(STRICT, Preferences()) == Effective(
        policy=STRICT,
        optimize=Objective.COST,
        models=("lab/a", "lab/b"),
        exclude=(),
        hosts=HostRules(only=("lab",)),
        data=STRICT.data,
        max_cost_micros=100,
        min_quality=0.5,
        max_attempts=3,
        first_token_ms=12_000,
        deadline_ms=120_000,
        asked_first_token=False,
        asked_deadline=False,
    )


@pytest.mark.parametrize(
    ("name", "streamed", "whole"), [("first_token_ms", 12_000, 60_000), ("deadline_ms", 120_000, 590_000)]
)
def test_times_are_shortened_within_what_the_policy_comes_to(name: str, streamed: int, whole: int) -> None:
    def longest(milliseconds: int) -> dict[str, Any]:
        return {name: milliseconds}

    patient = replace(BUILT_IN_POLICY, **longest(700_000))
    for policy, is_whole, bound in (
        (BUILT_IN_POLICY, False, streamed),
        (BUILT_IN_POLICY, True, whole),
        (patient, False, 700_000),
        (patient, True, 700_000),
    ):
        assert getattr(narrow(policy, Preferences(**longest(bound)), whole=is_whole), name) == bound
        with pytest.raises(Unprocessable) as refused:
            narrow(policy, Preferences(**longest(bound + 1)), whole=is_whole)
        assert (refused.value.code, refused.value.param) == ("policy_violation", f"routing.{name}")


def test_the_operators_bound_on_silence_is_in_force() -> None:
    assert narrow(STRICT, Preferences(), stream_silence_s=7.0).stream_silence_s == 7.0


def test_what_is_asked_is_in_force_where_it_is_narrower() -> None:
    effective = narrow(
        BUILT_IN_POLICY,
        Preferences(
            optimize=Objective.LATENCY,
            providers=HostRules(only=("x",), ignore=("y",), order=("z",)),
            max_cost_micros=5,
            min_quality=0.7,
            first_token_ms=1_000,
            deadline_ms=2_000,
            fallback=False,
            data=DataRules(regions=("eu",), zero_retention=True),
        ),
    )
    assert (effective.optimize, effective.max_attempts) == (Objective.LATENCY, 1)
    assert effective.hosts == HostRules(only=("x",), ignore=("y",), order=("z",))
    assert (effective.max_cost_micros, effective.min_quality) == (5, 0.7)
    assert (effective.first_token_ms, effective.deadline_ms) == (1_000, 2_000)
    assert (effective.asked_first_token, effective.asked_deadline) == (True, True)
    assert effective.data == DataRules(regions=("eu",), zero_retention=True)


@pytest.mark.parametrize(
    ("preferences", "param", "value"),
    [
        (Preferences(optimize=Objective.QUALITY), "routing.optimize", "quality"),
        (Preferences(providers=HostRules(only=("lab", "other"))), "routing.providers.only[1]", "other"),
        (Preferences(models=("lab/a", "lab/c")), "routing.models[1]", "lab/c"),
        (Preferences(first_token_ms=12_001), "routing.first_token_ms", "12001"),
        (Preferences(deadline_ms=120_001), "routing.deadline_ms", "120001"),
        (Preferences(data=DataRules(regions=("us-east-1",))), "routing.data.regions[0]", "us-east-1"),
        (Preferences(data=DataRules(regions=("eu-west-1", "us-east-1"))), "routing.data.regions[1]", "us-east-1"),
        (Preferences(max_cost_micros=101), "routing.max_cost_micros", "101"),
        (Preferences(min_quality=0.49), "routing.min_quality", "0.49"),
    ],
)
def test_what_lies_outside_is_refused_naming_field_value_and_policy(
    preferences: Preferences, param: str, value: str
) -> None:
    with pytest.raises(Unprocessable) as refused:
        narrow(STRICT, preferences)
    assert (refused.value.code, refused.value.param) == ("policy_violation", param)
    assert refused.value.message.startswith(f"{value!r} is outside the policy 'strict'")


def test_what_the_policy_itself_says_is_inside_it() -> None:
    same = Preferences(max_cost_micros=100, min_quality=0.5, data=DataRules(regions=("eu-west-1",), no_training=False))
    effective = narrow(STRICT, same)
    assert (effective.max_cost_micros, effective.min_quality) == (100, 0.5)
    assert effective.data == DataRules(regions=("eu-west-1",), no_training=True)


@pytest.mark.parametrize(
    ("policy", "asked", "left"),
    [
        (None, None, ("eu-west-1", "eu-north-1")),
        (None, ("eu-west-1", "us-east-1"), ("eu-west-1",)),
        (("us-east-1", "eu-north-1"), None, ("eu-north-1",)),
        (("us-east-1", "eu-north-1"), ("us-east-1",), ()),
    ],
)
def test_the_operators_regions_bound_policy_and_request(
    policy: tuple[str, ...] | None, asked: tuple[str, ...] | None, left: tuple[str, ...]
) -> None:
    bound = ("eu-west-1", "eu-north-1")
    own = replace(BUILT_IN_POLICY, data=DataRules(regions=policy))
    asks = Preferences(data=DataRules(regions=asked, no_training=True))
    assert narrow(own, asks, host_regions=bound).data == DataRules(regions=left, no_training=True)


maybe_micros = st.none() | st.integers(0, 1_000)
regions = st.none() | st.sets(st.sampled_from("abcd"), min_size=1).map(lambda names: tuple(sorted(names)))
data_rules = st.builds(DataRules, regions=regions, no_training=st.booleans(), zero_retention=st.booleans())


@given(st.builds(Policy, max_cost_micros=maybe_micros, data=data_rules), maybe_micros, data_rules)
def test_nothing_is_ever_widened(policy: Policy, asked: int | None, data: DataRules) -> None:
    try:
        effective = narrow(policy, Preferences(max_cost_micros=asked, data=data))
    except Unprocessable:
        return
    if policy.max_cost_micros is not None:
        assert effective.max_cost_micros is not None
        assert effective.max_cost_micros <= policy.max_cost_micros
    if policy.data.regions is not None:
        assert effective.data.regions is not None
        assert set(effective.data.regions) <= set(policy.data.regions)
    assert effective.data.no_training >= policy.data.no_training
    assert effective.data.zero_retention >= policy.data.zero_retention


def test_models_are_compared_by_what_their_names_stand_for() -> None:
    ids = {"a": "lab/a", "lab/b": "lab/b"}
    asked = Preferences(models=("a",), exclude=("b", "gone"))
    effective = narrow(STRICT, asked, lambda name: ids.get(name, name))
    assert (effective.models, effective.exclude) == (("lab/a",), ("b", "gone"))
    assert [effective.allows(name) for name in ("lab/a", "lab/b", "b")] == [True, False, False]
    assert narrow(BUILT_IN_POLICY, Preferences()).allows("any")
