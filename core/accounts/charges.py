"""What a request is charged for: its attempts' usage, priced at their own hosts (the contract, section 3)."""

from collections.abc import Iterable, Mapping

from core.catalog.model import Target
from core.chat import Usage
from core.money import NO_COST, Charge, Cost, Terms, charge, price
from core.record import AttemptRow
from core.workspace import Workspace


def attempt_row(
    target: Target,
    outcome: str,
    ms: int,
    usage: Usage | None,
    at_s: float,
    *,
    upstream_status: int | None = None,
    upstream_code: str | None = None,
) -> AttemptRow:
    """The row of an attempt that took `ms` milliseconds, at the prices of the Unix time `at_s` in seconds.

    Whatever usage its host reported is charged, also when it failed: a failed attempt is never charged on an estimate,
    so callers hand over None where nothing was reported. On the organisation's own key it costs nothing here.
    """
    return AttemptRow(
        model=target.model.id,
        host=target.name,
        outcome=outcome,
        ms=ms,
        usage=usage,
        cost=_cost(target, usage, at_s),
        charged=usage is not None,
        upstream_status=upstream_status,
        upstream_code=upstream_code,
        own_key=target.owner is not None,
    )


def charged_usage(rows: Iterable[AttemptRow]) -> Usage | None:
    """The usage of all charged attempts together, or None when there is none."""
    usages = [row.usage for row in rows if row.charged and row.usage is not None]
    if len(usages) < 2:
        return usages[0] if usages else None
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in usages),
        cache_write_5m_tokens=sum(usage.cache_write_5m_tokens for usage in usages),
        cache_write_1h_tokens=sum(usage.cache_write_1h_tokens for usage in usages),
        input_audio_tokens=sum(usage.input_audio_tokens for usage in usages),
        input_image_tokens=sum(usage.input_image_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        reasoning_tokens=_known_sum(usage.reasoning_tokens for usage in usages),
        output_audio_tokens=sum(usage.output_audio_tokens for usage in usages),
        service_tier=usages[-1].service_tier,
        estimated=any(usage.estimated for usage in usages),
        extra=_summed_extras(usages),
    )


def request_charge(rows: Iterable[AttemptRow], terms: Terms) -> Charge | None:
    """The charge for a request, or None while the price of a charged attempt is unknown and is charged at all."""
    if not terms.factor:
        return charge((), terms)
    costs = [row.cost for row in rows if row.charged]
    known = [cost for cost in costs if cost is not None]
    return charge(known, terms) if len(known) == len(costs) else None


def terms_of(workspace: Workspace) -> Terms:
    """What an organisation pays on top of the hosts' prices; on a free plan nothing is charged."""
    organisation = workspace.organisation
    return Terms(markup=organisation.markup, discount=organisation.discount, provider_cost=not workspace.plan.is_free)


def _cost(target: Target, usage: Usage | None, at_s: float) -> Cost | None:
    if usage is None:
        return None
    if target.owner is not None:
        return NO_COST
    prices = target.host.prices_at(at_s)
    return None if prices is None else price(usage, prices)


def _known_sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _summed_extras(usages: Iterable[Usage]) -> Mapping[str, Mapping[str, int]]:
    total: dict[str, dict[str, int]] = {}
    for usage in usages:
        for group, counts in usage.extra.items():
            summed = total.setdefault(group, {})
            for name, count in counts.items():
                summed[name] = summed.get(name, 0) + count
    return total
