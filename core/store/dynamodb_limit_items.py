"""Where subjects of limits lie in the ledger's table, and changes of them as DynamoDB's updates; it calls nothing.

    LIMIT#<org>#<subject>  ORG#<org>   a subject: an attribute for each counter, and one for each request under way

A request's attribute is all that it holds, as one text, so that a condition on it is a condition on everything. It has
to be short: a write costs as much as the whole item is long.
"""

from collections.abc import Mapping
from typing import Any, Final

from core.reservation import Change, Counters, Held, Standing
from core.store.dynamodb_items import Attributes, number, owned_by, text

_HELD: Final = "held:"


def limit_address(org: str, subject: str) -> Attributes:
    """Where a subject lies."""
    return {"pk": text(f"LIMIT#{org}#{subject}"), "sk": text(f"ORG#{org}")}


def standing_of(item: Attributes) -> Standing:
    """Where the subject of an item stands."""
    counters: dict[str, int] = {}
    held: dict[str, Held] = {}
    for name, value in item.items():
        if "N" in value:
            counters[name] = int(value["N"])
        elif name.startswith(_HELD):
            held[name.removeprefix(_HELD)] = _held_of(value["S"])
    return Standing(counters, held)


def update(
    table: str, org: str, subject: str, request_id: str, before: Held | None, change: Change, bounds: Counters
) -> dict[str, Any]:
    """The arguments of the update that makes a change, on condition that nothing else was held and that it fits.

    Args:
        table: The ledger's table.
        org: Whose subject it is.
        subject: Which one.
        request_id: The request that changes what it holds.
        before: What it holds now, or None.
        change: What is to be written.
        bounds: The most that each counter may come to.
    """
    address = limit_address(org, subject)
    writing = _Expressions(f"{_HELD}{request_id}")
    writing.expect(before)
    for name, amount in change.added.items():
        writing.add(name, amount, bounds.get(name) if amount > 0 else None)
    writing.drop(change.dropped)
    if change.held is None:
        writing.drop([writing.held])
    else:
        writing.set(writing.held, _held_text(change.held))
        # Setting what is there already costs nothing in the index.
        for name, value in owned_by(org, address["pk"]["S"]).items():
            writing.set(name, value["S"])
    return {"TableName": table, "Key": address, **writing.arguments()}


class _Expressions:
    """Puts an update together, with a placeholder for every name and value."""

    def __init__(self, held: str) -> None:
        self.held = held
        self._names: dict[str, str] = {}
        self._values: Attributes = {}
        self._parts: dict[str, list[str]] = {}
        self._conditions: list[str] = []

    def expect(self, before: Held | None) -> None:
        name = self._name(self.held)
        if before is None:
            self._conditions.append(f"attribute_not_exists({name})")
        else:
            self._conditions.append(f"{name} = {self._value(text(_held_text(before)))}")

    def add(self, counter: str, amount: int, bound: int | None) -> None:
        name = self._name(counter)
        self._parts.setdefault("ADD", []).append(f"{name} {self._value(number(amount))}")
        if bound is not None:
            within = f"{name} <= {self._value(number(bound - amount))}"
            # A counter that is not there is at nothing, and then the amount alone must fit.
            self._conditions.append(f"(attribute_not_exists({name}) OR {within})" if amount <= bound else within)

    def set(self, attribute: str, value: str) -> None:
        self._parts.setdefault("SET", []).append(f"{self._name(attribute)} = {self._value(text(value))}")

    def drop(self, attributes: Any) -> None:
        for attribute in attributes:
            self._parts.setdefault("REMOVE", []).append(self._name(attribute))

    def arguments(self) -> Mapping[str, Any]:
        return {
            "UpdateExpression": " ".join(f"{verb} {', '.join(parts)}" for verb, parts in self._parts.items()),
            "ConditionExpression": " AND ".join(self._conditions),
            "ExpressionAttributeNames": {place: name for name, place in self._names.items()},
            "ExpressionAttributeValues": self._values,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def _name(self, attribute: str) -> str:
        return self._names.setdefault(attribute, f"#n{len(self._names)}")

    def _value(self, value: Any) -> str:
        place = f":v{len(self._values)}"
        self._values[place] = value
        return place


def _held_text(held: Held) -> str:
    amounts = (f"{name}={amount}" for name, amount in sorted(held.amounts.items()))
    return " ".join([str(held.expires_ms), *amounts])


def _held_of(written: str) -> Held:
    expires_ms, *amounts = written.split(" ")
    pairs = (amount.rpartition("=") for amount in amounts)
    return Held({name: int(value) for name, _, value in pairs}, int(expires_ms))
