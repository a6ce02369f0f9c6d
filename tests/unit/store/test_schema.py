"""Plain items hold every value exactly, and nothing that is not plain."""

from collections.abc import Mapping
from dataclasses import fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import given

from core.chat import NOTHING, SealedThinking, Usage
from core.decision import Policy
from core.errors import StoreUnavailable
from core.money import Charge, Cost
from core.ports import ToolTurn
from core.record import AttemptRow, Record
from core.store import schema, schema_setup
from core.tenant import Key, Limits, Organisation, OwnKey, Plan
from tests.contracts.values import (
    TOOL_TURN,
    final,
    key,
    keys,
    open_record,
    organisation,
    organisations,
    records,
    tool_turns,
)


@given(record=records)
def test_records_come_back(record: Record) -> None:
    assert schema.loads(schema.dumps(schema.record_item(record)), schema.record_value) == record


@given(one=keys)
def test_keys_come_back(one: Key) -> None:
    # When it was last used is kept beside the item.
    beside = {} if one.last_used_ms is None else {"last_used_ms": one.last_used_ms}
    assert schema.loads(schema.dumps(schema.key_item(one) | beside), schema.key_value) == one


@given(one=organisations)
def test_organisations_come_back(one: Organisation) -> None:
    item = schema.dumps(schema.organisation_item(one))
    assert schema.loads(item, schema.organisation_value) == one


@given(turn=tool_turns)
def test_tool_turns_come_back(turn: ToolTurn) -> None:
    item = schema.dumps(schema.tool_turn_item(turn))
    assert schema.loads(item, schema.tool_turn_value) == turn


SOME = Limits(parallel=1)
OWN_KEY = OwnKey("acme", "lab", "sealed", "last", 1)

# Kept beside the item, since it is added to, or written far more often.
BESIDE = {"credit_micros"}

FULL: list[tuple[object, dict[str, Any]]] = [
    (final(open_record(1)), schema.record_item(final(open_record(1)))),
    (key(1, models=("small",), limits=SOME), schema.key_item(key(1, models=("small",), limits=SOME))),
    (organisation("acme", limits=SOME), schema.organisation_item(organisation("acme", limits=SOME))),
    (Policy(), schema_setup.policy_item(Policy())),
    (Plan("big", "Big", limits=SOME), schema_setup.plan_item(Plan("big", "Big", limits=SOME))),
    (OWN_KEY, schema_setup.own_key_item(OWN_KEY)),
    (TOOL_TURN, schema.tool_turn_item(TOOL_TURN)),
]


@pytest.mark.parametrize(("value", "item"), FULL, ids=lambda value: type(value).__name__)
def test_no_member_is_forgotten(value: Any, item: dict[str, Any]) -> None:
    present = {field.name for field in fields(value) if getattr(value, field.name) is not None}
    assert present - BESIDE <= set(item)


@pytest.mark.parametrize("kind", [Usage, AttemptRow, Charge, SealedThinking])
def test_no_member_of_an_inner_value_is_forgotten(kind: type) -> None:
    settled = final(open_record(1))
    rich = replace(settled.attempts[0], upstream_status=429, upstream_code="x", likely_pico=Fraction(1))
    usage = Usage(reasoning_tokens=1, service_tier="flex")
    sealed = SealedThinking(signature="s", redacted="r", detail={})
    inner: dict[type, tuple[object, Mapping[str, Any]]] = {
        Usage: (usage, schema.record_item(replace(settled, usage=usage))["usage"]),
        AttemptRow: (rich, schema.record_item(replace(settled, attempts=(rich,)))["attempts"][0]),
        Charge: (settled.charge, schema.record_item(settled)["charge"]),
        SealedThinking: (
            sealed,
            schema.tool_turn_item(replace(TOOL_TURN, thinking=(sealed,)))["thinking"][0],
        ),
    }
    value, item = inner[kind]
    names = {field.name for field in fields(value)}  # type: ignore[arg-type]  # a dataclass
    assert names - {"cost"} == set(item) - {"input_pico", "output_pico", "request_pico"}


def test_exact_numbers_are_strings_and_money_is_never_a_float() -> None:
    row = AttemptRow("m", "h", "served", 1, cost=Cost(Fraction(5), Fraction(7, 3)))
    item = schema.record_item(replace(open_record(1), attempts=(row,)))
    assert (item["attempts"][0]["input_pico"], item["attempts"][0]["output_pico"]) == ("5", "7/3")
    markup = schema.organisation_item(organisation("acme", markup=Fraction(1, 20)))
    assert (markup["markup"], markup["discount"]) == ("1/20", "0")
    assert isinstance(schema.record_item(final(open_record(1)))["charge"]["total"], int)


def test_read_only_mappings_are_plain() -> None:
    record = open_record(1, decision=MappingProxyType({"inner": NOTHING}))
    found = schema.loads(schema.dumps(schema.record_item(record)), schema.record_value)
    assert found.decision == {"inner": {}}


@pytest.mark.parametrize("what", [object(), {1, 2}, 2**70])
def test_what_json_cannot_hold_is_refused(what: object) -> None:
    with pytest.raises(TypeError):
        schema.dumps(schema.record_item(open_record(1, decision={"what": what})))


ATTEMPT = {"model": "m", "host": "h", "outcome": "served", "ms": 1}
DAMAGES: list[dict[str, Any]] = [
    {"attempts": 5},
    {"attempts": [5]},
    {"attempts": [{}]},
    {"attempts": [ATTEMPT | {"input_pico": "a"}]},
    {"attempts": [ATTEMPT | {"input_pico": "1/0"}]},
    {"attempts": [ATTEMPT | {"input_pico": "1"}]},
    {"usage": None},
    {"charge": {"total": 1}},
]
DAMAGED = [
    *("", "{", "null", "[]", "3", '"x"', "{}", '{"org": "acme"}'),
    *(orjson.dumps(schema.record_item(final(open_record(1))) | damage).decode() for damage in DAMAGES),
]


@pytest.mark.parametrize("text", DAMAGED)
def test_what_is_damaged_is_said_to_be(text: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        schema.loads(text, schema.record_value)
    assert "cannot be read" in caught.value.detail
