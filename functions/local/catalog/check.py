"""Looks a catalog over: what is missing, contradictory, unknown or about to end."""

from collections.abc import Callable, Iterable
from datetime import date
from typing import Final

from core.catalog.loader import Catalog
from core.catalog.model import Host, Model, Target, Thinking, ThinkingSwitch
from core.providers.dispositions import ROWS
from functions.local.catalog.disagreements import Disagreement
from functions.local.catalog.findings import Finding, Severity

TASKS: Final = frozenset(
    {
        *("chat", "qa", "code", "math", "reasoning", "analysis", "summarization", "extraction", "classification"),
        *("translation", "writing", "roleplay", "tool_use", "vision", "long_context"),
    }
)
"""The tasks that a quality may be about (the contract, section 5)."""


def check(catalog: Catalog, today: date, disagreements: Iterable[Disagreement] = ()) -> list[Finding]:
    """What is to be said about a catalog, errors first.

    Args:
        catalog: What to look at.
        today: The day by which a model counts as gone, or as going.
        disagreements: Where the sources that it was built from differ.
    """
    findings = [*_twice(catalog), *_unknown_fields_of_vendors(catalog)]
    for model in catalog.models:
        findings += _model(model, today)
        for target in catalog.targets(model):
            findings += _host(target, today)
    findings += (
        Finding(Severity.WARNING, each.model, f"{each.vendor}.{each.field}", f"sources differ: {each.words}")
        for each in disagreements
    )
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def _twice(catalog: Catalog) -> Iterable[Finding]:
    owners: dict[str, str] = {model.id: model.id for model in catalog.models}
    for model in catalog.models:
        for alias in model.aliases:
            owner = owners.setdefault(alias, model.id)
            if owner != model.id:
                yield Finding(Severity.ERROR, model.id, "aliases", f"{alias!r} is a name of {owner} as well")


def _unknown_fields_of_vendors(catalog: Catalog) -> Iterable[Finding]:
    for vendor in catalog.vendors.values():
        for name in sorted(vendor.refuses - ROWS.keys()):
            yield Finding(Severity.ERROR, "", f"{vendor.name}.refuses", f"there is no request field {name!r}")


def _model(model: Model, today: date) -> Iterable[Finding]:
    def say(severity: Severity, field: str, message: str) -> Finding:
        return Finding(severity, model.id, field, message)

    able = model.abilities
    for name in sorted(able.refuses - ROWS.keys()):
        yield say(Severity.ERROR, "abilities.refuses", f"there is no request field {name!r}")
    for task in sorted(model.quality.keys() - TASKS):
        yield say(Severity.ERROR, f"quality.{task}", "there is no such task")
    if not model.quality:
        yield say(Severity.INFO, "quality", "evaluated for no task: behind every model that was, for each of them")
    if model.max_output_tokens > model.context_tokens:
        yield say(Severity.ERROR, "max_output_tokens", "the longest answer is longer than the window")
    if able.thinking is Thinking.NONE and (able.efforts or able.thinks_by_default):
        yield say(Severity.ERROR, "abilities.thinking", "a model that does not think has no efforts")
    if able.forced_tools is False and not able.tools:
        yield say(Severity.ERROR, "abilities.forced_tools", "a model without tools cannot refuse to be made to use one")
    yield from _end(model.deprecated, today, lambda severity, message: say(severity, "deprecated", message))


def _host(target: Target, today: date) -> Iterable[Finding]:
    host, model = target.host, target.model

    def say(severity: Severity, field: str, message: str) -> Finding:
        return Finding(severity, model.id, f"{host.vendor}.{field}", message)

    for name in sorted(host.refuses - ROWS.keys()):
        yield say(Severity.ERROR, "refuses", f"there is no request field {name!r}")
    yield from _prices(host, say)
    if target.max_output_tokens > target.context_tokens:
        yield say(Severity.ERROR, "max_output_tokens", "the longest answer is longer than the window")
    if host.thinking_switch is ThinkingSwitch.NONE and model.abilities.thinking is Thinking.OPTIONAL:
        yield say(Severity.INFO, "thinking_switch", "the model can choose to think, and this host has no switch for it")
    if host.deprecated != model.deprecated:
        yield from _end(host.deprecated, today, lambda severity, message: say(severity, "deprecated", message))


def _prices(host: Host, say: Callable[[Severity, str, str], Finding]) -> Iterable[Finding]:
    if host.prices is None:
        yield say(Severity.WARNING, "prices", "unknown: requests are not charged, and keys with a limit cannot use it")
        return
    if host.price_source is None or host.price_date is None:
        yield say(Severity.WARNING, "prices", "without a source and a date")
    if not host.prices.base.input or not host.prices.base.output:
        yield say(Severity.WARNING, "prices", "a price of 0 means free; leave unknown prices out")
    if 0 < host.prices.minimum <= host.prices.per_request:
        yield say(Severity.WARNING, "prices.minimum", "says nothing: every request costs that much already")
    thresholds = [tier.threshold for tier in host.prices.tiers]
    if len(set(thresholds)) != len(thresholds):
        yield say(Severity.ERROR, "prices.tiers", "two tiers begin at the same number of tokens")


def _end(day: str | None, today: date, say: Callable[[Severity, str], Finding]) -> Iterable[Finding]:
    if day is None:
        return
    if day <= today.isoformat():
        yield say(Severity.WARNING, f"no longer offered since {day}")
    else:
        yield say(Severity.WARNING, f"offered until {day}")
