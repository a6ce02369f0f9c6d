"""The compiled form of catalog files: JSON, one model a line, read without pydantic and model by model.

The first line says what was compiled, the second holds the vendors, the third the names of the models and their hosts'
vendors, so that a model's own line is read only when it is wanted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeAlias

import orjson

from core.catalog.errors import CatalogError
from core.catalog.model import (
    Abilities,
    Auth,
    Format,
    Host,
    Model,
    Promises,
    Quirk,
    Score,
    StructuredOutput,
    Thinking,
    ThinkingSwitch,
    Vendor,
)
from core.catalog.schedule import PriceChange, Window
from core.money import ContextTier, Prices, Rates

MARK: Final = b'{"headrace_catalog":'
_VERSION: Final = 1

# What reading finds where something else should be.
_DAMAGE: Final = (AttributeError, LookupError, TypeError, ValueError)

_Converters: TypeAlias = Mapping[str, Callable[[Any], Any]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that need not be there yet: its names, the vendors of its hosts, and how to make it."""

    id: str
    aliases: Sequence[str]
    vendors: Sequence[str]
    make: Callable[[], Model]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled catalog; `digests` are the SHA-256 of the files that it was made of, by name."""

    digests: Mapping[str, str]
    vendors: tuple[Vendor, ...]
    entries: tuple[Entry, ...]


def compile_catalog(vendors: Iterable[Vendor], models: Iterable[Model], digests: Mapping[str, str]) -> bytes:
    """The compiled form; the same values give the same bytes."""
    models = tuple(models)
    lines = [
        {"headrace_catalog": _VERSION, "digests": dict(sorted(digests.items()))},
        [_packed(vendor) for vendor in vendors],
        [[model.id, model.aliases, [host.vendor for host in model.hosts]] for model in models],
        *map(_packed, models),
    ]
    return b"\n".join(map(orjson.dumps, lines)) + b"\n"


def read_compiled(data: bytes, name: str) -> Compiled:
    """Read a compiled catalog.

    Args:
        data: Its bytes.
        name: What to call it in errors.

    Raises:
        CatalogError: It is damaged, or of another version.
    """
    lines = data.splitlines()
    if _version(lines) not in (_VERSION, None):
        raise CatalogError(f"{name}: compiled by another version of headrace. Compile it again.")
    try:
        head = orjson.loads(lines[0])
        vendors = tuple(_vendor(row) for row in orjson.loads(lines[1]))
        index = orjson.loads(lines[2])
        entries = tuple(
            Entry(model_id, aliases, hosts, partial(_model, line, name))
            for (model_id, aliases, hosts), line in zip(index, lines[3:], strict=True)
        )
        return Compiled(head["digests"], vendors, entries)
    except _DAMAGE as error:
        raise CatalogError(f"{name}: damaged. Compile it again.") from error


def _version(lines: Sequence[bytes]) -> object:
    try:
        return orjson.loads(lines[0])["headrace_catalog"]
    except _DAMAGE:
        return None


def _packed(value: Any) -> Any:
    """A value as JSON, without what is as it is by default."""
    match value:
        case Enum():
            return value.value
        case Fraction():
            return str(value)
        case frozenset():
            return sorted(map(_packed, value))
        case tuple() | list():
            return [_packed(each) for each in value]
        case Mapping():
            return {name: _packed(each) for name, each in value.items()}
        case _ if is_dataclass(value):
            members = ((each.name, each, getattr(value, each.name)) for each in fields(value))
            return {name: _packed(member) for name, each, member in members if not _is_default(each, member)}
        case _:
            return value


def _is_default(declared: Any, value: object) -> bool:
    if declared.default is not MISSING:
        return bool(declared.default == value)
    return declared.default_factory is not MISSING and not value


def _vendor(row: dict[str, Any]) -> Vendor:
    return Vendor(**_converted(row, _VENDOR))


def _model(line: bytes, name: str) -> Model:
    try:
        row = orjson.loads(line)
        return Model(**_converted(row, _MODEL))
    except _DAMAGE as error:
        raise CatalogError(f"{name}: damaged. Compile it again.") from error


def _host(row: dict[str, Any]) -> Host:
    return Host(**_converted(row, _HOST))


def _abilities(row: dict[str, Any]) -> Abilities:
    return Abilities(**_converted(row, _ABILITIES))


def _prices(row: dict[str, Any]) -> Prices:
    return Prices(**_converted(row, _PRICES))


def _change(row: dict[str, Any]) -> PriceChange:
    return PriceChange(**_converted(row, _CHANGE))


def _tier(row: dict[str, Any]) -> ContextTier:
    return ContextTier(row["threshold"], row["operator"], Rates(**row["rates"]))


def _window(row: dict[str, Any]) -> Window:
    return Window(**_converted(row, _WINDOW))


def _converted(row: dict[str, Any], converters: _Converters) -> dict[str, Any]:
    """The row itself, with the members turned into what the value holds."""
    for name, convert in converters.items():
        if name in row:
            row[name] = convert(row[name])
    return row


def _all(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: tuple(map(convert, values))


def _member(kind: type[Enum]) -> Callable[[str], Enum]:
    # Four times as fast as calling the class.
    return {each.value: each for each in kind}.__getitem__


def _quirks(values: Iterable[str]) -> frozenset[Quirk]:
    return frozenset(map(Quirk, values))


_VENDOR: Final[_Converters] = {
    "format": _member(Format),
    "auth": _member(Auth),
    "refuses": frozenset,
    "quirks": _quirks,
}
_MODEL: Final[_Converters] = {
    "hosts": _all(_host),
    "abilities": _abilities,
    "aliases": tuple,
    "quality": lambda scores: {task: Score(**score) for task, score in scores.items()},
}
_HOST: Final[_Converters] = {
    "prices": _prices,
    "price_changes": _all(_change),
    "thinking_switch": _member(ThinkingSwitch),
    "promises": lambda row: Promises(**row),
    "refuses": frozenset,
    "quirks": _quirks,
}
_ABILITIES: Final[_Converters] = {
    "structured_output": _member(StructuredOutput),
    "thinking": _member(Thinking),
    "efforts": tuple,
    "refuses": frozenset,
}
_PRICES: Final[_Converters] = {
    "base": lambda row: Rates(**row),
    "tiers": _all(_tier),
    "service_tiers": lambda factors: {name: Fraction(factor) for name, factor in factors.items()},
    "service_prices": lambda lists: {name: _prices(row) for name, row in lists.items()},
}
_CHANGE: Final[_Converters] = {"prices": _prices, "windows": _all(_window)}
_WINDOW: Final[_Converters] = {"days": frozenset}
