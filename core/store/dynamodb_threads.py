"""A DynamoDB client, and the few threads that its calls run in; the event loop never waits for the network.

A task that stops waiting does not stop its call.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StoreUnavailable
from core.store.dynamodb_faults import unavailable
from core.store.handoff import Done, Failed, Handoff, deliver

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Result = TypeVar("Result")

MakeClient: TypeAlias = "Callable[[], DynamoDBClient]"


def client_maker(threads: int) -> MakeClient:
    """Makes clients for the region and credentials of the environment.

    Three tries are safe because every write of ours is conditional or writes the same again.
    """
    config = Config(
        connect_timeout=1,
        read_timeout=2,
        retries={"mode": "standard", "total_max_attempts": 3},
        max_pool_connections=threads,
        tcp_keepalive=True,
        parameter_validation=False,  # our requests are typed; checking them again takes a tenth of a call's CPU
    )
    # A session of its own: the common one is not safe to make clients from in threads.
    return lambda: boto3.Session().client("dynamodb", config=config)


class DynamoThreads:
    """Runs calls. The client is made with the first one, and again after it could not be made.

    Args:
        make_client: Makes the client, which belongs to this object from then on.
        threads: The most calls at a time; more wait their turn.
    """

    def __init__(self, make_client: MakeClient, threads: int) -> None:
        self._make_client = make_client
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="dynamodb")
        self._client: DynamoDBClient | None = None
        self._lock = Lock()

    async def do(self, table: str, work: "Callable[[DynamoDBClient], Result]") -> Result:
        """Call DynamoDB in a thread; `table` is named if that fails.

        Raises:
            StoreUnavailable: The call failed, or this was closed.
        """
        handoff: Handoff[Result] = Handoff()

        def run() -> None:
            deliver([(handoff, self._outcome(table, work))])

        try:
            self._executor.submit(run)
        except RuntimeError as error:  # says that it was shut down
            raise StoreUnavailable(detail="The connection to DynamoDB was closed.") from error
        return await handoff.arrival()

    async def close(self) -> None:
        """Finish the calls under way, then let go of threads and sockets."""
        await asyncio.to_thread(self._executor.shutdown)
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _outcome(self, table: str, work: "Callable[[DynamoDBClient], Result]") -> Done[Result] | Failed:
        try:
            return Done(work(self._ready_client()))
        except (ClientError, BotoCoreError) as error:
            return Failed(unavailable(error, table))
        except Exception as error:
            return Failed(error)

    def _ready_client(self) -> "DynamoDBClient":
        with self._lock:
            if self._client is None:
                self._client = self._make_client()
            return self._client
