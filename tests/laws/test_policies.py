"""What holds for any policy and request: a request narrows and never widens; narrowing twice is narrowing once."""

from contextlib import suppress
from dataclasses import replace

import orjson
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Target
from core.decision import Candidate, DataRules, HostRules, Objective, OwnKeyUse, Policy, Preferences
from core.errors import GatewayError
from core.routing.policy import Effective, narrow
from core.routing.stages import allowed_hosts, cost_cap, data_promises, narrowed
from core.surfaces.admin.policies import parse_policy, policy_object
from tests.laws.test_routing import NAMES, REGIONS, VENDORS, Case, cases, eligible, worst

names = st.lists(st.sampled_from((*NAMES, "gone")), min_size=1, unique=True).map(tuple)
vendors = st.lists(st.sampled_from(VENDORS), min_size=1, unique=True).map(tuple)
regions = st.lists(st.sampled_from(REGIONS), min_size=1, unique=True).map(tuple)
shares = st.floats(0, 1)
micros = st.integers(0, 2**63 - 1)
times = st.integers(1, 86_400_000)
data_rules = st.builds(DataRules, st.none() | regions, st.booleans(), st.booleans())


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Every policy that can be written."""
    objectives = draw(st.lists(st.sampled_from(Objective), min_size=1, unique=True))
    deadline_ms = draw(times)
    return Policy(
        name="mine",
        allow_models=draw(st.none() | names),
        allow_providers=draw(st.none() | vendors),
        allow_optimize=tuple(objectives),
        optimize=draw(st.sampled_from(objectives)),
        first_token_ms=draw(st.integers(1, deadline_ms)),
        deadline_ms=deadline_ms,
        max_attempts=draw(st.integers(1, 20)),
        max_cost_micros=draw(st.none() | micros),
        min_quality=draw(st.none() | shares),
        data=draw(data_rules),
        named_model_fallbacks=draw(st.dictionaries(st.sampled_from(NAMES), names, max_size=2)),
        extract_json=draw(st.booleans()),
        reask_json=draw(st.booleans()),
        extended_thinking=draw(st.none() | st.booleans()),
        reasoning_effort=draw(st.none() | st.sampled_from(["none", "low", "max"])),
        max_tokens_default=draw(st.integers(1, 2**63 - 1)),
        sticky=draw(st.booleans()),
        own_keys=draw(st.sampled_from(OwnKeyUse)),
        use_opinions=draw(st.booleans()),
    )


preferences = st.builds(
    Preferences,
    optimize=st.none() | st.sampled_from(Objective),
    models=st.none() | names,
    exclude=names | st.just(()),
    providers=st.builds(HostRules, st.none() | vendors, vendors | st.just(()), vendors | st.just(())),
    max_cost_micros=st.none() | micros,
    min_quality=st.none() | shares,
    first_token_ms=st.none() | times,
    deadline_ms=st.none() | times,
    fallback=st.none() | st.booleans(),
    data=data_rules,
)


def within(policy: Policy, asked: Preferences, whole: bool = False) -> Effective | None:
    """What is in force; None where the request is refused."""
    with suppress(GatewayError):
        return narrow(policy, asked, whole=whole)
    return None


@given(cases(), policies(), preferences)
def test_the_eligible_set_with_a_request_is_part_of_the_policys_own(
    case: Case, policy: Policy, asked: Preferences
) -> None:
    effective = within(policy, asked)
    if effective is not None:
        alone = eligible(case, narrow(policy, Preferences()))
        assert eligible(case, effective) & ~alone == 0


@given(cases(), policies(), preferences)
def test_the_hosts_of_a_named_model_are_part_of_the_policys_own(case: Case, policy: Policy, asked: Preferences) -> None:
    effective = within(policy, asked)
    if effective is None:
        return
    alone = narrow(policy, Preferences())
    for model in case.index.catalog.models:
        assert alone.allows(model.id) or not effective.allows(model.id)
        targets = case.index.catalog.targets(model)
        assert hosts(case, effective, targets) <= hosts(case, alone, targets)


def hosts(case: Case, effective: Effective, targets: tuple[Target, ...]) -> set[int]:
    capped = worst(case.wanted.request, case.wanted.reading, effective)
    stages = (allowed_hosts(effective.hosts), data_promises(effective.data), cost_cap(capped))
    candidates = tuple(map(Candidate, targets))
    kept = narrowed(candidates, stages).kept
    return {candidates.index(each) for each in kept}


@given(policies(), preferences, st.booleans())
def test_bounds_only_get_tighter(policy: Policy, asked: Preferences, whole: bool) -> None:
    effective = within(policy, asked, whole)
    if effective is None:
        return
    assert effective.optimize in policy.allow_optimize
    assert effective.max_attempts <= policy.max_attempts
    assert policy.max_cost_micros is None or (effective.max_cost_micros or 0) <= policy.max_cost_micros
    assert policy.min_quality is None or (effective.min_quality or 0) >= policy.min_quality
    if not whole:
        assert effective.first_token_ms <= policy.first_token_ms
        assert effective.deadline_ms <= policy.deadline_ms


@given(policies(), preferences)
def test_narrowing_twice_is_narrowing_once(policy: Policy, asked: Preferences) -> None:
    effective = within(policy, asked)
    if effective is None:
        return
    narrower = replace(
        policy,
        allow_models=effective.models,
        allow_providers=effective.hosts.only,
        max_cost_micros=effective.max_cost_micros,
        min_quality=effective.min_quality,
        max_attempts=effective.max_attempts,
        first_token_ms=effective.first_token_ms,
        deadline_ms=effective.deadline_ms,
        data=effective.data,
    )
    assert narrow(narrower, asked) == replace(effective, policy=narrower)


@given(policies())
def test_a_policy_that_was_written_is_read_back(policy: Policy) -> None:
    assert parse_policy("mine", orjson.dumps(policy_object(policy))) == policy
