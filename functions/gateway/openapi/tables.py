"""Schemas as HTML: what type a value has in words, and the table of an object's members."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from functions.gateway.openapi.prose import code, inline
from functions.gateway.openapi.shapes import Schema

_SCHEMAS: Final = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Names:
    """How components are called on the page; `shown` maps the full name of each to that."""

    shown: dict[str, str]

    def link(self, reference: str) -> str:
        """A link to the component that is referred to."""
        name = self.shown[reference.removeprefix(_SCHEMAS)]
        return f'<a href="#{anchor(name)}">{escape(name)}</a>'


def anchor(name: str) -> str:
    """The fragment under which something of that name stands."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def target(reference: str, schemas: dict[str, Schema]) -> Schema:
    """The component that is referred to."""
    return schemas[reference.removeprefix(_SCHEMAS)]


def member_table(shape: Schema, names: Names) -> str:
    """The members of an object, nested ones below theirs; empty for what is no object with known members."""
    rows = "".join(_rows(shape, names, ""))
    return f'<table class="members"><tbody>{rows}</tbody></table>' if rows else ""


def kind(shape: Schema, names: Names, *, null: bool = True) -> str:
    """The type of a value in words, as HTML.

    Args:
        shape: Its schema.
        names: For links to components.
        null: Whether to mention that it may be null.
    """
    if "$ref" in shape:
        return names.link(shape["$ref"])
    for several in ("anyOf", "oneOf"):
        if several in shape and "type" not in shape:
            kinds = [kind(each, names) for each in shape[several] if null or each != {"type": "null"}]
            return " or ".join(dict.fromkeys(kinds))
    if "const" in shape:
        return code(_literal(shape["const"]))
    if "enum" in shape:
        return ", ".join(code(_literal(value)) for value in shape["enum"] if null or value is not None)
    types = shape.get("type", "anything")
    listed = [types] if isinstance(types, str) else [each for each in types if null or each != "null"]
    words = " or ".join(_of(each, shape, names) for each in listed)
    return f"{words}{_limits(shape)}"


def _of(name: str, shape: Schema, names: Names) -> str:
    if name == "array":
        return f"array of {kind(shape['items'], names)}"
    if name == "object" and isinstance(shape.get("additionalProperties"), dict):
        return f"object of {kind(shape['additionalProperties'], names)}"
    return name


def _limits(shape: Schema) -> str:
    said = [_span(shape, low, high, unit) for low, high, unit in _SPANS]
    if "pattern" in shape:
        said.append(f"like {code(shape['pattern'])}")
    given = [each for each in said if each]
    return f' <span class="limits">{", ".join(given)}</span>' if given else ""


_SPANS: Final = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " entries"),
    ("minProperties", "maxProperties", " members"),
)


def _span(shape: Schema, low_name: str, high_name: str, unit: str) -> str:
    low, high = shape.get(low_name), shape.get(high_name)
    # Bounds of the number format itself tell a reader nothing.
    if high is not None and high >= 2**63 - 1:
        high = None
    if low is not None and low <= -(2**63):
        low = None
    if low is None and high is None:
        return ""
    if high is None:
        return "not empty" if unit and low == 1 else f"at least {low}{unit}"
    if low is None:
        return f"at most {high}{unit}"
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _literal(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _rows(shape: Schema, names: Names, around: str) -> Iterator[str]:
    required = shape.get("required", ())
    for name, member in shape.get("properties", {}).items():
        if member == {"type": "null"}:
            continue  # what belongs to another kind of the object, and may be there as null
        path = f"{around}{name}"
        is_required = name in required
        mark = ' <span class="required">required</span>' if is_required else ""
        about = inline(member.get("description", ""))
        words = kind(member, names, null=is_required)
        outer = f'<span class="outer">{escape(around).replace(".", ".<wbr>")}</span>' if around else ""
        yield f"<tr><th>{outer}{code(name)}{mark}</th><td>{words}</td><td>{about}</td></tr>"
        yield from _inside(member, names, path)


def _inside(shape: Schema, names: Names, path: str) -> Iterator[str]:
    if "properties" in shape:
        yield from _rows(shape, names, f"{path}.")
    if "items" in shape:
        yield from _inside(shape["items"], names, f"{path}[]")
    if isinstance(shape.get("additionalProperties"), dict):
        yield from _inside(shape["additionalProperties"], names, f"{path}.*")
    for each in shape.get("anyOf", ()):
        yield from _inside(each, names, path)
