"""Checks of single JSON values: each returns the value, or names the field that is wrong. They know no field by name.

A place is a chain from the value up to the body, so that a path is only written out when something is wrong with it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

from core.chat import Json
from core.errors import InvalidRequest, Unprocessable

LONGEST_SHOWN: Final = 60

LARGEST: Final = 2**63 - 1
"""The largest of the whole numbers that every JSON reader keeps exactly."""

NO_HINTS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(slots=True)
class Scan:
    """One request under examination, the root of every place. `unknown` collects fields that nobody documents."""

    strict: bool
    unknown: list[str] = field(default_factory=list)


At: TypeAlias = "Scan | tuple[At, str | int]"
"""Where a value stands: the place around it, and its name or index there."""

Check: TypeAlias = Callable[[Json, At], Json]
"""Takes a value that is not null and returns what it means, or raises InvalidRequest."""

Table: TypeAlias = Mapping[str, Check]
"""The members of an object that are known."""


def dotted(at: At, longest: int | None = LONGEST_SHOWN) -> str:
    """The path of a place: `messages[2].content[0].image_url.url`; names longer than `longest` are cut."""
    steps: list[str] = []
    while isinstance(at, tuple):
        at, step = at
        steps.append(f"[{step}]" if isinstance(step, int) else f".{_cut(step, longest)}")
    return "".join(reversed(steps)).removeprefix(".")


def wrong(at: At, message: str, code: str = "invalid_value") -> InvalidRequest:
    """The error for a value; `message` goes on after the field's name: `must be ...`."""
    path = dotted(at)
    return InvalidRequest(f"'{path}' {message}", param=path, code=code)


def missing(at: At) -> InvalidRequest:
    """The error for a required field that is absent or null."""
    return wrong(at, "is required.", "missing_required_parameter")


def wrong_type(at: At, expected: str, value: Json) -> InvalidRequest:
    """The error for a value of another JSON type."""
    return wrong(at, f"must be {expected}, not {_kind(value)}.")


def note_unknown(around: At, name: str, known: Collection[str], *, refuse: bool = False) -> None:
    """Deal with a field that nobody documents: refuse it, or remember its path where the surface lets it pass.

    Args:
        around: The object that it is a member of.
        name: Its name.
        known: What is known there, for a hint.
        refuse: Refuse it on every surface.
    """
    scan = around
    while isinstance(scan, tuple):
        scan = scan[0]
    if not (refuse or scan.strict):
        scan.unknown.append(dotted((around, name), longest=None))
        return
    path = dotted((around, name))
    import difflib  # twenty milliseconds that only a mistyped name is worth

    near = difflib.get_close_matches(_cut(name), known, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise Unprocessable(f"'{path}' is not a field of this API.{hint}", param=path, code="unknown_field")


def string(value: Json, at: At) -> str:
    """A string."""
    if type(value) is str:
        return value
    raise wrong_type(at, "a string", value)


def named(value: Json, at: At) -> str:
    """A string with something in it."""
    if string(value, at) != "":
        return str(value)
    raise wrong(at, "must not be empty.")


def boolean(value: Json, at: At) -> bool:
    """True or false."""
    if type(value) is bool:
        return value
    raise wrong_type(at, "true or false", value)


def anything(value: Json, at: At) -> Json:
    """Whatever JSON; nothing inside is looked at."""
    return value


def free_object(value: Json, at: At) -> dict[str, Json]:
    """An object with any members."""
    if type(value) is dict:
        return value
    raise wrong_type(at, "an object", value)


def up_to(longest: int) -> Check:
    """A string of limited length, in characters."""

    def check(value: Json, at: At) -> str:
        if len(string(value, at)) <= longest:
            return str(value)
        raise wrong(at, f"must have at most {longest} characters; it has {len(value)}.")

    return check


def integer(low: int, high: int | None = None) -> Check:
    """A whole number within bounds; true and false are none."""

    def check(value: Json, at: At) -> int:
        if type(value) is not int:
            raise wrong_type(at, "an integer", value)
        if value < low or (high is not None and value > high):
            # What only keeps a number readable is no bound to be told to somebody who is far from it.
            told = None if high == LARGEST and value < low else high
            raise wrong(at, f"must be {_range(low, told)}, not {value}.")
        return value

    return check


def number(low: float, high: float) -> Check:
    """A number within bounds; a whole one will do."""

    def check(value: Json, at: At) -> float:
        if type(value) is not float and type(value) is not int:
            raise wrong_type(at, "a number", value)
        if low <= value <= high:
            return value
        raise wrong(at, f"must be {_range(low, high)}, not {value}.")

    return check


def one_of(*values: str) -> Check:
    """One of some words."""
    allowed = frozenset(values)
    listed = ", ".join(f"'{value}'" for value in values)

    def check(value: Json, at: At) -> str:
        if string(value, at) in allowed:
            return str(value)
        raise wrong(at, f"must be one of {listed}, not '{_cut(value)}'.")

    return check


def array(check: Check, most: int | None = None) -> Check:
    """An array, each of whose values passes a check; it becomes a tuple. A null in it is a value of the wrong type."""

    def check_all(value: Json, at: At) -> tuple[Json, ...]:
        if type(value) is not list:
            raise wrong_type(at, "an array", value)
        if most is not None and len(value) > most:
            raise wrong(at, f"must have at most {most} entries; it has {len(value)}.")
        return tuple([check(each, (at, index)) for index, each in enumerate(value)])

    return check_all


def record(table: Table, required: tuple[str, ...] = (), *, refuse: bool = False) -> Check:
    """An object with known members; it becomes a dict of those that are there and not null.

    A known member that is null is taken out of the object itself, which is sent on: it is the same as leaving it out.

    Args:
        table: Its members.
        required: Those that must be there.
        refuse: Refuse unknown members on every surface.
    """

    def check(value: Json, at: At) -> dict[str, Json]:
        if type(value) is not dict:
            raise wrong_type(at, "an object", value)
        got: dict[str, Json] = {}
        nulls: list[str] = []
        for name, member in value.items():
            check_member = table.get(name)
            if check_member is None:
                note_unknown(at, name, table, refuse=refuse)
            elif member is None:
                nulls.append(name)
            else:
                got[name] = check_member(member, (at, name))
        for name in nulls:
            del value[name]
        for name in required:
            if name not in got:
                raise missing((at, name))
        return got

    return check


def variant(kinds: Mapping[str, Check], hints: Mapping[str, str] = NO_HINTS) -> Check:
    """An object whose `type` says which of several it is.

    Args:
        kinds: What to check, by type.
        hints: For types that are none but are sent at times: a sentence that says what to send.
    """
    listed = ", ".join(f"'{kind}'" for kind in kinds)

    def check(value: Json, at: At) -> Json:
        kind = free_object(value, at).get("type")
        if kind is None:
            raise missing((at, "type"))
        chosen = kinds.get(string(kind, (at, "type")))
        if chosen is None:
            hint = f" {hints[kind]}" if kind in hints else ""
            raise wrong((at, "type"), f"must be one of {listed}, not '{_cut(kind)}'.{hint}")
        return chosen(value, at)

    return check


def _range(low: float, high: float | None) -> str:
    return f"at least {low}" if high is None else f"from {low} to {high}"


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "a string"
        case int() | float():
            return f"the number {_cut(str(value))}"
        case list():
            return "an array"
        case _:
            return "an object"


def _cut(text: str, longest: int | None = LONGEST_SHOWN) -> str:
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."
