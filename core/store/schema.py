"""Values to plain items (what JSON can hold) and back; it never reads or writes a store.

Items grow by optional members only: one that is missing means the value's default, one that is not known is passed
over, and a member never changes its meaning, it gets a new name. So records of older versions stay readable, and those
of a newer one are readable while both are deployed. Exact numbers are strings ("123", "7/3"); no money is ever a float.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

import orjson

from core.chat import Json, SealedThinking, Usage
from core.errors import StoreUnavailable
from core.money import Charge, Cost
from core.ports import ToolTurn
from core.record import AttemptRow, Record
from core.reservation import Reservation
from core.tenant import Key, Limits, Organisation, Scope

Item: TypeAlias = dict[str, Json]
"""A value in plain form."""

Value = TypeVar("Value")

ITEM_VERSION = 1
"""Written into the items of values that carry no version themselves."""

_RECORD = (
    *("org", "request_id", "key_id", "created_ms", "lease_until_ms", "requested_model", "surface", "stream"),
    *("model", "outcome", "settled_ms", "latency_ms", "ttft_ms", "finish_reason", "error_code", "version"),
    "upstream_finish_reason",
)
_ATTEMPT = ("model", "host", "outcome", "ms", "charged", "upstream_status", "upstream_code", "own_key")
_USAGE = (
    *("input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens"),
    *("input_audio_tokens", "input_image_tokens", "output_tokens", "reasoning_tokens", "output_audio_tokens"),
    *("service_tier", "estimated", "extra"),
)
_CHARGE = ("total", "input", "output", "guardrail", "request")
_COST = {"input_pico": "input", "output_pico": "output", "request_pico": "request"}
_KEY = (*("digest", "id", "org", "name", "hint", "created_ms", "expires_ms", "revoked_ms", "counted_as", "successor"),)
_ORGANISATION = ("id", "name", "created_ms", "plan")
_LIMITS = tuple(Limits.__dataclass_fields__)
_SCOPES = {scope.value: scope for scope in Scope}
_TOOL_TURN = ("model", "host", "reasoning", "signatures", "upstream_ids", "sealed", "lost")
_THINKING = ("text", "signature", "redacted", "detail", "calls_before")


def dumps(item: Item) -> bytes:
    """An item as JSON.

    Raises:
        TypeError: It holds what JSON cannot, or an integer of more than 64 bits.
    """
    return orjson.dumps(item, default=_mapping)


def loads(data: bytes | str, read: Callable[[Item], Value]) -> Value:
    """The value in an item that was written as JSON.

    Raises:
        StoreUnavailable: It was damaged, or written by something else.
    """
    try:
        return read(orjson.loads(data))
    except (ValueError, TypeError, LookupError, AttributeError, ZeroDivisionError) as error:
        raise unreadable(error) from error


def unreadable(error: Exception) -> StoreUnavailable:
    """What is raised for a damaged entry."""
    words = f"{type(error).__name__}: {error}"
    return StoreUnavailable(detail=f"An entry in the store cannot be read: {words}")


def record_item(record: Record) -> Item:
    """A record in plain form."""
    item = scalars(record, _RECORD)
    item["decision"] = record.decision
    item["attempts"] = [_attempt_item(row) for row in record.attempts]
    if record.usage is not None:
        item["usage"] = scalars(record.usage, _USAGE)
    if record.charge is not None:
        item["charge"] = scalars(record.charge, _CHARGE)
    if record.reservation is not None:
        amounts = {subject: dict(held) for subject, held in record.reservation.amounts.items()}
        item["reservation"] = {"expires_ms": record.reservation.expires_ms, "amounts": amounts}
    return item


def record_value(item: Item) -> Record:
    """The record in an item."""
    return Record(
        **known(item, _RECORD),
        decision=item.get("decision", {}),
        attempts=tuple(_attempt_value(row) for row in item.get("attempts", ())),
        usage=_usage_value(item),
        charge=Charge(**known(item["charge"], _CHARGE)) if "charge" in item else None,
        reservation=_reservation_value(item),
    )


def key_item(key: Key) -> Item:
    """A key in plain form, but for when it was last used: that is written far more often, so it is kept beside it."""
    item = scalars(key, _KEY) | {"version": ITEM_VERSION, "policies": list(key.policies)}
    item["scopes"] = [scope.value for scope in key.scopes]
    if key.models is not None:
        item["models"] = list(key.models)
    return item | limits_item(key.limits)


def key_value(item: Item) -> Key:
    """The key in an item."""
    members = known(item, (*_KEY, "last_used_ms")) | limits_member(item)
    for name, names in known(item, ("policies", "models")).items():
        members[name] = tuple(names)
    if "scopes" in item:
        members["scopes"] = tuple(_SCOPES[name] for name in item["scopes"] if name in _SCOPES)
    return Key(**members)


def organisation_item(organisation: Organisation) -> Item:
    """An organisation in plain form, but for its credits: those are added to, so they are kept beside it."""
    shares = {"markup": str(organisation.markup), "discount": str(organisation.discount)}
    item = scalars(organisation, _ORGANISATION) | {"version": ITEM_VERSION} | shares
    return item | limits_item(organisation.limits)


def organisation_value(item: Item) -> Organisation:
    """The organisation in an item."""
    members = known(item, (*_ORGANISATION, "credit_micros")) | limits_member(item)
    return Organisation(**members, **exact(item, ("markup", "discount")))


def tool_turn_item(turn: ToolTurn) -> Item:
    """A tool turn in plain form."""
    item = scalars(turn, _TOOL_TURN) | {"version": ITEM_VERSION}
    item["thinking"] = [scalars(block, _THINKING) for block in turn.thinking]
    item["sealed_for"] = list(turn.sealed_for)
    return item


def tool_turn_value(item: Item) -> ToolTurn:
    """The tool turn in an item."""
    thinking = tuple(SealedThinking(**known(block, _THINKING)) for block in item.get("thinking", ()))
    sealed_for = tuple(item.get("sealed_for", ()))
    return ToolTurn(**known(item, _TOOL_TURN), thinking=thinking, sealed_for=sealed_for)


def limits_item(limits: Limits) -> Item:
    """Limits in plain form, as a member that is left out where there are none."""
    bounds = scalars(limits, _LIMITS)
    return {"limits": bounds} if bounds else {}


def limits_member(item: Mapping[str, Json]) -> dict[str, Any]:
    """The limits in an item, as an argument; none where it has none."""
    return {"limits": Limits(**known(item["limits"], _LIMITS))} if "limits" in item else {}


def _attempt_item(row: AttemptRow) -> Item:
    item = scalars(row, _ATTEMPT)
    if row.usage is not None:
        item["usage"] = scalars(row.usage, _USAGE)
    if row.cost is not None:
        item |= {name: str(getattr(row.cost, part)) for name, part in _COST.items()}
    if row.likely_pico is not None:
        item["likely_pico"] = str(row.likely_pico)
    return item


def _attempt_value(item: Item) -> AttemptRow:
    picos = exact(item, tuple(_COST))
    cost = Cost(**{_COST[name]: pico for name, pico in picos.items()}) if picos else None
    return AttemptRow(**known(item, _ATTEMPT), usage=_usage_value(item), cost=cost, **exact(item, ("likely_pico",)))


def _reservation_value(item: Item) -> Reservation | None:
    found = item.get("reservation")
    if found is None:
        return None
    return Reservation(item["org"], item["request_id"], found["expires_ms"], found["amounts"])


def _usage_value(item: Item) -> Usage | None:
    return Usage(**known(item["usage"], _USAGE)) if "usage" in item else None


def scalars(value: object, names: tuple[str, ...]) -> Item:
    """Those members of a value that are not None, which must be the default of all of them."""
    members = _members(names)(value)
    return {name: member for name, member in zip(names, members, strict=True) if member is not None}


@cache
def _members(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    return attrgetter(*names)


def known(item: Mapping[str, Json], names: tuple[str, ...]) -> dict[str, Any]:
    """Those members that an item has."""
    return {name: item[name] for name in names if name in item}


def exact(item: Mapping[str, Json], names: tuple[str, ...]) -> dict[str, Any]:
    """The same for exact numbers."""
    return {name: Fraction(number) for name, number in known(item, names).items()}


def _mapping(value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no plain form")
