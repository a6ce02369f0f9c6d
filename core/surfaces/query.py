"""Query strings: parameters that stand there once, none that nobody documents, numbers within bounds."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from core.errors import InvalidRequest

Parameters: TypeAlias = Mapping[str, Sequence[str]]
"""A query string: the values of each name, in order."""

_LONGEST_SHOWN = 60


def check_names(parameters: Parameters, known: Collection[str]) -> None:
    """Refuse parameters that there are not: what they were meant to say would be passed over in silence.

    Raises:
        InvalidRequest: There is one; it is named.
    """
    for name in parameters:
        if name not in known:
            shown = name[:_LONGEST_SHOWN]
            raise InvalidRequest(f"There is no parameter {shown!r} here. There are: {', '.join(known)}.", param=shown)


def only_value(parameters: Parameters, name: str) -> str | None:
    """The value of a parameter, or None where it is not there.

    Raises:
        InvalidRequest: It is there several times.
    """
    values = parameters.get(name, ())
    if len(values) > 1:
        raise InvalidRequest(f"'{name}' is there {len(values)} times. Send it once.", param=name)
    return values[0] if values else None


def page_limit(parameters: Parameters, usual: int, largest: int) -> int:
    """How many rows a page may have: what `limit` says.

    Args:
        parameters: The query string.
        usual: How many without it.
        largest: The most that may be asked for.

    Raises:
        InvalidRequest: It is no whole number from 1 to the largest.
    """
    text = only_value(parameters, "limit")
    if text is None:
        return usual
    # Python refuses to read thousands of digits.
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= largest):
        raise InvalidRequest(f"'limit' must be a whole number from 1 to {largest}.", param="limit")
    return int(text)
