"""Builds the shipped models from the sources and the overlay; the same files give the same bytes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from core.catalog.file import parse_catalog
from core.catalog.model import Abilities, Model, ThinkingSwitch
from functions.local.catalog.disagreements import Disagreement, disagreements
from functions.local.catalog.findings import Finding, Severity
from functions.local.catalog.hosts import host_table
from functions.local.catalog.limits import longest_answer, window
from functions.local.catalog.overlay import OVERLAY, OverlayError, OverlayModel, read_overlay
from functions.local.catalog.rules import RULES, VendorRule, read_rules
from functions.local.catalog.sources.folder import OTHER_FORM, Sources, SourcesMissing, open_sources
from functions.local.catalog.sources.offer import Offer, Source
from functions.local.catalog.states import abilities, at_effort
from functions.local.catalog.writer import write_toml

HEAD: Final = (
    "The models that ship with the gateway, made by `headrace catalog build` from dated sources and from the overlay",
    "in functions/local/catalog/overlay/: change that, and build again. Prices are US dollars per million tokens.",
)


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What was built: the file, its models, where sources differ, and what is missing."""

    text: str
    models: tuple[Model, ...]
    disagreements: tuple[Disagreement, ...]
    findings: tuple[Finding, ...]

    @property
    def hosts_by_vendor(self) -> Mapping[str, int]:
        """How many models each vendor offers."""
        return Counter(host.vendor for model in self.models for host in model.hosts)


def build(folder: Path, overlay: Path = OVERLAY, rules: Path = RULES) -> BuildReport:
    """Make `models.toml`.

    Args:
        folder: Where the source files lie.
        overlay: The folder with the hand-kept part.
        rules: The file that says how sources call each vendor's models.

    Raises:
        SourcesMissing: A source file is not there, or is not what it should be.
        OverlayError: The overlay is wrong.
        CatalogError: What was built is no catalog file.
    """
    vendor_rules = read_rules(rules)
    builder = _Builder(open_sources(folder, vendor_rules), vendor_rules)
    tables = [table for owner, model in read_overlay(overlay) for table in builder.tables(owner, model)]
    text = write_toml({"models": tables}, HEAD)
    _, models = parse_catalog(text, "models.toml")
    return BuildReport(text, models, tuple(builder.disagreements), tuple(builder.findings))


class _Builder:
    def __init__(self, sources: Sources, rules: Mapping[str, VendorRule]) -> None:
        self._sources, self._rules = sources, rules
        self.disagreements: list[Disagreement] = []
        self.findings: list[Finding] = []

    def tables(self, owner: str, model: OverlayModel) -> Iterable[dict[str, Any]]:
        """A model and its variants, as catalog tables."""
        offers = {vendor: self._offers(model.id, vendor, name) for vendor, name in model.hosts.items()}
        home = offers[next(iter(model.hosts))]
        able = abilities(owner, model, home, [offer for each in offers.values() for offer in each])
        table = self._model(owner, model, home, able)
        table["hosts"] = [
            host_table(model, vendor, offers[vendor], self._rules[vendor], able, table) for vendor in model.hosts
        ]
        ends = [host.get("deprecated") for host in table["hosts"] if not self._rules[host["vendor"]].resells]
        if ends and all(ends):
            table["deprecated"] = max(ends)
        self._missing(model, table)
        yield table
        for name, variant in model.variants.items():
            yield {
                **table,
                "id": f"{model.id}:{name}",
                "name": f"{model.name} ({variant.effort} effort)",
                "aliases": [f"{alias}:{name}" for alias in table.get("aliases", ())],
                "abilities": _said(at_effort(able, variant.effort)),
                "quality": self._quality(model.id, variant.livebench, variant.lmarena),
                "hosts": [_at_effort(host, variant.effort) for host in table["hosts"] if _has_effort(host)],
            }

    def _offers(self, model: str, vendor: str, upstream_model: str) -> Sequence[Offer]:
        found = [_find(source, vendor, upstream_model) for source in self._sources.offers]
        offers = [offer for offer in found if offer is not None]
        self.disagreements += disagreements(model, vendor, offers)
        if not offers:
            self._note(Severity.WARNING, model, vendor, f"no source knows {upstream_model!r}")
        for offer in offers:
            for name in offer.zeros:
                self._note(Severity.INFO, model, f"{vendor}.prices.{name}", f"{offer.source} says 0; taken as unknown")
        return offers

    def _model(self, owner: str, model: OverlayModel, home: Sequence[Offer], able: Abilities) -> dict[str, Any]:
        context = model.context_tokens or window(home)
        output = model.max_output_tokens or longest_answer(home)
        if context is None or output is None:
            raise OverlayError(f"{model.id}: no source states its limits; the overlay must")
        released = model.released or _first(offer.released for offer in home)
        quality = self._quality(model.id, model.livebench, model.lmarena)
        table = {
            "id": model.id,
            "name": model.name,
            "owner": owner,
            "aliases": _aliases(model),
            "description": model.description,
            "released": released,
            "context_tokens": context,
            "max_output_tokens": min(output, context),
            "abilities": _said(able),
            "quality": quality,
        }
        return {name: value for name, value in table.items() if value not in (None, "", [], {})}

    def _quality(self, model: str, livebench: str | None, lmarena: str | None) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for name, evaluation in ((livebench, self._sources.livebench), (lmarena, self._sources.lmarena)):
            if name is None:
                continue
            try:
                scores = evaluation.scores(name)
            except KeyError:
                self._note(Severity.ERROR, model, "quality", f"{evaluation.name} does not have {name!r}")
                continue
            found |= {
                task: {"value": score.value, "source": score.source, "date": score.date}
                for task, score in scores.items()
            }
        return dict(sorted(found.items()))

    def _missing(self, model: OverlayModel, table: Mapping[str, Any]) -> None:
        for host in table["hosts"]:
            if "prices" not in host:
                self._note(Severity.WARNING, model.id, f"{host['vendor']}.prices", "no source states a price")

    def _note(self, severity: Severity, model: str, field: str, message: str) -> None:
        self.findings.append(Finding(severity, model, field, message))


def _find(source: Source, vendor: str, upstream_model: str) -> Offer | None:
    try:
        return source.find(vendor, upstream_model)
    except OTHER_FORM as error:
        raise SourcesMissing(
            f"A source file is not in the form that is known: {vendor}, {upstream_model}: {error!r}"
        ) from error


def _said(able: Abilities) -> dict[str, Any]:
    """The abilities that are not as they are by default."""
    members = {each.name: (getattr(able, each.name), each.default) for each in fields(Abilities)}
    said = {name: value for name, (value, default) in members.items() if value != default}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in said.items()}


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _aliases(model: OverlayModel) -> list[str]:
    """The names under which callers know it: its owner's, the one without the owner, and the overlay's."""
    home = next(iter(model.hosts.values()))
    names = [home, model.id.partition("/")[2], model.hosts.get("openrouter", home), *model.aliases]
    return [name for name in dict.fromkeys(names) if name != model.id]


def _has_effort(host: Mapping[str, Any]) -> bool:
    return host.get("thinking_switch") is ThinkingSwitch.REASONING_EFFORT


def _at_effort(host: Mapping[str, Any], effort: str) -> dict[str, Any]:
    return {**host, "options": {**host.get("options", {}), "reasoning_effort": effort}}
