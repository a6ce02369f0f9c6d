"""What an organisation sets up, to plain items and back (see `schema`), and put together as its workspace."""

from collections.abc import Iterable, Mapping
from typing import Final

from core.decision import BUILT_IN_POLICY, DataRules, Objective, OwnKeyUse, Policy
from core.store.schema import ITEM_VERSION, Item, known, limits_item, limits_member, scalars
from core.tenant import BUILT_IN_PLANS, STANDARD_PLAN, Organisation, OwnKey, Plan
from core.workspace import Opinion, Workspace

BUILT_IN: Final = {plan.id: plan for plan in BUILT_IN_PLANS}
"""The plans that are there without being stored, by id."""

_POLICY: Final = (
    *("name", "first_token_ms", "deadline_ms", "max_attempts", "max_cost_micros", "min_quality", "extract_json"),
    *("reask_json", "extended_thinking", "reasoning_effort", "max_tokens_default", "sticky", "use_opinions"),
)
_LISTS: Final = ("allow_models", "allow_providers")
_PLAN: Final = ("id", "name", "is_free", "is_prepaid", "max_input_tokens", "max_output_tokens")
_OWN_KEY: Final = ("org", "vendor", "sealed", "hint", "created_ms")
_OBJECTIVES: Final = {objective.value: objective for objective in Objective}
_USES: Final = {use.value: use for use in OwnKeyUse}


def policy_item(policy: Policy) -> Item:
    """A policy in plain form, with every member: a default that changes later does not change what was written."""
    item = scalars(policy, _POLICY) | {"version": ITEM_VERSION}
    for name in _LISTS:
        names = getattr(policy, name)
        if names is not None:
            item[name] = list(names)
    data = policy.data
    promises = {"no_training": data.no_training, "zero_retention": data.zero_retention}
    return item | {
        "allow_optimize": [objective.value for objective in policy.allow_optimize],
        "optimize": policy.optimize.value,
        "own_keys": policy.own_keys.value,
        "data": promises if data.regions is None else promises | {"regions": list(data.regions)},
        "named_model_fallbacks": {name: list(names) for name, names in policy.named_model_fallbacks.items()},
    }


def policy_value(item: Item) -> Policy:
    """The policy in an item. What a newer version allows by a name that is not known here is not allowed."""
    members = known(item, _POLICY)
    for name, names in known(item, _LISTS).items():
        members[name] = tuple(names)
    if "allow_optimize" in item:
        members["allow_optimize"] = tuple(_OBJECTIVES[name] for name in item["allow_optimize"] if name in _OBJECTIVES)
    if "optimize" in item:
        members["optimize"] = _OBJECTIVES[item["optimize"]]
    if "own_keys" in item:
        members["own_keys"] = _USES[item["own_keys"]]
    if "data" in item:
        members["data"] = _data(item["data"])
    if "named_model_fallbacks" in item:
        members["named_model_fallbacks"] = {name: tuple(names) for name, names in item["named_model_fallbacks"].items()}
    return Policy(**members)


def plan_item(plan: Plan) -> Item:
    """A plan in plain form."""
    return scalars(plan, _PLAN) | {"version": ITEM_VERSION} | limits_item(plan.limits)


def plan_value(item: Item) -> Plan:
    """The plan in an item."""
    return Plan(**known(item, _PLAN), **limits_member(item))


def own_key_item(own_key: OwnKey) -> Item:
    """An own key in plain form."""
    return scalars(own_key, _OWN_KEY) | {"version": ITEM_VERSION}


def own_key_value(item: Item) -> OwnKey:
    """The own key in an item."""
    return OwnKey(**known(item, _OWN_KEY))


def workspace(
    organisation: Organisation,
    *,
    plan: Plan | None,
    policies: Iterable[Policy],
    own_keys: Iterable[OwnKey],
    opinions: Mapping[tuple[str, str], Opinion],
    catalog: str | None,
) -> Workspace:
    """An organisation's workspace, from what is stored of it.

    Args:
        organisation: Whose.
        plan: The stored plan of the organisation's, None where there is none; a plan that is neither stored nor built
            in is the standard one.
        policies: Its own.
        own_keys: Its own.
        opinions: By model and task.
        catalog: The TOML of its own catalog, or None.
    """
    return Workspace(
        organisation=organisation,
        plan=plan or BUILT_IN.get(organisation.plan, STANDARD_PLAN),
        policies={BUILT_IN_POLICY.name: BUILT_IN_POLICY} | {policy.name: policy for policy in policies},
        own_keys={own_key.vendor: own_key for own_key in own_keys},
        opinions=opinions,
        catalog=catalog,
    )


def with_built_in(stored: Iterable[Plan]) -> list[Plan]:
    """Every plan, by id: the stored ones, and those built in whose place none of them takes."""
    plans = BUILT_IN | {plan.id: plan for plan in stored}
    return [plans[plan_id] for plan_id in sorted(plans)]


def _data(item: Mapping[str, object]) -> DataRules:
    members = known(item, ("no_training", "zero_retention"))
    for name, names in known(item, ("regions",)).items():
        members[name] = tuple(names)
    return DataRules(**members)
