"""What callers said of answers, in DynamoDB: each score until its decision is gone, and the sums for good.

    table   pk                  sk                         holds
    config  ORG#<org>           OPINION#<region>#<model>   `count_<task>` and `sum_<task>`: the sums of a model
    ledger  SCORE#<request id>  ORG#<org>                  the score of a decision, and what it was counted for

The sums lie beside the organisation, so that they come with everything else that is read of it. The table may be shared
between regions, and two regions must never add to one item: each has items of its own, added up when they are read. A
score and its part of the sums are written in one transaction, on the condition that the score is still what it was read
as; so one that is sent twice, or by two callers at once, counts once.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from core.errors import StoreUnavailable
from core.store.dynamodb_calls import get, query
from core.store.dynamodb_faults import outpaced, refused_in_transaction
from core.store.dynamodb_items import DAY_S, Attributes, keys_of, number, text
from core.store.dynamodb_threads import DynamoThreads
from core.workspace import Opinion

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import PutTypeDef

OPINION = "OPINION#"
"""How the sort keys of the sums begin."""

_COUNT = "count_"
_SUM = "sum_"
_TRIES = 16


class DynamoOpinions:
    """The `Opinions` port on DynamoDB."""

    _config: str
    _ledger: str
    _retention_days: int
    _threads: DynamoThreads

    async def rate(self, org: str, request_id: str, model: str, task: str, thousandths: int, now_ms: int) -> None:
        """Keep the score of an answer; see `Opinions.rate`."""
        score = _score_address(org, request_id) | {
            "model": text(model),
            "task": text(task),
            "thousandths": number(thousandths),
            "expires_at": number(now_ms // 1000 + self._retention_days * DAY_S),
        }

        def work(client: "DynamoDBClient") -> None:
            for _ in range(_TRIES):
                earlier = get(client, self._ledger, _score_address(org, request_id))
                if earlier is not None and earlier["thousandths"] == score["thousandths"]:
                    return
                if _counted(client, self._config, self._ledger, score, earlier):
                    return
            raise StoreUnavailable(
                detail=f"The table {self._ledger} cannot be used: others keep writing the same score.",
                retry_after_s=1.0,
            )

        await self._threads.do(self._ledger, work)

    async def opinions(self, org: str) -> Mapping[tuple[str, str], Opinion]:
        """What the organisation's callers said, by model and task."""

        def work(client: "DynamoDBClient") -> dict[tuple[str, str], Opinion]:
            found = query(
                client,
                TableName=self._config,
                KeyConditionExpression="pk = :partition AND begins_with(sk, :prefix)",
                ExpressionAttributeValues={":partition": text(keys_of(org)), ":prefix": text(OPINION)},
                ConsistentRead=True,
            )
            return opinions_of(found)

        return await self._threads.do(self._config, work)


def opinions_of(items: Iterable[Attributes]) -> dict[tuple[str, str], Opinion]:
    """The opinions in some items of an organisation's partition, by model and task; other items are passed over."""
    found: dict[tuple[str, str], Opinion] = {}
    for item in items:
        if item["sk"]["S"].startswith(OPINION):
            for task in (name.removeprefix(_COUNT) for name in item if name.startswith(_COUNT)):
                named = item["model"]["S"], task
                before = found.get(named, Opinion(0, 0))
                count, total = int(item[_COUNT + task]["N"]), int(item[_SUM + task]["N"])
                found[named] = Opinion(before.count + count, before.sum_thousandths + total)
    return found


def _counted(
    client: "DynamoDBClient", config: str, ledger: str, score: Attributes, earlier: "Attributes | None"
) -> bool:
    """Write a score and its part of the sums; False when somebody else was quicker."""
    # The decision is what it was, so a second score counts where the first did.
    kept = score if earlier is None else score | {"model": earlier["model"], "task": earlier["task"]}
    task = kept["task"]["S"]
    gain = int(score["thousandths"]["N"]) - (0 if earlier is None else int(earlier["thousandths"]["N"]))
    try:
        client.transact_write_items(
            TransactItems=[
                {"Put": _put(ledger, kept, earlier)},
                {
                    "Update": {
                        "TableName": config,
                        "Key": _sum_address(score["sk"]["S"], client.meta.region_name, kept["model"]["S"]),
                        "UpdateExpression": "SET model = :model ADD #count :one, #sum :gain",
                        "ExpressionAttributeNames": {"#count": _COUNT + task, "#sum": _SUM + task},
                        "ExpressionAttributeValues": {
                            ":model": kept["model"],
                            ":one": number(1 if earlier is None else 0),
                            ":gain": number(gain),
                        },
                    }
                },
            ]
        )
    except ClientError as error:
        if refused_in_transaction(error) or outpaced(error):
            return False
        raise
    return True


def _put(table: str, score: Attributes, earlier: "Attributes | None") -> "PutTypeDef":
    """A write of the score that is refused when it is not what it was read as any more."""
    if earlier is None:
        return {"TableName": table, "Item": score, "ConditionExpression": "attribute_not_exists(pk)"}
    return {
        "TableName": table,
        "Item": score,
        "ConditionExpression": "thousandths = :earlier",
        "ExpressionAttributeValues": {":earlier": earlier["thousandths"]},
    }


def _score_address(org: str, request_id: str) -> Attributes:
    return {"pk": text(f"SCORE#{request_id}"), "sk": text(f"ORG#{org}")}


def _sum_address(partition: str, region: str, model: str) -> Attributes:
    return {"pk": text(partition), "sk": text(f"{OPINION}{region}#{model}")}
