"""The catalog that is in force: what ships with the gateway, under what the operator's own file says."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources

from core.catalog.file import CatalogError, parse_catalog
from core.catalog.model import Model, Target, Vendor

BUILT_IN_FILES = ("vendors.toml", "models.toml")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Models by id and alias, vendors by name."""

    models: tuple[Model, ...]
    vendors: Mapping[str, Vendor]
    _by_name: Mapping[str, Model]

    def find(self, name: str) -> Model | None:
        """The model of that id or alias, or None."""
        return self._by_name.get(name)

    def targets(self, model: Model) -> tuple[Target, ...]:
        """The model's hosts, in catalog order."""
        return tuple(Target(model, host, self.vendors[host.vendor]) for host in model.hosts)

    def near(self, name: str, among: Sequence[Model], most: int = 3) -> list[str]:
        """Ids among those models that look like a mistyped name."""
        ids = {model.id.lower(): model.id for model in among}
        close = difflib.get_close_matches(name.lower(), ids, n=most, cutoff=0.5)
        return [ids[match] for match in close]


def load_catalog(
    own: Iterable[tuple[str, str]] = (), usable: Callable[[Vendor], bool] = lambda vendor: True
) -> Catalog:
    """Put the catalog together.

    Args:
        own: The operator's files, each a name and its TOML; their entries replace shipped ones of the same name.
        usable: Whether a vendor can be called (its credential is there); hosts of others are left out, and models
            without a host with them.

    Raises:
        CatalogError: A file is wrong, or names a vendor that does not exist.
    """
    vendors: dict[str, Vendor] = {}
    models: dict[str, Model] = {}
    for name, text in [*_built_in(), *own]:
        file_vendors, file_models = parse_catalog(text, name)
        vendors.update({vendor.name: vendor for vendor in file_vendors})
        for model in file_models:
            for host in model.hosts:
                if host.vendor not in vendors:
                    raise CatalogError(
                        f"{name}: {model.id}: the vendor {host.vendor!r} is not known. "
                        f"Add [vendors.{host.vendor}] to the file, or use one of: {', '.join(sorted(vendors))}."
                    )
            models[model.id] = model
    return _catalog(vendors, models.values(), usable)


def _catalog(vendors: Mapping[str, Vendor], models: Iterable[Model], usable: Callable[[Vendor], bool]) -> Catalog:
    callable_vendors = {name for name, vendor in vendors.items() if usable(vendor)}
    kept: list[Model] = []
    for model in models:
        hosts = tuple(host for host in model.hosts if host.vendor in callable_vendors)
        if hosts:
            kept.append(model if len(hosts) == len(model.hosts) else replace(model, hosts=hosts))
    by_name: dict[str, Model] = {}
    for model in kept:
        for alias in model.aliases:
            by_name.setdefault(alias, model)
    by_name.update({model.id: model for model in kept})
    return Catalog(models=tuple(kept), vendors=vendors, _by_name=by_name)


def _built_in() -> list[tuple[str, str]]:
    folder = resources.files("core.catalog")
    return [(name, (folder / name).read_text("utf-8")) for name in BUILT_IN_FILES]
