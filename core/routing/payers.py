"""On whose account the calls of a plan are made: an organisation's own, the gateway's, or one after the other."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from core.catalog.model import Auth, Target, Vendor
from core.decision import HostRules, OwnKeyUse, Plan
from core.routing.board import HealthView

Managed: TypeAlias = Callable[[Vendor], bool]
"""Whether the gateway has a key at a vendor."""

_OWN_COUNTS: Final = (OwnKeyUse.FIRST, OwnKeyUse.ONLY)


def owned_hosts(rules: HostRules, vendors: Iterable[Vendor], own: Collection[str]) -> HostRules:
    """The rules, narrowed to vendors at which the organisation has a key, and those that want none."""
    allowed = {vendor.name for vendor in vendors if vendor.name in own or vendor.auth is Auth.NONE}
    only = sorted(allowed) if rules.only is None else [vendor for vendor in rules.only if vendor in allowed]
    return replace(rules, only=tuple(only))


def view_of(view: HealthView, own: Collection[str], use: OwnKeyUse) -> HealthView:
    """The view, without what is known of the gateway's accounts where the organisation's own come first."""
    if not own or use not in _OWN_COUNTS:
        return view
    return replace(view, doubtful=view.doubtful - {*own})


def free_vendors(
    vendors: Mapping[str, Vendor], own: Collection[str], use: OwnKeyUse, managed: Managed
) -> frozenset[str]:
    """The vendors that are called on the organisation's own key alone, where it pays nothing here."""
    return frozenset(name for name in own if name in vendors and _is_own_alone(vendors[name], use, managed))


def on_accounts(
    plan: Plan,
    org: str,
    own: Collection[str],
    use: OwnKeyUse,
    managed: Managed,
    resting: Collection[str],
) -> Plan:
    """The plan with each of its hosts once for each account that may be used there, in the order of the policy.

    Args:
        plan: The hosts, in order.
        org: Who asks.
        own: The vendors at which it has a key.
        use: What the policy says of own keys.
        managed: Whether the gateway has a key at a vendor.
        resting: The vendors that refused its key a moment ago; there it comes second, where there is another.
    """
    if not own:
        return plan

    def targets(target: Target) -> list[Target]:
        name = target.vendor.name
        if name not in own:
            return [target]
        mine = replace(target, owner=org)
        if _is_own_alone(target.vendor, use, managed):
            return [mine]
        return [target, mine] if use is OwnKeyUse.LAST or name in resting else [mine, target]

    legs = [replace(leg, target=target) for leg in plan.legs for target in targets(leg.target)]
    return replace(plan, legs=tuple(legs))


def _is_own_alone(vendor: Vendor, use: OwnKeyUse, managed: Managed) -> bool:
    return use is OwnKeyUse.ONLY or not managed(vendor)
