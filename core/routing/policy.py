"""Narrows a policy by what a request prefers; a request never widens it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from core.decision import DataRules, HostRules, Objective, Policy, Preferences
from core.errors import Unprocessable

WHOLE_FIRST_TOKEN_MS: Final = 60_000
"""What each attempt at a whole answer gets at least, unless the request itself sets less."""

WHOLE_DEADLINE_MS: Final = 90_000
"""What a whole answer gets at least, in all."""

THINKING_DEADLINE_MS: Final = 590_000
"""What a whole answer gets that a model thinks about: ten minutes, less what SDKs need to hear of it."""

STREAM_SILENCE_S: Final = 60.0
"""How long a host may be silent in a stream after its first token, unless the operator set another time."""

_NO_WISHES: Final = Preferences()


@dataclass(frozen=True, slots=True)
class Effective:
    """What is in force for one request: the policy, narrowed.

    `models` are the ids of the only models that may serve, None for all, `exclude` those that may not. `asked_*` are
    times that the request itself set (ms). `stream_silence_s` is how long a host may be silent in a stream.
    `is_narrowed` tells whether the request has wishes of its own.
    """

    policy: Policy
    optimize: Objective
    models: tuple[str, ...] | None
    exclude: tuple[str, ...]
    hosts: HostRules
    data: DataRules
    max_cost_micros: int | None
    min_quality: float | None
    max_attempts: int
    first_token_ms: int
    deadline_ms: int
    asked_first_token: bool
    asked_deadline: bool
    stream_silence_s: float = STREAM_SILENCE_S
    is_narrowed: bool = False

    def allows(self, model: str) -> bool:
        """Whether the model of that id may serve."""
        return model not in self.exclude and (self.models is None or model in self.models)


def _as_written(name: str) -> str:
    return name


def narrow(
    policy: Policy,
    preferences: Preferences,
    resolve: Callable[[str], str] = _as_written,
    *,
    whole: bool = False,
    stream_silence_s: float = STREAM_SILENCE_S,
    host_regions: tuple[str, ...] | None = None,
) -> Effective:
    """Put a request's preferences inside a policy.

    Args:
        policy: The envelope.
        preferences: What the request prefers.
        resolve: The catalog id that a model's name stands for; names that stand for none are left as they are.
        whole: Whether the answer is not streamed: the times of the policy are then raised, and so is what a request
            may ask for.
        stream_silence_s: The operator's bound on silence in streams.
        host_regions: The only regions that the operator lets requests be sent to, None for all; a policy or a request
            that asks for others finds no host.

    Raises:
        Unprocessable: `policy_violation`, when a preference lies outside the policy; it names field and policy.
    """
    optimize = preferences.optimize or policy.optimize
    if optimize not in policy.allow_optimize:
        raise _violation(policy, "routing.optimize", optimize.value)
    for index, host in enumerate(preferences.providers.only or ()):
        if policy.allow_providers is not None and host not in policy.allow_providers:
            raise _violation(policy, f"routing.providers.only[{index}]", host)
    allowed = None if policy.allow_models is None else tuple(map(resolve, policy.allow_models))
    asked = None if preferences.models is None else tuple(map(resolve, preferences.models))
    for index, model in enumerate(asked or ()):
        if allowed is not None and model not in allowed:
            raise _violation(policy, f"routing.models[{index}]", model)
    return Effective(
        policy=policy,
        optimize=optimize,
        models=allowed if asked is None else asked,
        exclude=tuple(map(resolve, preferences.exclude)),
        hosts=_narrow_hosts(policy, preferences.providers),
        data=_narrow_data(policy, preferences.data, host_regions),
        max_cost_micros=_within_cost(policy, preferences.max_cost_micros),
        min_quality=_within_quality(policy, preferences.min_quality),
        max_attempts=1 if preferences.fallback is False else policy.max_attempts,
        first_token_ms=_within(
            policy,
            "first_token_ms",
            policy.first_token_ms,
            preferences.first_token_ms,
            at_least=WHOLE_FIRST_TOKEN_MS if whole else 0,
        ),
        deadline_ms=_within(
            policy,
            "deadline_ms",
            policy.deadline_ms,
            preferences.deadline_ms,
            at_least=THINKING_DEADLINE_MS if whole else 0,
        ),
        asked_first_token=preferences.first_token_ms is not None,
        asked_deadline=preferences.deadline_ms is not None,
        stream_silence_s=stream_silence_s,
        is_narrowed=preferences != _NO_WISHES,
    )


def _narrow_hosts(policy: Policy, asked: HostRules) -> HostRules:
    only = asked.only if asked.only is not None else policy.allow_providers
    return HostRules(only=only, ignore=asked.ignore, order=asked.order)


def _narrow_data(policy: Policy, asked: DataRules, bound: tuple[str, ...] | None) -> DataRules:
    regions = policy.data.regions
    for index, region in enumerate(asked.regions or ()):
        if regions is not None and region not in regions:
            raise _violation(policy, f"routing.data.regions[{index}]", region)
    regions = regions if asked.regions is None else asked.regions
    if bound is not None:
        regions = bound if regions is None else tuple(region for region in regions if region in bound)
    return DataRules(
        regions=regions,
        no_training=policy.data.no_training or asked.no_training,
        zero_retention=policy.data.zero_retention or asked.zero_retention,
    )


def _within(policy: Policy, name: str, bound: int, asked: int | None, *, at_least: int) -> int:
    if asked is not None and asked > max(bound, at_least):
        raise _violation(policy, f"routing.{name}", str(asked))
    return bound if asked is None else asked


def _within_cost(policy: Policy, asked: int | None) -> int | None:
    bound = policy.max_cost_micros
    if asked is not None and bound is not None and asked > bound:
        raise _violation(policy, "routing.max_cost_micros", str(asked))
    return bound if asked is None else asked


def _within_quality(policy: Policy, asked: float | None) -> float | None:
    bound = policy.min_quality
    if asked is not None and bound is not None and asked < bound:
        raise _violation(policy, "routing.min_quality", str(asked))
    return bound if asked is None else asked


def _violation(policy: Policy, field: str, value: str) -> Unprocessable:
    return Unprocessable(
        f"{value!r} is outside the policy {policy.name!r}. Leave it out, or use a value that the policy allows.",
        param=field,
        code="policy_violation",
    )
