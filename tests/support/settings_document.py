"""The table of docs/settings.md, from the settings; `python -m tests.support.settings_document` writes it."""

from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt
from pydantic.fields import FieldInfo

from functions.settings import PREFIX, Settings

DOCUMENT = Path(__file__).parents[2] / "docs/settings.md"
HEAD = "| variable | takes | default | meaning |"
KINDS = {"str": "text", "Path": "a path", "int": "a whole number", "float": "a number"}


def rows() -> list[str]:
    """The table, head included."""
    return [HEAD, "|---|---|---|---|", *(_row(name, field) for name, field in Settings.model_fields.items())]


def _row(name: str, field: FieldInfo) -> str:
    default = "" if field.default is None else f"`{field.default}`"
    assert field.description, f"{name} says what it means"
    return f"| `{PREFIX}{name.upper()}` | {_takes(field)} | {default} | {field.description} |"


def _takes(field: FieldInfo) -> str:
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind is not type(None)]
    if get_origin(field.annotation) is Literal:
        return " or ".join(f"`{each}`" for each in get_args(field.annotation))
    return " or ".join(KINDS[kind.__name__] for kind in kinds) + "".join(map(_bound, field.metadata))


def _bound(bound: Any) -> str:
    match bound:
        case Ge():
            return f" from {bound.ge}"
        case Gt():
            return f" above {bound.gt}"
        case _:
            pattern = getattr(bound, "pattern", None)
            return "" if pattern is None else f" like `{pattern}`".replace("|", "\\|")


def written(text: str) -> str:
    """The document with the table as it should be."""
    before, _, rest = text.partition(HEAD)
    _, _, after = rest.partition("\n\n")
    return f"{before}{chr(10).join(rows())}\n\n{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text("utf-8")), "utf-8")
