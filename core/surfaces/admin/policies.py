"""Policies as operators write and read them; the names are those of the contract, section 4."""

from typing import Any, Final

from core.chat import Json
from core.decision import BUILT_IN_POLICY, DataRules, Objective, OwnKeyUse, Policy
from core.errors import InvalidRequest
from core.surfaces.admin.changes import distinct, read
from core.surfaces.admin.limits import LARGEST
from core.surfaces.openai_chat.checks import At, boolean, free_object, integer, named, number, one_of, record, wrong

LONGEST_MS: Final = 86_400_000
"""The longest that a budget may be: a day, in milliseconds."""

MOST_ATTEMPTS: Final = 20
"""The most attempts that a policy may allow."""

_OBJECTIVE: Final = one_of(*(objective.value for objective in Objective))
_NAMES: Final = distinct(named)


def _fallbacks(value: Json, at: At) -> dict[str, tuple[str, ...]]:
    return {name: _NAMES(names, (at, name)) for name, names in free_object(value, at).items()}


def _no_guardrails(value: Json, at: At) -> None:
    if value != []:
        raise wrong(at, "must be left out: there are no guardrails to name.")


_POLICY: Final = {
    "allow_models": _NAMES,
    "allow_providers": _NAMES,
    "allow_optimize": distinct(_OBJECTIVE),
    "optimize": _OBJECTIVE,
    "first_token_ms": integer(1, LONGEST_MS),
    "deadline_ms": integer(1, LONGEST_MS),
    "max_attempts": integer(1, MOST_ATTEMPTS),
    "max_cost_micros": integer(0, LARGEST),
    "min_quality": number(0, 1),
    "data": record({"regions": _NAMES, "no_training": boolean, "zero_retention": boolean}, refuse=True),
    "named_model_fallbacks": _fallbacks,
    "structured_output": record({"extract": boolean, "reask": boolean}, refuse=True),
    "thinking": record(
        {
            "extended_thinking": boolean,
            "reasoning_effort": one_of("none", "minimal", "low", "medium", "high", "xhigh", "max"),
        },
        refuse=True,
    ),
    "max_tokens_default": integer(1, LARGEST),
    "guardrails": _no_guardrails,
    "sticky": boolean,
    "own_keys": one_of(*(use.value for use in OwnKeyUse)),
    "use_opinions": boolean,
}
_AS_THEY_ARE: Final = (
    *("allow_models", "allow_providers", "first_token_ms", "deadline_ms", "max_attempts", "max_cost_micros"),
    *("min_quality", "named_model_fallbacks", "max_tokens_default", "sticky", "use_opinions"),
)


def parse_policy(name: str, body: bytes) -> Policy:
    """The policy in a body; what is left out is as in the built-in policy.

    Args:
        name: What it is called.
        body: Its JSON.

    Raises:
        InvalidRequest: It is no JSON object, or a member is wrong; the dotted path is named.
        Unprocessable: It has an unknown member.
    """
    got = read(body, {**_POLICY, "object": one_of("policy"), "name": one_of(name)})
    members: dict[str, Any] = {each: got[each] for each in _AS_THEY_ARE if each in got}
    if "allow_optimize" in got:
        members["allow_optimize"] = tuple(Objective(each) for each in got["allow_optimize"])
    if "optimize" in got:
        members["optimize"] = Objective(got["optimize"])
    if "own_keys" in got:
        members["own_keys"] = OwnKeyUse(got["own_keys"])
    deadline_ms = got.get("deadline_ms", BUILT_IN_POLICY.deadline_ms)
    if got.get("first_token_ms", 0) > deadline_ms:
        raise InvalidRequest(
            f"'first_token_ms' must not be above 'deadline_ms', which is {deadline_ms}.", param="first_token_ms"
        )
    # A deadline that is set alone may be shorter than the usual time to the first token.
    members.setdefault("first_token_ms", min(BUILT_IN_POLICY.first_token_ms, deadline_ms))
    structured = got.get("structured_output", {})
    policy = Policy(
        name=name,
        data=DataRules(**got.get("data", {})),
        extract_json=structured.get("extract", BUILT_IN_POLICY.extract_json),
        reask_json=structured.get("reask", BUILT_IN_POLICY.reask_json),
        **got.get("thinking", {}),
        **members,
    )
    if policy.optimize not in policy.allow_optimize:
        raise InvalidRequest(
            f"'optimize' is {policy.optimize.value!r}, which 'allow_optimize' does not allow. Name one that it does.",
            param="optimize",
        )
    return policy


def policy_object(policy: Policy) -> dict[str, Json]:
    """A policy with every member; `parse_policy` reads it back."""
    return {
        "object": "policy",
        "name": policy.name,
        "allow_models": _listed(policy.allow_models),
        "allow_providers": _listed(policy.allow_providers),
        "allow_optimize": [objective.value for objective in policy.allow_optimize],
        "optimize": policy.optimize.value,
        "first_token_ms": policy.first_token_ms,
        "deadline_ms": policy.deadline_ms,
        "max_attempts": policy.max_attempts,
        "max_cost_micros": policy.max_cost_micros,
        "min_quality": policy.min_quality,
        "data": {
            "regions": _listed(policy.data.regions),
            "no_training": policy.data.no_training,
            "zero_retention": policy.data.zero_retention,
        },
        "named_model_fallbacks": {name: list(names) for name, names in policy.named_model_fallbacks.items()},
        "structured_output": {"extract": policy.extract_json, "reask": policy.reask_json},
        "thinking": {
            "extended_thinking": policy.extended_thinking,
            "reasoning_effort": policy.reasoning_effort,
        },
        "max_tokens_default": policy.max_tokens_default,
        "guardrails": [],
        "sticky": policy.sticky,
        "own_keys": policy.own_keys.value,
        "use_opinions": policy.use_opinions,
    }


def _listed(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)
