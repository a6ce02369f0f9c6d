"""Holds a request body against an SDK's own parameter types; nothing that they do not know is let through."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError


def typed_problems(types: TypeAdapter[Any], body: Mapping[str, Any]) -> Iterator[str]:
    """What the types say against a body."""
    try:
        taken = _read(types.validate_python(body, extra="forbid"))
    except ValidationError as error:
        yield str(error)
        return
    if taken != body:
        yield f"the types read something else: {taken}"


def _read(value: Any) -> Any:
    """What was validated; arrays of SDKs are checked while they are read."""
    match value:
        case dict():
            return {name: _read(member) for name, member in value.items()}
        case str() | int() | float() | None:
            return value
        case _:
            return [_read(item) for item in value]
