"""The catalog that is in force: what ships with the gateway, under what the operator's own file says."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

from core.catalog.compiled import MARK, Entry, read_compiled
from core.catalog.errors import CatalogError
from core.catalog.model import Model, Target, Vendor
from core.catalog.shipped import SHIPPED_FOLDER, entry, read_shipped

__all__ = ["Catalog", "CatalogError", "load_catalog"]


class Models(Sequence[Model]):
    """Models in catalog order, each made when it is first wanted.

    Args:
        entries: What they are made of.
        callable_vendors: The vendors whose hosts they keep.
    """

    __slots__ = ("_callable", "_entries", "_made")

    def __init__(self, entries: Sequence[Entry], callable_vendors: frozenset[str]) -> None:
        self._entries = entries
        self._callable = callable_vendors
        self._made: list[Model | None] = [None] * len(entries)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Model: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Model, ...]: ...
    def __getitem__(self, index: int | slice) -> Model | tuple[Model, ...]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        model = self._made[index]
        if model is None:
            model = self._made[index] = self._make(self._entries[index])
        return model

    def __iter__(self) -> Iterator[Model]:
        for index in range(len(self)):
            yield self[index]

    def id_at(self, index: int) -> str:
        """The id of a model, which is not made for this."""
        return self._entries[index].id

    def scan(self) -> Iterator[Model]:
        """Every model, in order; those that were not wanted before are made for this and not kept."""
        for source, model in zip(self._entries, self._made, strict=True):
            yield self._make(source) if model is None else model

    def _make(self, source: Entry) -> Model:
        model = source.make()
        hosts = tuple(host for host in model.hosts if host.vendor in self._callable)
        return model if len(hosts) == len(model.hosts) else replace(model, hosts=hosts)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Models by id and alias, vendors by name."""

    models: Sequence[Model]
    vendors: Mapping[str, Vendor]
    _places: Mapping[str, int] = field(repr=False)

    def find(self, name: str) -> Model | None:
        """The model of that id or alias, or None."""
        place = self._places.get(name)
        return None if place is None else self.models[place]

    def id_of(self, name: str) -> str:
        """The id behind an id or alias; a name that stands for no model is left as it is."""
        place = self._places.get(name)
        if place is None:
            return name
        return self.models.id_at(place) if isinstance(self.models, Models) else self.models[place].id

    def scan(self) -> Iterator[Model]:
        """Every model once, in order, for what is laid out in another form: none is kept for this."""
        return self.models.scan() if isinstance(self.models, Models) else iter(self.models)

    def targets(self, model: Model) -> tuple[Target, ...]:
        """The model's hosts, in catalog order."""
        return tuple(Target(model, host, self.vendors[host.vendor]) for host in model.hosts)

    def near(self, name: str, among: Sequence[Model], most: int = 3) -> list[str]:
        """Ids among those models that look like a mistyped name, or have an alias that does, the nearest first."""
        import difflib  # twenty milliseconds that only a mistyped name is worth

        ids = {each.lower(): model.id for model in among for each in (*model.aliases, model.id)}
        close = difflib.get_close_matches(name.lower(), ids, n=most * 3, cutoff=0.5)
        return list(dict.fromkeys(ids[match] for match in close))[:most]


def load_catalog(
    own: Iterable[tuple[str, str]] = (), usable: Callable[[Vendor], bool] = lambda vendor: True
) -> Catalog:
    """Put the catalog together.

    Args:
        own: The operator's files, each a name and its TOML, or its compiled form; their entries replace shipped ones of
            the same name, and of two files that use one name for a model the later has it.
        usable: Whether a vendor can be called (its credential is there); hosts of others are left out, and models
            without a host with them.

    Raises:
        CatalogError: A file is wrong, names a vendor that does not exist, or has a host that `host_rules` refuses.
    """
    shipped_vendors, shipped = read_shipped(SHIPPED_FOLDER)
    vendors = {vendor.name: vendor for vendor in shipped_vendors}
    entries = {each.id: each for each in shipped}
    for name, text in own:
        own_vendors, own_entries = _read(text, name)
        vendors.update({vendor.name: vendor for vendor in own_vendors})
        _check_vendors(own_entries, vendors, text, name)
        if not _is_compiled(text):
            from core.catalog.host_rules import check_hosts  # compiled files were looked at when they were compiled

            check_hosts([each.make() for each in own_entries], vendors, text, name)
        for each in own_entries:
            entries.pop(each.id, None)  # to the end, so that its aliases count
            entries[each.id] = each
    callable_vendors = frozenset(name for name, vendor in vendors.items() if usable(vendor))
    kept = [each for each in entries.values() if not callable_vendors.isdisjoint(each.vendors)]
    return Catalog(Models(kept, callable_vendors), vendors, _places(kept))


def _read(text: str, name: str) -> tuple[Iterable[Vendor], Sequence[Entry]]:
    if _is_compiled(text):
        compiled = read_compiled(text.encode(), name)
        return compiled.vendors, compiled.entries
    from core.catalog.file import parse_catalog  # it brings pydantic: paid for by own files alone

    vendors, models = parse_catalog(text, name)
    return vendors, tuple(map(entry, models))


def _is_compiled(text: str) -> bool:
    return text.startswith(MARK.decode())


def _check_vendors(entries: Sequence[Entry], vendors: Mapping[str, Vendor], text: str, name: str) -> None:
    for index, each in enumerate(entries):
        for place, vendor in enumerate(each.vendors):
            if vendor not in vendors:
                raise CatalogError(_unknown_vendor(vendor, vendors, text, name, ("models", index, "hosts", place)))


def _unknown_vendor(
    vendor: str, vendors: Mapping[str, Vendor], text: str, name: str, path: tuple[str | int, ...]
) -> str:
    import difflib

    from core.catalog.file import place

    near = difflib.get_close_matches(vendor, vendors, n=1)
    known = f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(sorted(vendors))}."
    where = place(text, name, (*path, "vendor"))
    return f"{where}: the vendor {vendor!r} is not known. {known} Or add [vendors.{vendor}] to the file."


def _places(entries: Sequence[Entry]) -> Mapping[str, int]:
    """Where each name leads: later files take an alias from earlier ones, an id is never taken."""
    places = {alias: index for index, each in enumerate(entries) for alias in each.aliases}
    places.update({each.id: index for index, each in enumerate(entries)})
    return places
