"""A client of Lambda's Runtime API; it never reads an event or a response body, and never decides what to retry."""

import asyncio
import logging
from collections.abc import Iterable

from functions.gateway.streaming.failures import Failure
from functions.gateway.streaming.http1 import HEAD_LIMIT, Reply, head, read_reply
from functions.gateway.streaming.invocation import Invocation

log = logging.getLogger(__name__)

_VERSION = "/2018-06-01/runtime"
ERROR_TYPE = "Lambda-Runtime-Function-Error-Type"
ERROR_BODY = "Lambda-Runtime-Function-Error-Body"
_HTTP_RESPONSE = "application/vnd.awslambda.http-integration-response"
_GONE = 410

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RuntimeApiRefused(ConnectionError):
    """The Runtime API answered with an error.

    Args:
        what: What was asked.
        status: Its HTTP status.
    """

    def __init__(self, what: str, status: int) -> None:
        super().__init__(f"the Runtime API answered {what} with {status}")
        self.status = status


class RuntimeApi:
    """The endpoints of one environment.

    Args:
        address: `AWS_LAMBDA_RUNTIME_API`: host and port.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = address
        self._host = host.strip("[]")
        self._port = int(port)

    def poller(self) -> "Poller":
        """Something that asks for invocations, one after the other, on a connection of its own."""
        return Poller(self)

    async def open_response(self, invocation: Invocation) -> tuple[Connection, bytes]:
        """Open the connection that will carry one response.

        Returns:
            The connection, and the head to write before the first chunk: whoever writes may send both at once.

        Raises:
            OSError: No connection could be made.
        """
        headers = [
            ("Content-Type", _HTTP_RESPONSE),
            ("Lambda-Runtime-Function-Response-Mode", "streaming"),
            ("Transfer-Encoding", "chunked"),
            ("Trailer", f"{ERROR_TYPE}, {ERROR_BODY}"),
            ("Connection", "close"),
            *_echo(invocation),
        ]
        path = f"/invocation/{invocation.request_id}/response"
        return await self.connect(), self.request("POST", path, headers)

    async def invocation_error(self, invocation: Invocation, failure: Failure) -> None:
        """Say that an invocation failed before the first byte of its response. Never raises: there is no other way."""
        await self._report(f"/invocation/{invocation.request_id}/error", failure, _echo(invocation))

    async def init_error(self, failure: Failure) -> None:
        """Say that the function cannot start. Never raises."""
        await self._report("/init/error", failure)

    async def restore_error(self, failure: Failure) -> None:
        """Say that the function cannot go on after a restore. Never raises."""
        await self._report("/restore/error", failure)

    async def restore_next(self) -> None:
        """Say that the snapshot can be taken, and return once it was restored.

        Raises:
            OSError: The Runtime API refused, or the connection broke.
        """
        reply = await self._once("GET", "/restore/next", [], b"")
        if reply.status != 200:
            raise RuntimeApiRefused("/restore/next", reply.status)

    async def connect(self) -> Connection:
        """Open a connection.

        Raises:
            OSError: Nobody listens.
        """
        return await asyncio.open_connection(self._host, self._port, limit=HEAD_LIMIT)

    def request(self, method: str, path: str, headers: Iterable[tuple[str, str]]) -> bytes:
        """The head of a request."""
        return head(method, _VERSION + path, [("Host", self._address), ("User-Agent", "headrace"), *headers])

    async def _report(self, path: str, failure: Failure, headers: Iterable[tuple[str, str]] = ()) -> None:
        told = [("Content-Type", "application/json"), (ERROR_TYPE, failure.type), *headers]
        try:
            reply = await self._once("POST", path, told, failure.document())
        except OSError as error:
            log.error("a failure could not be reported", extra={"fields": {"path": path, "reason": str(error)}})
        else:
            note_reply(path, reply)

    async def _once(self, method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> Reply:
        sized = [*headers, ("Content-Length", str(len(body))), ("Connection", "close")]
        reader, writer = await self.connect()
        try:
            writer.write(self.request(method, path, sized if body else headers) + body)
            await writer.drain()
            return await read_reply(reader)
        finally:
            writer.close()


class Poller:
    """Asks for the next invocation; keeps its connection between two questions where the other side does."""

    def __init__(self, api: RuntimeApi) -> None:
        self._api = api
        self._connection: Connection | None = None

    async def next(self) -> Invocation:
        """Wait for an invocation, however long it takes.

        Raises:
            OSError: The Runtime API refused, or the connection broke. It may be asked again.
        """
        was_used = self._connection is not None
        try:
            reply = await self._ask()
        except ConnectionError:
            if not was_used:
                raise
            # Lambda may have dropped a connection that was kept while the environment was frozen.
            reply = await self._ask()
        if reply.status != 200:
            raise RuntimeApiRefused("/invocation/next", reply.status)
        return Invocation.from_reply(reply)

    def close(self) -> None:
        """Drop the connection."""
        if self._connection is not None:
            self._connection[1].close()
            self._connection = None

    async def _ask(self) -> Reply:
        if self._connection is None:
            self._connection = await self._api.connect()
        reader, writer = self._connection
        try:
            writer.write(self._api.request("GET", "/invocation/next", []))
            await writer.drain()
            reply = await read_reply(reader)
        except BaseException:
            self.close()
            raise
        if not reply.reusable:
            self.close()
        return reply


def note_reply(path: str, reply: Reply) -> None:
    """Log an answer that is not the one hoped for. It changes nothing: the next invocation is asked for."""
    fields = {"path": path, "status": reply.status}
    if reply.status == _GONE:
        log.warning("Lambda had given this invocation up; what was sent for it is dropped", extra={"fields": fields})
    elif not 200 <= reply.status < 300:
        log.error("the Runtime API refused a message", extra={"fields": fields})


def _echo(invocation: Invocation) -> list[tuple[str, str]]:
    if invocation.invocation_id is None:
        return []
    return [("Lambda-Runtime-Invocation-Id", invocation.invocation_id)]
