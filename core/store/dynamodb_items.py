"""Where things lie in the two DynamoDB tables, and values to DynamoDB attributes and back; it never calls DynamoDB.

Both tables have the string keys `pk` and `sk` and the expiry attribute `expires_at` (seconds; deletion may lag by days,
so what must not be seen late is filtered when it is read).

    table   pk                 sk            holds
    config  KEY#<digest>       KEY           a key
            ORG#<org>          ORG           an organisation
            ORG#<org>          KEY#<digest>  that the organisation has this key
            ORGS               ORG#<org>     that there is this organisation
    ledger  REQ#<request id>   ORG#<org>     a record
            TOOL#<org>#<call>  ORG#<org>     a tool turn

Another organisation's id misses because the organisation is half of the primary key, not because somebody compares it.

The ledger has two indexes, small enough that each costs one unit of writing:

    by_org    org_shard, request_id       every record; request ids are time-ordered, so the newest are last.
                                          In partitions of its own (`owned_by`) what else an organisation has,
                                          so that deleting one finds it
    by_lease  open_shard, lease_until_ms  open records, and settled ones that are not yet counted in the totals:
                                          counting removes `open_shard`, and the entry with it. Beside the keys it
                                          has `created_ms` and `settled_ms`. Settling leaves the entry where it is,
                                          so that at no moment a record is in neither the index nor the totals

Neither has a hot partition: a record's shard follows from its request id, and each shard takes a thousand writes a
second (`ORG_SHARDS` of them for one organisation, `OPEN_SHARDS` for all together). Pointer items in place of `by_org`
would cost a transaction, twice the write units, with every record; reading a few shards costs little and is rare. The
numbers of shards may be raised, never lowered while records made with more are kept.
"""

import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from core.ports import ToolTurn
from core.record import LOST, Record
from core.store import schema
from core.tenant import Key, Organisation

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef as Attribute

Attributes: TypeAlias = "dict[str, Attribute]"
"""A DynamoDB item, or its key."""

ALL_ORGANISATIONS = "ORGS"
"""The partition that points to every organisation."""

BY_ORG = "by_org"
BY_LEASE = "by_lease"
ORG_SHARDS = 4
OPEN_SHARDS = 8
DAY_S = 86_400

_COMPRESS_FROM = 1_024  # DynamoDB charges writes by the kibibyte
_SPELT_OUT = 64  # characters; what we mint is shorter, what callers send may be anything


def text(value: str) -> "Attribute":
    """A string attribute."""
    return {"S": value}


def number(value: int) -> "Attribute":
    """A number attribute."""
    return {"N": str(value)}


def key_address(digest: str) -> Attributes:
    """Where a key lies."""
    return {"pk": text(f"KEY#{digest}"), "sk": text("KEY")}


def organisation_address(org: str) -> Attributes:
    """Where an organisation lies."""
    return {"pk": text(f"ORG#{org}"), "sk": text("ORG")}


def record_address(org: str, request_id: str) -> Attributes:
    """Where a record lies."""
    return {"pk": text(f"REQ#{_segment(request_id)}"), "sk": text(f"ORG#{org}")}


def tool_address(org: str, call_id: str) -> Attributes:
    """Where a tool turn lies."""
    return {"pk": text(f"TOOL#{org}#{_segment(call_id)}"), "sk": text(f"ORG#{org}")}


def address_of(item: Attributes) -> Attributes:
    """Where an item lies."""
    return {"pk": item["pk"], "sk": item["sk"]}


def org_shards(org: str) -> list[str]:
    """The partitions of `by_org` that hold an organisation's records."""
    return [f"ORG#{org}#{shard}" for shard in range(ORG_SHARDS)]


def owned_by(org: str, name: str) -> Attributes:
    """What is added to an item of the ledger that is no record, so that it is found when its organisation is deleted.

    `name` is the item's primary key, which tells it from the organisation's others.
    """
    return {"org_shard": text(owned_shards(org)[zlib.crc32(name.encode()) % ORG_SHARDS]), "request_id": text(name)}


def owned_shards(org: str) -> list[str]:
    """The partitions of `by_org` that point to what the ledger holds of an organisation beside its records."""
    return [f"OWNED#{org}#{shard}" for shard in range(ORG_SHARDS)]


def open_shards() -> list[str]:
    """The partitions of `by_lease`."""
    return [f"OPEN#{shard}" for shard in range(OPEN_SHARDS)]


