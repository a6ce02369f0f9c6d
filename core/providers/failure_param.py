"""Tells which field of the caller's request a host finds at fault; what is no path of one it never passes on."""

import re
from typing import Final

from core.catalog.model import Target
from core.providers.dispositions import TOP_LEVEL
from core.providers.failure_words import cleaned

_MAX_PATH: Final = 200
_PATH: Final = re.compile(r"([A-Za-z_]\w{0,63}+)(?:\.\w{1,64}+|\[\d{1,6}+\])*+", re.ASCII)


def caller_param(said: str | None, target: Target) -> str | None:
    """The dotted path of the field at fault, or None where the host names none that a caller can have sent.

    Args:
        said: The path in the host's words.
        target: Who answered; its renamed fields get their own names back.
    """
    if said is None or len(said) > _MAX_PATH:
        return None
    names = {sent: name for name, sent in target.vendor.renames.items()}
    path = names.get(said, said)
    match = _PATH.fullmatch(path)
    # A later step is free text: what a message may not hold, it may not hold either.
    if match is None or match[1] not in TOP_LEVEL or cleaned(path, target) != path:
        return None
    return path
