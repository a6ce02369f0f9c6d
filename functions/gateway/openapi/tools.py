"""Tools and tool choice of a request as schemas, and the deprecated functions."""

from typing import Final

from core.surfaces.openai_chat.tools import LONGEST_NAME
from functions.gateway.openapi.shapes import Schema, array, either, flag, free, record, text, words
from functions.gateway.openapi.space import Space

_PATTERN: Final = f"^[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}$"
_PARAMETERS: Final = "A JSON Schema of the arguments; without it there are none. Nothing inside is looked at."


def identifier(about: str = "") -> Schema:
    """A name that every vendor takes."""
    return text(about, pattern=_PATTERN)


def tool_schemas(space: Space) -> dict[str, Schema]:
    """The components that describe tools, by their short names."""
    described = {"name": identifier("No two tools have the same name."), "description": text("When to call it.")}
    function = {
        **described,
        "parameters": free(_PARAMETERS),
        "strict": flag("Whether the arguments must follow the schema exactly."),
    }
    grammar = {"definition": text(), "syntax": words("lark", "regex")}
    return {
        "FunctionTool": space.record(
            {"type": words("function"), "function": space.record(function, ("name",))},
            ("type", "function"),
            "A function that the model may call.",
        ),
        "CustomTool": space.record(
            {
                "type": words("custom"),
                "custom": space.record(
                    {**described, "format": space.kinds("type", {"text": "TextFormat", "grammar": "GrammarFormat"})},
                    ("name",),
                ),
            },
            ("type", "custom"),
            "A tool that takes free text.",
        ),
        "TextFormat": space.record({"type": words("text")}, ("type",), "Any text."),
        "GrammarFormat": space.record(
            {"type": words("grammar"), "grammar": space.record(grammar, ("definition", "syntax"))},
            ("type", "grammar"),
            "Text of a grammar.",
        ),
        "LegacyFunction": space.record(
            {**described, "parameters": free(_PARAMETERS)}, ("name",), "Deprecated: a function that may be called."
        ),
        **_choices(space),
    }


def _choices(space: Space) -> dict[str, Schema]:
    pointer = space.record({"name": text("The name of one of the `tools`.", least=1)}, ("name",))
    allowed = {
        "mode": words("auto", "required"),
        "tools": array(either(_pointed("function"), _pointed("custom")), "At least one of the `tools`.", least=1),
    }
    return {
        "FunctionChoice": space.record(
            {"type": words("function"), "function": pointer}, ("type", "function"), "Calls exactly this function."
        ),
        "CustomChoice": space.record(
            {"type": words("custom"), "custom": pointer}, ("type", "custom"), "Calls exactly this custom tool."
        ),
        "AllowedTools": space.record(
            {"type": words("allowed_tools"), "allowed_tools": space.record(allowed, ("mode", "tools"))},
            ("type", "allowed_tools"),
            "Narrows the tools without changing `tools`, which keeps a cached prompt.",
        ),
    }


def _pointed(kind: str) -> Schema:
    """An entry of `allowed_tools`: its type and name are read, nested or flat, and nothing else."""
    name = text(least=1)
    nested = record({kind: record({"name": name}, ("name",))}, (kind,))
    flat = record({"name": name, kind: {"type": "null"}}, ("name",))
    required = () if kind == "function" else ("type",)
    return {**record({"type": words(kind)}, required), "anyOf": [nested, flat]}


def tool_choice(space: Space) -> Schema:
    """`tool_choice`, in each of its forms."""
    forms = {"function": "FunctionChoice", "custom": "CustomChoice", "allowed_tools": "AllowedTools"}
    return either(
        words("none", "auto", "required"),
        space.kinds("type", forms),
        about="Whether and what to call. Without `tools` it may only be `none` or `auto`. Default: `auto`.",
    )
