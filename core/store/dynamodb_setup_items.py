"""Where what organisations set up lies in DynamoDB, and values to attributes and back; it never calls DynamoDB.

    config  ORG#<org>  ORG                     the organisation; its credits are an attribute of their own
            ORG#<org>  ORG#CATALOG             the TOML of its own catalog
            ORG#<org>  ORG#OWNKEY#<vendor>     its own key at a vendor
            ORG#<org>  ORG#POLICY#<name>       a policy of its own
            ORG#<org>  PAYMENT#<name>          that a payment was added to the credits
            PLANS      PLAN#<id>               a plan

A workspace is one query for the sort keys of the organisation's partition that begin with an O: its keys and payments,
of which there may be many, are not read with it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from core.store import schema, schema_setup
from core.store.dynamodb_items import Attributes, keys_of, organisation_address, packed, text, unpacked
from core.store.dynamodb_opinions import opinions_of
from core.tenant import Key, Organisation, OwnKey, Plan
from core.workspace import Workspace

if TYPE_CHECKING:
    from core.decision import Policy

Value = TypeVar("Value")

PLANS: Final = "PLANS"
"""The partition of the plans."""

_POLICY: Final = "ORG#POLICY#"
_OWN_KEY: Final = "ORG#OWNKEY#"
_CATALOG: Final = "ORG#CATALOG"


def workspace_query(table: str, org: str) -> dict[str, Any]:
    """The query for everything that an organisation has set up."""
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :partition AND sk BETWEEN :from AND :to",
        "ExpressionAttributeValues": {":partition": text(keys_of(org)), ":from": text("O"), ":to": text("P")},
        "ConsistentRead": True,
    }


def workspace_of(organisation: Organisation, items: Iterable[Attributes], plan: Plan | None) -> Workspace:
    """The workspace in what the query found."""
    by_name = {item["sk"]["S"]: item for item in items}
    catalog = by_name.get(_CATALOG)
    return schema_setup.workspace(
        organisation,
        plan=plan,
        policies=_values(by_name, _POLICY, schema_setup.policy_value),
        own_keys=_values(by_name, _OWN_KEY, schema_setup.own_key_value),
        opinions=opinions_of(by_name.values()),
        catalog=None if catalog is None else _value(catalog, lambda item: str(item["toml"])),
    )


def key_of(attributes: Attributes) -> Key:
    """The key in an item.

    Raises:
        StoreUnavailable: It is damaged.
    """
    # The attribute is the truth about the last use: noting one leaves the packed item alone.
    used = {"last_used_ms": int(attributes["last_used_ms"]["N"])} if "last_used_ms" in attributes else {}
    return _value(attributes, lambda item: schema.key_value(item | used))


def organisation_of(attributes: Attributes) -> Organisation:
    """The organisation in an item.

    Raises:
        StoreUnavailable: It is damaged.
    """
    # The attribute is the truth about the credits: a payment leaves the packed item alone.
    paid = {"credit_micros": int(attributes["credit_micros"]["N"])} if "credit_micros" in attributes else {}
    return _value(attributes, lambda item: schema.organisation_value(item | paid))


def plan_of(attributes: Attributes) -> Plan:
    """The plan in an item.

    Raises:
        StoreUnavailable: It is damaged.
    """
    return _value(attributes, schema_setup.plan_value)


def policy_attributes(org: str, policy: "Policy") -> Attributes:
    """A policy's item."""
    return policy_address(org, policy.name) | {"item": packed(schema_setup.policy_item(policy))}


def own_key_attributes(own_key: OwnKey) -> Attributes:
    """An own key's item."""
    return own_key_address(own_key.org, own_key.vendor) | {"item": packed(schema_setup.own_key_item(own_key))}


def catalog_attributes(org: str, toml: str) -> Attributes:
    """The item of an organisation's own catalog."""
    return catalog_address(org) | {"item": packed({"toml": toml})}


def plan_attributes(plan: Plan) -> Attributes:
    """A plan's item."""
    return plan_address(plan.id) | {"item": packed(schema_setup.plan_item(plan))}


def policy_address(org: str, name: str) -> Attributes:
    """Where a policy lies."""
    return {"pk": text(keys_of(org)), "sk": text(f"{_POLICY}{name}")}


def own_key_address(org: str, vendor: str) -> Attributes:
    """Where an own key lies."""
    return {"pk": text(keys_of(org)), "sk": text(f"{_OWN_KEY}{vendor}")}


def catalog_address(org: str) -> Attributes:
    """Where an organisation's own catalog lies."""
    return {"pk": text(keys_of(org)), "sk": text(_CATALOG)}


def payment_address(org: str, payment: str) -> Attributes:
    """Where it is noted that a payment was added."""
    return {"pk": text(keys_of(org)), "sk": text(f"PAYMENT#{payment}")}


def plan_address(plan_id: str) -> Attributes:
    """Where a plan lies."""
    return {"pk": text(PLANS), "sk": text(f"PLAN#{plan_id}")}


def is_organisation(attributes: Attributes) -> bool:
    """Whether an item of an organisation's partition is the organisation itself."""
    return attributes["sk"] == organisation_address("")["sk"]


def _values(items: Mapping[str, Attributes], prefix: str, read: Callable[[schema.Item], Value]) -> list[Value]:
    return [_value(item, read) for name, item in items.items() if name.startswith(prefix)]


def _value(attributes: Attributes, read: Callable[[schema.Item], Value]) -> Value:
    return schema.loads(unpacked(attributes["item"]), read)
