"""The catalog file: TOML as people write it, checked, as values; an error names the line and the field."""

import re
import tomllib
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from pydantic import ValidationError

from core.catalog.errors import CatalogError
from core.catalog.lines import Path, line_of
from core.catalog.model import Model, Vendor
from core.catalog.problems import Problem, problems_of
from core.catalog.schema import CatalogFile

_DEEPEST: Final = 200
_BRACKETS: Final = re.compile(r"[\[\]{}]")

__all__ = ["CatalogError", "parse_catalog", "place"]


def parse_catalog(text: str, name: str) -> tuple[tuple[Vendor, ...], tuple[Model, ...]]:
    """Read a catalog file.

    Args:
        text: Its TOML.
        name: What to call the file in errors.

    Raises:
        CatalogError: The TOML or a value in it is wrong.
    """
    if _is_deep(text):
        raise CatalogError(f"{name}: not a catalog file: it is nested too deeply")
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(_not_toml(str(error), name)) from None
    except (ValueError, ArithmeticError):
        # Python reads no whole number of thousands of digits, and no exponent of twenty.
        raise CatalogError(f"{name}: a number in it is too long or too large") from None
    try:
        file = CatalogFile.model_validate(document)
    except ValidationError as error:
        raise CatalogError(_told(problems_of(error), text, name)) from None
    vendors, models = file.values()
    if wrong := list(_wrong_names(models)):
        raise CatalogError(_told(wrong, text, name))
    return vendors, models


def place(text: str, name: str, path: Path) -> str:
    """Where something stands, for an error: `file:line: dotted.path`."""
    line = line_of(text, path)
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return f"{name}:{line}: {dotted}" if line else f"{name}: {dotted}"


def _told(problems: Iterable[Problem], text: str, name: str) -> str:
    return "\n".join(f"{place(text, name, problem.path)}: {problem.message}" for problem in problems)


def _is_deep(text: str) -> bool:
    """Whether so many brackets are open somewhere that reading it would use up the stack."""
    depth = 0
    for bracket in _BRACKETS.findall(text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        if depth > _DEEPEST:
            return True
    return False


def _not_toml(message: str, name: str) -> str:
    where = re.search(r" \(at line (\d+), column \d+\)$", message)
    if where is None:
        return f"{name}: not valid TOML: {message}"
    return f"{name}:{where[1]}: not valid TOML: {message[: where.start()]}"


def _wrong_names(models: Iterable[Model]) -> Iterable[Problem]:
    """Names that stand for two models of one file."""
    owners: dict[str, int] = {}
    models = tuple(models)
    for index, model in enumerate(models):
        names: list[tuple[str, Path]] = [(model.id, ("models", index, "id"))]
        names += [(alias, ("models", index, "aliases", number)) for number, alias in enumerate(model.aliases)]
        for name, path in names:
            if name == "auto":
                yield Problem(path, "'auto' is how callers leave the choice to the gateway; use another name")
            owner = owners.setdefault(name, index)
            if owner != index:
                yield Problem(path, f"{name!r} is a name of {models[owner].id!r} already")
