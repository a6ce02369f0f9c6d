"""The stages that rule candidates out; each says what it kept and why it dropped the rest."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from core.decision import Candidate, DataRules, HostRules


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


REFUSAL_CODES = (
    ("tools", "no_tools"),
    ("tool_choice", "no_tools"),
    ("functions", "no_tools"),
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
    return split(candidates, lambda candidate: _refusal_code(candidate.refused))


def allowed_hosts(rules: HostRules) -> Stage:
    """A stage that drops hosts which policy or request rule out."""

    def reason(candidate: Candidate) -> str | None:
        vendor = candidate.target.vendor.name
        ruled_out = vendor in rules.ignore or (rules.only is not None and vendor not in rules.only)
        return "policy" if ruled_out else None

    return lambda candidates: split(candidates, reason)


def data_promises(rules: DataRules) -> Stage:
    """A stage that drops hosts which do not promise what policy or request demand of them."""

    def reason(candidate: Candidate) -> str | None:
        promises = candidate.target.host.promises
        if rules.regions is not None and promises.region not in rules.regions:
            return "region"
        if (rules.no_training and not promises.no_training) or (rules.zero_retention and not promises.zero_retention):
            return "data_promises"
        return None

    return lambda candidates: split(candidates, reason)


def _refusal_code(refused: tuple[tuple[str, str], ...]) -> str | None:
    if not refused:
        return None
    field = refused[0][0]
    for prefix, code in REFUSAL_CODES:
        if field.startswith(prefix):
            return code
    return "unsupported_parameter"
