"""The stages that rule candidates out; each says what it kept and why it dropped the rest."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.catalog.model import Promises
from core.decision import Candidate, DataRules, HostRules
from core.routing.worst import Worst


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a stage kept, and for each candidate that it dropped the stable reason code."""

    kept: tuple[Candidate, ...]
    dropped: tuple[tuple[Candidate, str], ...] = ()


Stage: TypeAlias = Callable[[tuple[Candidate, ...]], Narrowed]


def split(candidates: Iterable[Candidate], reason: Callable[[Candidate], str | None]) -> Narrowed:
    """Keep the candidates without a reason against them."""
    kept: list[Candidate] = []
    dropped: list[tuple[Candidate, str]] = []
    for candidate in candidates:
        code = reason(candidate)
        if code is None:
            kept.append(candidate)
        else:
            dropped.append((candidate, code))
    return Narrowed(tuple(kept), tuple(dropped))


def narrowed(candidates: tuple[Candidate, ...], stages: Iterable[Stage]) -> Narrowed:
    """One stage after the other."""
    dropped: tuple[tuple[Candidate, str], ...] = ()
    for stage in stages:
        result = stage(candidates)
        candidates, dropped = result.kept, dropped + result.dropped
    return Narrowed(candidates, dropped)


REFUSAL_CODES: Final = (
    ("tools", "no_tools"),
    ("tool_choice", "no_tools"),
    ("functions", "no_tools"),
    ("function_call", "no_tools"),
    ("messages[].content[].image_url", "no_vision"),
    ("messages[].content[].file", "no_documents"),
    ("messages[].content[].input_audio", "no_audio"),
    ("modalities", "no_audio"),
    ("response_format", "no_structured_output"),
    ("n", "no_choices"),
)
"""Which reason code a refused field gives; the first that matches counts."""


def capable(candidates: tuple[Candidate, ...]) -> Narrowed:
    """Drop the candidates that refuse a field of the request."""
    return split(candidates, lambda candidate: refusal_code(candidate.refused))


def allowed_hosts(rules: HostRules) -> Stage:
    """A stage that drops hosts which policy or request rule out."""
    return lambda candidates: split(candidates, lambda each: host_code(rules, each.target.vendor.name))


def data_promises(rules: DataRules) -> Stage:
    """A stage that drops hosts which do not promise what policy or request demand of them."""
    return lambda candidates: split(candidates, lambda each: promise_code(rules, each.target.host.promises))


def cost_cap(worst: Worst | None) -> Stage:
    """A stage that drops hosts whose worst case passes the cap, or cannot be known; None for no cap."""

    def reason(candidate: Candidate) -> str | None:
        if worst is None or candidate.target.vendor.name in worst.free_vendors:
            return None
        prices = candidate.target.host.prices_at(worst.at_s)
        if prices is None:
            return "price_unknown"
        return None if worst.allows(prices, candidate.target.max_output_tokens) else "cost_cap"

    return lambda candidates: split(candidates, reason)


def roomy(max_tokens: int | None) -> Stage:
    """A stage that drops hosts which cannot put out that many tokens; None asks for no number."""
    return lambda candidates: split(
        candidates,
        lambda each: "output_too_small" if (max_tokens or 0) > each.target.max_output_tokens else None,
    )


def host_code(rules: HostRules, vendor: str) -> str | None:
    """Why the hosts of a vendor may not be used, or None."""
    ruled_out = vendor in rules.ignore or (rules.only is not None and vendor not in rules.only)
    return "policy" if ruled_out else None


def promise_code(rules: DataRules, promises: Promises) -> str | None:
    """Why a host with these promises may not be used, or None."""
    if rules.regions is not None and promises.region not in rules.regions:
        return "region"
    if (rules.no_training and not promises.no_training) or (rules.zero_retention and not promises.zero_retention):
        return "data_promises"
    return None


def refusal_code(refused: tuple[tuple[str, str], ...]) -> str | None:
    """The code of the first refusal, or None when there is none."""
    if not refused:
        return None
    field = refused[0][0]
    for prefix, code in REFUSAL_CODES:
        if field.startswith(prefix):
            return code
    return "unsupported_parameter"
