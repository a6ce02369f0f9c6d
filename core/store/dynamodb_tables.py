"""The two tables, for the parts that the DynamoDB store is put together from."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from core.store.dynamodb_threads import DynamoThreads

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Result = TypeVar("Result")


class DynamoTables:
    """Runs work on one of the tables, in a thread."""

    _config: str
    _ledger: str
    _threads: DynamoThreads

    async def _on_config(self, work: "Callable[[DynamoDBClient, str], Result]") -> Result:
        return await self._threads.do(self._config, lambda client: work(client, self._config))

    async def _on_ledger(self, work: "Callable[[DynamoDBClient, str], Result]") -> Result:
        return await self._threads.do(self._ledger, lambda client: work(client, self._ledger))
