"""Does the catalog load, is there a model that can be called, and is anything in it out of date?"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from core.catalog.errors import CatalogError
from core.catalog.loader import Catalog
from core.catalog.model import Target, Vendor
from functions.local.doctor.finding import Finding, fail, fine, warn
from functions.local.output import counted

ABOUT = "catalog"
SOON_DAYS = 30
MOST_NAMED = 5


def check_catalog(
    load: Callable[[], Catalog], has: Callable[[Vendor], bool], today: date
) -> tuple[Catalog | None, Sequence[Finding]]:
    """The catalog, None where it cannot be loaded, and what is to be said of it.

    Args:
        load: Loads it, with the hosts of all vendors.
        has: Whether the gateway has what it takes to call a vendor.
        today: The day in UTC.
    """
    try:
        catalog = load()
    except CatalogError as error:
        return None, [fail(ABOUT, str(error), "Correct the file that HEADRACE_CATALOG names.")]
    targets = [target for model in catalog.scan() for target in catalog.targets(model)]
    callable_ = [target for target in targets if has(target.vendor)]
    models = {target.model.id for target in callable_}
    vendors = {target.vendor.name for target in callable_}
    if not models:
        said = warn(
            ABOUT,
            "there is no vendor's key: nothing but the demo model of 'headrace dev' can be called",
            f"Set one of {_named(_variables(catalog))}, or add a vendor of your own by HEADRACE_CATALOG.",
        )
    else:
        said = fine(ABOUT, f"{counted(len(models), 'model')} can be called, at {_named(vendors)}")
    return catalog, [said, *_dated(callable_, today)]


def _dated(targets: Sequence[Target], today: date) -> Sequence[Finding]:
    left = {
        f"{target.model.id} at {target.vendor.name}": (date.fromisoformat(target.host.deprecated) - today).days
        for target in targets
        if target.host.deprecated is not None
    }
    findings: list[Finding] = []
    do = "Build the catalog anew ('headrace catalog build'), or say in your own file what takes their place."
    if gone := [name for name, days in left.items() if days < 0]:
        findings.append(warn(ABOUT, f"withdrawn by their vendors: {_named(gone)}", do))
    if going := {name: days for name, days in left.items() if 0 <= days <= SOON_DAYS}:
        findings.append(warn(ABOUT, f"withdrawn within {SOON_DAYS} days: {_named(going)}", do))
    unpriced = {target.model.id for target in targets if target.host.prices is None}
    if unpriced:
        says = f"of unknown price, so that keys with a limit in money do not see them: {_named(unpriced)}"
        findings.append(warn(ABOUT, says, "State their prices in a catalog file of your own."))
    return findings


def _variables(catalog: Catalog) -> set[str]:
    """What the keys of vendors are called, of those that have models."""
    offered = {host.vendor for model in catalog.scan() for host in model.hosts}
    return {vendor.key_env for vendor in catalog.vendors.values() if vendor.key_env and vendor.name in offered}


def _named(names: Mapping[str, int] | Sequence[str] | set[str]) -> str:
    listed = sorted(names)
    more = len(listed) - MOST_NAMED
    return ", ".join(listed[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
