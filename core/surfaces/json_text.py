"""Writes JSON for callers, also of text that cannot be written as UTF-8."""

import orjson

from core.chat import Json


def to_json(value: Json) -> bytes:
    """A value as JSON. Half a surrogate pair, which a host may send as an escape, becomes U+FFFD."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return orjson.dumps(_writable(value))


def _writable(value: Json) -> Json:
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case dict():
            return {_writable(name): _writable(member) for name, member in value.items()}
        case list() | tuple():
            return [_writable(each) for each in value]
        case _:
            return value
