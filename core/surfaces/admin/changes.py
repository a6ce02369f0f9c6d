"""Reads bodies in which a member that is null takes something away, as one that is left out does not."""

import re
from collections.abc import Collection
from fractions import Fraction
from typing import Any, Final

from core.chat import Json
from core.surfaces.openai_chat.body import read_object
from core.surfaces.openai_chat.checks import At, Check, Scan, Table, record, string, wrong, wrong_type

LONGEST_NAME: Final = 64
"""How long the ids and names that operators give may be, in characters."""

_NUMBER: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12}|/0{0,11}[1-9][0-9]{0,11})?")
_NAME_SIGNS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


def read(body: bytes, table: Table, required: tuple[str, ...] = (), *, clears: Collection[str] = ()) -> dict[str, Any]:
    """The members of a body.

    Args:
        body: As it came.
        table: The members that there are.
        required: Those that must be there.
        clears: Those of which a null is told as None; of others it is the same as leaving them out.

    Raises:
        InvalidRequest: It is no JSON object, or a member is missing or wrong; the dotted path is named.
        Unprocessable: It has an unknown member.
    """
    members = ", ".join(f"'{name}'" for name in (required or table))
    value = read_object(body, members)
    cleared = {name: None for name in clears if name in value and value[name] is None}
    got: dict[str, Any] = record(table, required, refuse=True)(value, Scan(strict=True))
    return {**cleared, **got}


def identifier(value: Json, at: At) -> str:
    """An id or a name that stands in addresses: letters, digits, dots, hyphens, underscores; not a dot first."""
    if not is_identifier(string(value, at)):
        raise wrong(at, f"must be 1 to {LONGEST_NAME} letters, digits, dots, hyphens or underscores, no dot first.")
    return str(value)


def is_identifier(value: str) -> bool:
    """Whether something could be the id of an organisation or a plan, or the name of a policy."""
    return 0 < len(value) <= LONGEST_NAME and _NAME_SIGNS.issuperset(value) and not value.startswith(".")


def share(highest: int) -> Check:
    """A share as an exact number: 0.05, "0.05" and "1/20" are the same.

    Args:
        highest: The most that it may be.
    """

    def check(value: Json, at: At) -> Fraction:
        if type(value) is str:
            found = Fraction(value) if _NUMBER.fullmatch(value) else None
        elif type(value) is int or type(value) is float:
            # Through its shortest text: 0.05 means a twentieth, not the binary number next to it.
            found = Fraction(str(value))
        else:
            raise wrong_type(at, "a number, or one as a string", value)
        if found is None or not 0 <= found <= highest:
            raise wrong(at, f"must be a number from 0 to {highest}, such as 0.05 or '1/20'.")
        return found

    return check


def share_text(value: Fraction) -> str:
    """A share as text that `share` reads back: as a decimal number where it has one."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(value)
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str(int(value * 10**digits)).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole


def distinct(check: Check) -> Check:
    """An array of different values, at least one; it becomes a tuple."""

    def check_all(value: Json, at: At) -> tuple[Json, ...]:
        if type(value) is not list:
            raise wrong_type(at, "an array", value)
        found = tuple(check(each, (at, index)) for index, each in enumerate(value))
        if not found:
            raise wrong(at, "must not be empty. Leave it out for no bound.")
        for index, each in enumerate(found):
            if each in found[:index]:
                raise wrong((at, index), "stands there twice.")
        return found

    return check_all