def record_attributes(record: Record, retention_days: int) -> Attributes:
    """A record's item; `settled_ms` is there once it is settled, `lost` where that was only given up.

    `open_shard` stays until it is counted in the totals.
    """
    shard = zlib.crc32(record.request_id.encode())
    item = record_address(record.org, record.request_id) | {
        "org_shard": text(org_shards(record.org)[shard % ORG_SHARDS]),
        "request_id": text(record.request_id),
        "created_ms": number(record.created_ms),
        "open_shard": text(open_shards()[shard % OPEN_SHARDS]),
        "lease_until_ms": number(record.lease_until_ms),
        "expires_at": number(record.created_ms // 1000 + retention_days * DAY_S),
        "item": packed(schema.record_item(record)),
    }
    if record.settled_ms is not None:
        item["settled_ms"] = number(record.settled_ms)
    if record.outcome == LOST:
        item["lost"] = {"BOOL": True}
    return item


def record_of(attributes: Attributes) -> Record:
    """The record in an item.

    Raises:
        StoreUnavailable: It is damaged.
    """
    # The attribute is the truth about the lease: renewing it leaves the packed item alone.
    lease = {"lease_until_ms": int(attributes["lease_until_ms"]["N"])}
    return schema.loads(unpacked(attributes["item"]), lambda item: schema.record_value(item | lease))


def key_attributes(key: Key) -> Attributes:
    """A key's item."""
    return key_address(key.digest) | {"item": packed(schema.key_item(key))}


def keys_of(org: str) -> str:
    """The partition that points to an organisation's keys, beside the organisation itself."""
    return f"ORG#{org}"


def key_pointer(key: Key) -> Attributes:
    """Says in the organisation's partition that it has this key."""
    address = key_address(key.digest)
    return {"pk": text(keys_of(key.org)), "sk": address["pk"], "to": address["sk"]}


def organisation_attributes(organisation: Organisation) -> Attributes:
    """An organisation's item."""
    item = packed(schema.organisation_item(organisation))
    return organisation_address(organisation.id) | {"item": item}


def organisation_pointer(org: str) -> Attributes:
    """Says that there is an organisation of that id."""
    address = organisation_address(org)
    return {"pk": text(ALL_ORGANISATIONS), "sk": address["pk"], "to": address["sk"]}


def pointed_to(pointer: Attributes) -> Attributes:
    """The address that a pointer names."""
    return {"pk": pointer["sk"], "sk": pointer["to"]}


def tool_turn_of(attributes: Attributes) -> tuple[str, ToolTurn]:
    """The tool turn in an item, and the call that it is kept under.

    Raises:
        StoreUnavailable: It is damaged.
    """
    turn = schema.loads(unpacked(attributes["item"]), schema.tool_turn_value)
    return attributes["call_id"]["S"], turn


def lives_at(attributes: Attributes, now_ms: int) -> bool:
    """Whether a tool turn's item has not expired; DynamoDB may remove it much later."""
    return now_ms < int(attributes["expires_ms"]["N"])


def tool_attributes(org: str, call_id: str, turn: "Attribute", expires_ms: int) -> Attributes:
    """A tool turn's item, under one of its calls; `turn` is the packed turn."""
    address = tool_address(org, call_id)
    return (
        address
        | owned_by(org, address["pk"]["S"])
        | {
            "call_id": text(call_id),
            "expires_ms": number(expires_ms),
            "expires_at": number(-(-expires_ms // 1000)),
            "item": turn,
        }
    )


def packed(item: schema.Item) -> "Attribute":
    """A plain item as JSON, compressed where that saves money."""
    data = schema.dumps(item)
    if len(data) >= _COMPRESS_FROM:
        return {"B": zlib.compress(data, 1)}
    return {"S": data.decode()}


def unpacked(attribute: "Attribute") -> bytes | str:
    """The JSON of a packed item.

    Raises:
        StoreUnavailable: It is damaged.
    """
    if "S" in attribute:
        return attribute["S"]
    try:
        return zlib.decompress(attribute["B"])
    except (KeyError, zlib.error) as error:
        raise schema.unreadable(error) from error


def _segment(name: str) -> str:
    # Primary keys have a length limit, and these names come from callers.
    if len(name) <= _SPELT_OUT:
        return name
    return f"sha256:{sha256(name.encode()).hexdigest()}"
