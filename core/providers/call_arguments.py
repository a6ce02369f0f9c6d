"""The arguments of calls in the history, for hosts that want a JSON object where OpenAI takes any string.

Models write broken arguments now and then, and callers send back what they got: that must not end the conversation.
"""

from typing import Final

import orjson

from core.chat import Json

RAW: Final = "_raw"
"""The key under which arguments go that are no JSON object."""


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def as_object(arguments: str) -> Json:
    """Arguments as the object that a format wants: byte for byte where they are one, empty where there are none."""
    if not arguments.strip():
        return {}
    return orjson.Fragment(arguments) if is_object(arguments) else {RAW: arguments}


def object_text(arguments: str) -> str:
    """The same as text."""
    return orjson.dumps(as_object(arguments)).decode()
