"""Organisations, what they pay in, and their own keys at vendors, as operators write and read them."""

import re
from typing import Any, Final

from core.chat import Json
from core.surfaces.admin.changes import identifier, read, share, share_text
from core.surfaces.admin.limits import limits, limits_object, without_bounds
from core.surfaces.admin.plans import LONGEST_TITLE
from core.surfaces.openai_chat.checks import At, string, up_to, wrong, wrong_type
from core.tenant import Organisation, OwnKey

MOST_MARKUP: Final = 100
"""The largest markup: a hundred times the hosts' price, on top of it."""

LONGEST_SECRET: Final = 8_192
"""How long a vendor's key may be, in characters."""

MOST_PAID: Final = 10**15
"""The most that one payment may be, in micro-dollars: a thousand million dollars."""

_SECRET: Final = re.compile(rf"[!-~]{{1,{LONGEST_SECRET}}}")

_CHANGES: Final = {
    "name": up_to(LONGEST_TITLE),
    "plan": identifier,
    "markup": share(MOST_MARKUP),
    "discount": share(1),
    "limits": limits,
}


def _micros(value: Json, at: At) -> int:
    if type(value) is not int:
        raise wrong_type(at, "an integer", value)
    if value == 0 or abs(value) > MOST_PAID:
        raise wrong(at, f"must be micro-dollars, at most {MOST_PAID}, and not 0; a negative number takes back.")
    return value


def parse_organisation(body: bytes) -> dict[str, Any]:
    """The members of a new organisation, by their names in `Organisation`.

    Raises:
        InvalidRequest: It is no JSON object, or a member is missing or wrong; the dotted path is named.
        Unprocessable: It has an unknown member.
    """
    return read(body, {"id": identifier, **_CHANGES}, ("id",))


def parse_changes(body: bytes) -> dict[str, Any]:
    """The members of an organisation that change; null takes `limits` away. Fails as `parse_organisation` does."""
    return without_bounds(read(body, _CHANGES, clears=("limits",)))


def parse_payment(body: bytes) -> tuple[str, int]:
    """The name of a payment and its micro-dollars; fails as `parse_organisation` does."""
    got = read(body, {"id": identifier, "micros": _micros}, ("id", "micros"))
    return got["id"], got["micros"]


def parse_own_key(body: bytes) -> str:
    """An organisation's own key at a vendor; fails as `parse_organisation` does, and never repeats the key."""
    got = read(body, {"key": _secret}, ("key",))
    return str(got["key"])


def organisation_object(organisation: Organisation) -> dict[str, Json]:
    """An organisation with every member; exact shares are strings."""
    return {
        "object": "organisation",
        "id": organisation.id,
        "name": organisation.name,
        "created": organisation.created_ms // 1000,
        "plan": organisation.plan,
        "markup": share_text(organisation.markup),
        "discount": share_text(organisation.discount),
        "limits": limits_object(organisation.limits),
        "credit_micros": organisation.credit_micros,
    }


def own_key_object(own_key: OwnKey) -> dict[str, Json]:
    """What may be shown of an own key."""
    return {
        "object": "own_key",
        "vendor": own_key.vendor,
        "hint": own_key.hint,
        "created": own_key.created_ms // 1000,
    }


def is_secret(value: str) -> bool:
    """Whether something could be a vendor's key: what a header can carry, so that calls do not fail for it."""
    return _SECRET.fullmatch(value) is not None


def _secret(value: Json, at: At) -> str:
    found = string(value, at)
    if not is_secret(found):
        raise wrong(at, f"must be 1 to {LONGEST_SECRET} printable ASCII characters without spaces.")
    return found
