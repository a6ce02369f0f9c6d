"""What each organisation can choose from: the gateway's catalog, under what it says itself, at the vendors it can call.

Organisations that say nothing, and have no key at a vendor that the gateway has none at, share one offer at no cost.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias

from core.catalog.errors import CatalogError
from core.catalog.loader import Catalog, load_catalog
from core.catalog.model import Target, Vendor
from core.errors import InternalError
from core.routing.index import Index
from core.routing.indexing import build_index
from core.workspace import Workspace

Load: TypeAlias = Callable[[str | None, frozenset[str]], Catalog]
"""Makes a catalog, with one more file or None, and with the hosts of more vendors than the gateway has keys at."""


ORGANISATIONS_FILE: Final = "catalog"
"""What an organisation's catalog is called in errors."""


class Offer:
    """A catalog, and its layout for choosing, made when it is first needed."""

    def __init__(self, catalog: Catalog, refusal_traits: Callable[[Target], Hashable]) -> None:
        self.catalog = catalog
        self._traits = refusal_traits
        self._index: Index | None = None

    @property
    def index(self) -> Index:
        """The catalog, laid out."""
        if self._index is None:
            self._index = build_index(self.catalog, self._traits)
        return self._index


class Offers:
    """The offers that were asked for lately.

    Args:
        catalog: That of all who say nothing of their own.
        load: Makes the others' catalogs.
        usable: Whether the gateway itself has a key at a vendor.
        refusal_traits: All that decides which fields of a request a target refuses.
        most: How many are kept beside the common one.
    """

    def __init__(
        self,
        catalog: Catalog,
        load: Load,
        usable: Callable[[Vendor], bool],
        refusal_traits: Callable[[Target], Hashable],
        most: int = 64,
    ) -> None:
        self.common = Offer(catalog, refusal_traits)
        self._load = load
        self._usable = usable
        self._traits = refusal_traits
        self._most = most
        self._made: dict[tuple[str | None, frozenset[str]], Offer] = {}

    def is_managed(self, vendor: Vendor) -> bool:
        """Whether the gateway itself has a key at a vendor, or needs none."""
        return self._usable(vendor)

    def of(self, workspace: Workspace) -> Offer:
        """The offer of an organisation.

        Raises:
            InternalError: Its catalog was taken when it was written, and cannot be read beside today's.
        """
        more = self._more_vendors(workspace)
        if workspace.catalog is None and not more:
            return self.common
        # By content: organisations that say the same share one.
        name = workspace.catalog, more
        offer = self._made.pop(name, None)
        if offer is None:
            offer = self._make(workspace.catalog, more)
            if len(self._made) >= self._most:
                del self._made[next(iter(self._made))]
        self._made[name] = offer
        return offer

    def check(self, toml: str) -> int:
        """Whether an organisation may have such a catalog; how many models it holds.

        It may say of vendors that there are what models they offer, at which prices, by which names and how good, and
        so change models of the gateway's own; it may neither add vendors nor change them, whose addresses and keys are
        the gateway's affair.

        Raises:
            CatalogError: It is wrong; the message names line and field.
        """
        from core.catalog.file import parse_catalog, place  # it brings pydantic, which no request needs

        vendors, models = parse_catalog(toml, ORGANISATIONS_FILE)
        if vendors:
            where = place(toml, ORGANISATIONS_FILE, ("vendors", vendors[0].name))
            raise CatalogError(f"{where}: an organisation's catalog may not add or change vendors")
        self._load(toml, frozenset())
        return len(models)

    def _more_vendors(self, workspace: Workspace) -> frozenset[str]:
        if not workspace.own_keys:
            return frozenset()
        known = self.common.catalog.vendors
        return frozenset(name for name in workspace.own_keys if name in known and not self._usable(known[name]))

    def _make(self, toml: str | None, more: frozenset[str]) -> Offer:
        try:
            return Offer(self._load(toml, more), self._traits)
        except CatalogError as error:
            raise InternalError(
                "The catalog of this organisation can no longer be used. The operator must write it again."
            ) from error


def make_offers(
    own: Sequence[tuple[str, str]], usable: Callable[[Vendor], bool], refusal_traits: Callable[[Target], Hashable]
) -> Offers:
    """The offers over the catalog that ships, under the operator's files.

    Args:
        own: The operator's files, each a name and its text.
        usable: Whether the gateway itself has a key at a vendor.
        refusal_traits: All that decides which fields of a request a target refuses.

    Raises:
        CatalogError: A file is wrong.
    """

    def load(toml: str | None, more: frozenset[str]) -> Catalog:
        files = own if toml is None else [*own, (ORGANISATIONS_FILE, toml)]
        return load_catalog(files, lambda vendor: usable(vendor) or vendor.name in more)

    return Offers(load(None, frozenset()), load, usable, refusal_traits)
