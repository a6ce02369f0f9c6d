"""Values to plain items (what JSON can hold) and back; it never reads or writes a store.

Items grow by optional members only: one that is missing means the value's default, one that is not known is passed
over, and a member never changes its meaning, it gets a new name. So records of older versions stay readable, and those
of a newer one are readable while both are deployed. Exact numbers are strings ("123", "7/3"); no money is ever a float.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import orjson

from core.chat import Json, SealedThinking, Usage
from core.errors import StoreUnavailable
from core.money import Charge
from core.ports import ToolTurn
from core.record import AttemptRow, Record
from core.tenant import Key, Organisation

Item: TypeAlias = dict[str, Json]
"""A value in plain form."""

Value = TypeVar("Value")

ITEM_VERSION = 1
"""Written into the items of values that carry no version themselves."""

_RECORD = (
    *("org", "request_id", "key_id", "created_ms", "lease_until_ms", "requested_model", "surface", "stream"),
    *("model", "outcome", "settled_ms", "latency_ms", "ttft_ms", "finish_reason", "error_code", "version"),
)
_ATTEMPT = ("model", "host", "outcome", "ms", "charged", "upstream_status", "upstream_code")
_USAGE = (
    *("input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens"),
    *("input_audio_tokens", "input_image_tokens", "output_tokens", "reasoning_tokens", "output_audio_tokens"),
    *("service_tier", "estimated", "extra"),
)
_CHARGE = ("total", "input", "output", "guardrail")
_KEY = ("digest", "id", "org", "name", "hint", "created_ms", "expires_ms", "revoked_ms")
_ORGANISATION = ("id", "name", "created_ms")
_TOOL_TURN = ("model", "host", "reasoning", "signatures", "upstream_ids")
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
    item = _scalars(record, _RECORD)
    item["decision"] = record.decision
    item["attempts"] = [_attempt_item(row) for row in record.attempts]
    if record.usage is not None:
        item["usage"] = _scalars(record.usage, _USAGE)
    if record.charge is not None:
        item["charge"] = _scalars(record.charge, _CHARGE)
    return item


def record_value(item: Item) -> Record:
    """The record in an item."""
    return Record(
        **_known(item, _RECORD),
        decision=item.get("decision", {}),
        attempts=tuple(_attempt_value(row) for row in item.get("attempts", ())),
        usage=_usage_value(item),
        charge=Charge(**_known(item["charge"], _CHARGE)) if "charge" in item else None,
    )


def key_item(key: Key) -> Item:
    """A key in plain form."""
    item = _scalars(key, _KEY) | {"version": ITEM_VERSION, "policies": list(key.policies)}
    if key.models is not None:
        item["models"] = list(key.models)
    return item


def key_value(item: Item) -> Key:
    """The key in an item."""
    members = _known(item, _KEY)
    for name, names in _known(item, ("policies", "models")).items():
        members[name] = tuple(names)
    return Key(**members)


def organisation_item(organisation: Organisation) -> Item:
    """An organisation in plain form."""
    exact = {"markup": str(organisation.markup), "discount": str(organisation.discount)}
    return _scalars(organisation, _ORGANISATION) | {"version": ITEM_VERSION} | exact


def organisation_value(item: Item) -> Organisation:
    """The organisation in an item."""
    return Organisation(**_known(item, _ORGANISATION), **_exact(item, ("markup", "discount")))


def tool_turn_item(turn: ToolTurn) -> Item:
    """A tool turn in plain form."""
    thinking = [_scalars(block, _THINKING) for block in turn.thinking]
    return _scalars(turn, _TOOL_TURN) | {"version": ITEM_VERSION, "thinking": thinking}


def tool_turn_value(item: Item) -> ToolTurn:
    """The tool turn in an item."""
    thinking = tuple(SealedThinking(**_known(block, _THINKING)) for block in item.get("thinking", ()))
    return ToolTurn(**_known(item, _TOOL_TURN), thinking=thinking)


def _attempt_item(row: AttemptRow) -> Item:
    item = _scalars(row, _ATTEMPT)
    if row.usage is not None:
        item["usage"] = _scalars(row.usage, _USAGE)
    if row.input_pico is not None:
        item["input_pico"] = str(row.input_pico)
    if row.output_pico is not None:
        item["output_pico"] = str(row.output_pico)
    return item


def _attempt_value(item: Item) -> AttemptRow:
    exact = _exact(item, ("input_pico", "output_pico"))
    return AttemptRow(**_known(item, _ATTEMPT), usage=_usage_value(item), **exact)


def _usage_value(item: Item) -> Usage | None:
    return Usage(**_known(item["usage"], _USAGE)) if "usage" in item else None


def _scalars(value: object, names: tuple[str, ...]) -> Item:
    # None is every such member's default, so leaving it out loses nothing.
    found = ((name, getattr(value, name)) for name in names)
    return {name: member for name, member in found if member is not None}


def _known(item: Mapping[str, Json], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item}


def _exact(item: Mapping[str, Json], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: Fraction(number) for name, number in _known(item, names).items()}


def _mapping(value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no plain form")
