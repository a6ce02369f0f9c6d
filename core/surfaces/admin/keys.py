"""Callers' keys as operators write and read them. A key itself is shown by whoever makes it, never from here."""

from typing import Any, Final

from core.chat import Json
from core.surfaces.admin.changes import distinct, identifier, read
from core.surfaces.admin.limits import limits, limits_object, without_bounds
from core.surfaces.admin.plans import LONGEST_TITLE
from core.surfaces.openai_chat.checks import At, integer, named, one_of, up_to
from core.tenant import Key, Scope

MOST_OVERLAP_HOURS: Final = 24 * 90
"""How long a key may live on beside the one that takes its place, in hours."""

USUAL_OVERLAP_HOURS: Final = 24

LATEST_S: Final = 253_402_300_799
"""The last second of the year 9999, in Unix time: later ones have no date that programs agree on."""

_SCOPES: Final = distinct(one_of(*(scope.value for scope in Scope)))


def _scopes(value: Json, at: At) -> tuple[Scope, ...]:
    return tuple(Scope(each) for each in _SCOPES(value, at))


_KEY: Final = {
    "name": up_to(LONGEST_TITLE),
    "expires": integer(0, LATEST_S),
    "policies": distinct(identifier),
    "models": distinct(named),
    "scopes": _scopes,
    "limits": limits,
}


def parse_key(body: bytes) -> dict[str, Any]:
    """The members of a new key, by their names in `Key`.

    Raises:
        InvalidRequest: It is no JSON object, or a member is missing or wrong; the dotted path is named.
        Unprocessable: It has an unknown member.
    """
    return _members(read(body, _KEY, ("name",)))


def parse_key_changes(body: bytes) -> dict[str, Any]:
    """The members of a key that change; null in `expires`, `models` or `limits` takes the bound away."""
    return without_bounds(_members(read(body, _KEY, clears=("expires", "models", "limits"))))


def parse_rotation(body: bytes) -> int:
    """For how many hours the old key lives on; fails as `parse_key` does."""
    if not body.strip():
        return USUAL_OVERLAP_HOURS
    got = read(body, {"overlap_hours": integer(0, MOST_OVERLAP_HOURS)})
    return int(got.get("overlap_hours", USUAL_OVERLAP_HOURS))


def key_object(key: Key, token: str | None = None) -> dict[str, Json]:
    """A key with every member; times are Unix seconds.

    Args:
        key: What is kept of it.
        token: The key itself, where it was just made.
    """
    made: dict[str, Json] = {
        "object": "key",
        "id": key.id,
        "organisation": key.org,
        "name": key.name,
        "hint": key.hint,
        "created": key.created_ms // 1000,
        "expires": _seconds(key.expires_ms),
        "revoked": _seconds(key.revoked_ms),
        "last_used": _seconds(key.last_used_ms),
        "policies": list(key.policies),
        "models": None if key.models is None else list(key.models),
        "scopes": [scope.value for scope in key.scopes],
        "limits": limits_object(key.limits),
        "successor": key.successor,
    }
    return made if token is None else {**made, "key": token}


def _members(got: dict[str, Any]) -> dict[str, Any]:
    if "expires" in got:
        expires = got.pop("expires")
        got["expires_ms"] = None if expires is None else expires * 1000
    return got


def _seconds(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else milliseconds // 1000
