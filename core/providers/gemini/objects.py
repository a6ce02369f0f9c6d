"""Reads the JSON objects that callers and models write as strings; Gemini wants them as objects."""

from typing import Final

import orjson

from core.chat import Json

# The writer's limit is 254 levels, of which the body around an object takes some.
_ROOM: Final = 200


def object_in(text: str) -> dict[str, Json] | None:
    """The JSON object that a text is; None when it is another value, no JSON, or too deep to be written again."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    return value if text.count("{") + text.count("[") <= _ROOM or _depth(value) <= _ROOM else None


def _depth(value: Json) -> int:
    level, depth = [value], 0
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return depth
