"""Offers a free-text tool as a function with one string parameter where a format knows functions only, and back."""

import json
from typing import Final

import orjson

from core.chat import CustomTool, FunctionTool

INPUT: Final = "input"


def as_function(tool: CustomTool) -> FunctionTool:
    """The function that stands for a free-text tool; a grammar can only be described, not enforced."""
    text: dict[str, str] = {"type": "string", "description": "The whole input of the tool, as plain text."}
    grammar = (tool.format or {}).get("grammar")
    if isinstance(grammar, dict):
        syntax, definition = grammar.get("syntax", "given"), grammar.get("definition", "")
        text["description"] += f" It must match this {syntax} grammar:\n{definition}"
    return FunctionTool(
        name=tool.name,
        description=tool.description,
        parameters={
            "type": "object",
            "properties": {INPUT: text},
            "required": [INPUT],
            "additionalProperties": False,
        },
    )


def wrapped(text: str) -> str:
    """Free text as the arguments of that function."""
    return json.dumps({INPUT: text}, ensure_ascii=False)


def unwrapped(arguments: str) -> str:
    """The free text in the arguments of that function; what has another form is taken as the text itself."""
    try:
        parsed = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments
    if not isinstance(parsed, dict) or INPUT not in parsed:
        return arguments
    text = parsed[INPUT]
    return text if isinstance(text, str) else orjson.dumps(text).decode()
