"""Are the two DynamoDB tables as the stack makes them, and may they be used as the gateway uses them?

What is missing in a role is found by using it, with calls that change nothing: writes on a condition that never holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from core.store.dynamodb_faults import CONDITION, unavailable
from functions.local.doctor.finding import Finding, fail, fine, warn

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_FORBIDDEN: Final = frozenset({"AccessDeniedException", "AccessDenied"})
_ABSENT: Final[Any] = {"pk": {"S": "DOCTOR#"}, "sk": {"S": "DOCTOR#"}}
_NEVER: Final = "attribute_exists(pk)"
_DEPLOY: Final = "Deploy the stack anew; a table that was made otherwise has to be made again by template.yaml."


@dataclass(frozen=True, slots=True)
class Shape:
    """What a table must be like: its indexes by name, each with its key attributes, and whether it has a stream."""

    indexes: Mapping[str, tuple[str, str]]
    stream: bool


CONFIG: Final = Shape({}, stream=False)
LEDGER: Final = Shape(
    {"by_org": ("org_shard", "request_id"), "by_lease": ("open_shard", "lease_until_ms")}, stream=True
)


def check_table(client: "DynamoDBClient", name: str, shape: Shape) -> tuple[Sequence[Finding], str | None]:
    """What is to be said of a table, and the `Date` header of DynamoDB's answer. It blocks."""
    about = f"table {name}"
    try:
        answer = client.describe_table(TableName=name)
    except (ClientError, BotoCoreError) as error:
        return [_failed(about, name, error)], None
    table: Any = answer["Table"]
    told = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    if table.get("TableStatus") != "ACTIVE":
        return [fail(about, f"it is {table.get('TableStatus')}", "Wait until it is active.")], told
    wrong = [*_structure(about, table, shape), *_care(about, client, name, table)]
    wrong += _use(about, client, name, shape)
    return wrong or [fine(about, "keys, indexes, expiry, backups and permissions are as they should be")], told


def _structure(about: str, table: Any, shape: Shape) -> Sequence[Finding]:
    wrong: list[Finding] = []
    if _keys(table) != ("pk", "sk"):
        wrong.append(fail(about, f"its key is {', '.join(_keys(table))} and not pk, sk", _DEPLOY))
    indexes = {index["IndexName"]: index for index in table.get("GlobalSecondaryIndexes", ())}
    for index, keys in shape.indexes.items():
        if index not in indexes:
            wrong.append(fail(about, f"it has no index {index}", _DEPLOY))
        elif _keys(indexes[index]) != keys:
            wrong.append(fail(about, f"its index {index} is not by {', '.join(keys)}", _DEPLOY))
        elif indexes[index].get("IndexStatus", "ACTIVE") != "ACTIVE":
            wrong.append(warn(about, f"its index {index} is being made", "Wait until it is active."))
    stream = table.get("StreamSpecification", {})
    if shape.stream and stream.get("StreamViewType") != "NEW_AND_OLD_IMAGES":
        says = "it has no stream of new and old images, so that usage is counted late"
        wrong.append(fail(about, says, _DEPLOY))
    return wrong


def _care(about: str, client: "DynamoDBClient", name: str, table: Any) -> Sequence[Finding]:
    """What a table lives without, for a while."""

    def expiry() -> bool:
        said = client.describe_time_to_live(TableName=name).get("TimeToLiveDescription", {})
        return said.get("TimeToLiveStatus") == "ENABLED" and said.get("AttributeName") == "expires_at"

    def backups() -> bool:
        said: Any = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
        return bool(said.get("PointInTimeRecoveryDescription", {}).get("PointInTimeRecoveryStatus") == "ENABLED")

    asked: Sequence[tuple[Callable[[], bool], str, str]] = (
        (expiry, "what is over its time is never deleted", "Enable time to live on expires_at."),
        (backups, "it cannot be restored to a point in time", "Enable point-in-time recovery."),
        (
            lambda: bool(table.get("DeletionProtectionEnabled")),
            "nothing keeps it from being deleted",
            "Enable deletion protection.",
        ),
    )
    found: list[Finding] = []
    for holds, says, do in asked:
        try:
            if not holds():
                found.append(warn(about, says, do))
        except (ClientError, BotoCoreError) as error:
            found.append(_failed(about, name, error, warn))
    return found


def _use(about: str, client: "DynamoDBClient", name: str, shape: Shape) -> Sequence[Finding]:
    key: Any = {"TableName": name, "Key": _ABSENT}
    calls: list[Callable[[], object]] = [
        lambda: client.get_item(**key),
        lambda: client.batch_get_item(RequestItems={name: {"Keys": [_ABSENT]}}),
        lambda: client.query(
            TableName=name, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": _ABSENT["pk"]}
        ),
        lambda: client.put_item(TableName=name, Item=_ABSENT, ConditionExpression=_NEVER),
        lambda: client.update_item(**key, UpdateExpression="REMOVE nothing", ConditionExpression=_NEVER),
        lambda: client.delete_item(**key, ConditionExpression=_NEVER),
        lambda: client.batch_write_item(RequestItems={name: [{"DeleteRequest": {"Key": _ABSENT}}]}),
    ]
    for index, (first, _) in shape.indexes.items():
        calls.append(lambda index=index, first=first: _query_index(client, name, index, first))  # type: ignore[misc]  # mypy cannot infer defaults of a lambda
    found: list[Finding] = []
    for call in calls:
        try:
            call()
        except ClientError as error:
            if error.response["Error"].get("Code") != CONDITION:
                found.append(_failed(about, name, error))
        except BotoCoreError as error:
            found.append(_failed(about, name, error))
    return [*dict.fromkeys(found)]


def _query_index(client: "DynamoDBClient", name: str, index: str, first: str) -> object:
    return client.query(
        TableName=name,
        IndexName=index,
        KeyConditionExpression="#k = :k",
        ExpressionAttributeNames={"#k": first},
        ExpressionAttributeValues={":k": {"S": "DOCTOR#"}},
        Limit=1,
    )


def _keys(described: Any) -> tuple[str, ...]:
    return tuple(key["AttributeName"] for key in described.get("KeySchema", ()))


def _failed(
    about: str, name: str, error: ClientError | BotoCoreError, level: Callable[[str, str, str], Finding] = fail
) -> Finding:
    if isinstance(error, ClientError) and error.response["Error"].get("Code") in _FORBIDDEN:
        action = f"dynamodb:{error.operation_name}"
        return level(about, f"{action} is not allowed", f"Allow {action} on the table and its indexes, by the role.")
    return level(about, unavailable(error, name).detail, "Do what the message says.")
