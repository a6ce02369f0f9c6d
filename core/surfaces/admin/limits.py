"""Limits as operators write and read them."""

from dataclasses import fields
from typing import Any, Final

from core.chat import Json
from core.surfaces.openai_chat.checks import At, integer, record
from core.tenant import Limits

LIMIT_NAMES: Final = tuple(each.name for each in fields(Limits))
"""The names of the limits that there are."""

LARGEST: Final = 2**63 - 1
"""The largest number that both stores can keep."""

_LIMITS: Final = record(dict.fromkeys(LIMIT_NAMES, integer(0, LARGEST)), refuse=True)


def limits(value: Json, at: At) -> Limits:
    """Limits; what is left out has no bound."""
    return Limits(**_LIMITS(value, at))


def limits_object(value: Limits) -> dict[str, Json]:
    """Limits, with null for no bound."""
    return {name: getattr(value, name) for name in LIMIT_NAMES}


def without_bounds(changes: dict[str, Any]) -> dict[str, Any]:
    """Changes in which a null for all `limits` is written out: no bound at all."""
    return {**changes, "limits": Limits()} if changes.get("limits", Limits()) is None else changes
