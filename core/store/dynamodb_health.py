"""What processes on one DynamoDB table tell each other of their hosts.

    table   pk      sk           holds
    ledger  HEALTH  HOST#<name>  `cooling_until_ms` with `cooldowns`, `ttft_ms` with `ttft_at_ms`

One query reads them all: there are as many as hosts that were called lately. It need not be consistent.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from core.ports import HostNews
from core.store.dynamodb_calls import query
from core.store.dynamodb_faults import refused_by_condition
from core.store.dynamodb_items import Attributes, number, text
from core.store.dynamodb_threads import DynamoThreads
from core.store.host_news import TTFT_MS, still_new

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef as Attribute

_PARTITION = "HEALTH"
_HOST = "HOST#"


class DynamoHealth:
    """The `SharedHealth` port on DynamoDB."""

    _ledger: str
    _threads: DynamoThreads

    async def tell_health(self, news: Mapping[str, HostNews], now_ms: int) -> None:
        """Keep news; see `SharedHealth.tell_health`."""

        def work(client: "DynamoDBClient") -> None:
            for name, one in news.items():
                address = {"pk": text(_PARTITION), "sk": text(_HOST + name)}
                if one.ttft_ms is not None:
                    _keep_time(client, self._ledger, address, one.ttft_ms, now_ms)
                if one.cooling_until_ms:
                    _keep_deadline(client, self._ledger, address, one, now_ms)

        await self._threads.do(self._ledger, work)

    async def told_health(self, now_ms: int) -> Mapping[str, HostNews]:
        """What was told and still holds, by name."""

        def work(client: "DynamoDBClient") -> dict[str, HostNews]:
            items = query(
                client,
                TableName=self._ledger,
                KeyConditionExpression="pk = :partition",
                ExpressionAttributeValues={":partition": text(_PARTITION)},
            )
            told = ((item["sk"]["S"].removeprefix(_HOST), _news_of(item, now_ms)) for item in items)
            return {name: news for name, news in told if news is not None}

        return await self._threads.do(self._ledger, work)


def _keep_time(client: "DynamoDBClient", table: str, address: Attributes, ttft_ms: int, now_ms: int) -> None:
    client.update_item(
        TableName=table,
        Key=address,
        UpdateExpression="SET ttft_ms = :ttft, ttft_at_ms = :now, expires_at = :expires",
        ExpressionAttributeValues={":ttft": number(ttft_ms), ":now": number(now_ms), ":expires": _expiry(now_ms)},
    )


def _keep_deadline(client: "DynamoDBClient", table: str, address: Attributes, news: HostNews, now_ms: int) -> None:
    try:
        client.update_item(
            TableName=table,
            Key=address,
            UpdateExpression="SET cooling_until_ms = :until, cooldowns = :cooldowns, expires_at = :expires",
            ConditionExpression="attribute_not_exists(cooling_until_ms) OR cooling_until_ms < :until",
            ExpressionAttributeValues={
                ":until": number(news.cooling_until_ms),
                ":cooldowns": number(news.cooldowns),
                ":expires": _expiry(max(now_ms, news.cooling_until_ms)),
            },
        )
    except ClientError as error:
        if not refused_by_condition(error):
            raise


def _expiry(moment_ms: int) -> "Attribute":
    """Later than anything in the item holds: the item's two halves are written one at a time."""
    return number((moment_ms + 2 * TTFT_MS) // 1000)


def _news_of(item: Attributes, now_ms: int) -> HostNews | None:
    until, count, ttft, at = (
        int(item[name]["N"]) if name in item else None
        for name in ("cooling_until_ms", "cooldowns", "ttft_ms", "ttft_at_ms")
    )
    return still_new(until or 0, count or 0, ttft, at or 0, now_ms)
