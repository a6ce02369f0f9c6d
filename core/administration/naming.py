"""Checks that what operators name is in a catalog: a name that stands for nothing would bind nothing, or everything."""

from collections.abc import Iterable

from core.catalog.loader import Catalog
from core.errors import InvalidRequest


def check_models(catalog: Catalog, names: Iterable[str], param: str, *, by_name: bool = False) -> None:
    """Check that models are there, by id or alias.

    Args:
        catalog: Where they should be.
        names: What they are called.
        param: Where they stand.
        by_name: Whether they are the names of members there, not places in an array.

    Raises:
        InvalidRequest: One is not there; near matches are named.
    """
    for index, name in enumerate(names):
        if catalog.find(name) is None:
            near = catalog.near(name, catalog.models)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            where = f".{name}" if by_name else f"[{index}]"
            raise InvalidRequest(f"There is no model {name!r}.{hint}", param=f"{param}{where}")


def check_vendor(catalog: Catalog, name: str, param: str) -> None:
    """Check that a vendor is there.

    Raises:
        InvalidRequest: It is not; a near match is named, or else all that there are.
    """
    if name not in catalog.vendors:
        import difflib  # twenty milliseconds that only a mistyped name is worth

        near = difflib.get_close_matches(name, catalog.vendors, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(sorted(catalog.vendors))}."
        raise InvalidRequest(f"There is no vendor {name!r}. {hint}", param=param)
