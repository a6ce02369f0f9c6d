"""What pydantic found wrong with a catalog file, in words for the person who wrote it."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from core.catalog.schema import CatalogFile


@dataclass(frozen=True, slots=True)
class Problem:
    """A thing that is wrong, and the path of keys and indexes that leads to it."""

    path: tuple[str | int, ...]
    message: str


def problems_of(error: ValidationError) -> list[Problem]:
    """The problems, without those that only follow from another one further in."""
    found = error.errors(include_url=False)
    paths = [problem["loc"] for problem in found]
    return [
        Problem(problem["loc"], _message(problem))
        for problem in found
        if not any(len(path) > len(problem["loc"]) and path[: len(problem["loc"])] == problem["loc"] for path in paths)
    ]


def _message(problem: Mapping[str, Any]) -> str:
    match problem["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return _unknown(problem["loc"])
        case "value_error":
            return str(problem["ctx"]["error"])
        case _:
            return str(problem["msg"]).replace("Input should", "must").replace("String should", "must")


def _unknown(path: tuple[str | int, ...]) -> str:
    *place, name = path
    known = sorted(_fields(place))
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    return f"is not known here; {hint}"


def _fields(place: Iterable[str | int]) -> Iterable[str]:
    """The names that may stand in a table of the file."""
    annotation: Any = CatalogFile
    for part in place:
        if _is_schema(annotation):
            annotation = annotation.model_fields[part].annotation
            if type(None) in get_args(annotation):
                annotation = _schema_in(annotation)
        else:
            annotation = _schema_in(annotation)
    return tuple(annotation.model_fields)


def _is_schema(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _schema_in(annotation: Any) -> Any:
    """The schema of an optional value, or of the elements of an array or table."""
    return next(each for each in get_args(annotation) if _is_schema(each))
