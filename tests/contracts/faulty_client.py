"""A DynamoDB client with the faults that the tests' server does not have: throttling, lost answers, half batches."""

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class FaultyClient:
    """Passes everything on, except where it was told to fail.

    `undone` is how many entries the next batch leaves undone, `page` the most that one page of a query holds,
    `before_batch_get`, `before_update` and `before_transaction` what happens elsewhere before the next of them,
    `region` where it says that it is.
    """

    def __init__(self, client: "DynamoDBClient") -> None:
        self._client = client
        self._failures: dict[str, tuple[Exception, bool]] = {}
        self.calls: Counter[str] = Counter()
        self.undone = 0
        self.page: int | None = None
        self.region: str | None = None
        self.before_batch_get: Callable[[], None] = lambda: None
        self.before_update: Callable[[], None] = lambda: None
        self.before_transaction: Callable[[], None] = lambda: None

    def made(self) -> "DynamoDBClient":
        return cast("DynamoDBClient", self)

    def fail(self, operation: str, failure: Exception, *, after: bool = False) -> None:
        """Fail once, before the operation or after it was carried out."""
        self._failures[operation] = (failure, after)

    def put_item(self, **request: Any) -> Any:
        return self._call("put_item", request)

    def get_item(self, **request: Any) -> Any:
        return self._call("get_item", request)

    def update_item(self, **request: Any) -> Any:
        self.before_update()
        return self._call("update_item", request)

    def delete_item(self, **request: Any) -> Any:
        return self._call("delete_item", request)

    def query(self, **request: Any) -> Any:
        if self.page is not None:
            request["Limit"] = min(self.page, request.get("Limit", self.page))
        return self._call("query", request)

    def batch_get_item(self, RequestItems: Any) -> Any:
        self.before_batch_get()
        ((table, asked),) = RequestItems.items()
        done, undone = self._split(asked["Keys"])
        if not done:
            return {"Responses": {}, "UnprocessedKeys": {table: {"Keys": undone}}}
        result = self._call("batch_get_item", {"RequestItems": {table: {**asked, "Keys": done}}})
        return {**result, "UnprocessedKeys": {table: {"Keys": undone}} if undone else {}}

    def batch_write_item(self, RequestItems: Any) -> Any:
        ((table, asked),) = RequestItems.items()
        done, undone = self._split(asked)
        if not done:
            return {"UnprocessedItems": {table: undone}}
        result = self._call("batch_write_item", {"RequestItems": {table: done}})
        return {**result, "UnprocessedItems": {table: undone} if undone else {}}

    def transact_write_items(self, **request: Any) -> Any:
        self.before_transaction()
        return self._call("transact_write_items", request)

    @property
    def meta(self) -> Any:
        return SimpleNamespace(region_name=self.region or self._client.meta.region_name)

    def close(self) -> None:
        pass  # the client belongs to the tests

    def _split(self, asked: list[Any]) -> tuple[list[Any], list[Any]]:
        done = len(asked) - self.undone
        self.undone = 0
        return asked[:done], asked[done:]

    def _call(self, operation: str, request: dict[str, Any]) -> Any:
        self.calls[operation] += 1
        failure, after = self._failures.pop(operation, (None, False))
        if failure is not None and not after:
            raise failure
        result = getattr(self._client, operation)(**request)
        if failure is not None:
            raise failure
        return result
