"""Sends one upstream call and hands over its response as it arrives; it knows no format and retries nothing."""

from collections.abc import AsyncIterator, Mapping
from types import TracebackType

import httpx

from core.catalog.model import Quirk
from core.providers.base import Outgoing
from core.upstream.faults import upstream_faults

CONNECT_TIMEOUT_S = 5.0
LARGEST_ERROR_BODY = 256 * 1024

_TIMEOUTS = {"connect": CONNECT_TIMEOUT_S, "pool": CONNECT_TIMEOUT_S, "read": None, "write": None}


def body_of(response: httpx.Response) -> httpx.AsyncByteStream:
    """The body of a transport's response as it arrives, undecoded."""
    if not isinstance(response.stream, httpx.AsyncByteStream):
        raise TypeError("an asynchronous transport gives an asynchronous body")
    return response.stream


class UpstreamResponse:
    """A response whose body is still arriving. Header names are lower case."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}

    async def __aenter__(self) -> "UpstreamResponse":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connection up."""
        await self._response.aclose()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, undecoded.

        Raises:
            UpstreamFailure: The connection broke.
        """
        with upstream_faults():
            async for chunk in body_of(self._response):
                yield chunk

    async def body(self, largest: int = LARGEST_ERROR_BODY) -> bytes:
        """The body, cut at `largest` bytes."""
        parts: list[bytes] = []
        size = 0
        async for chunk in self.chunks():
            parts.append(chunk)
            size += len(chunk)
            if size >= largest:
                break
        return b"".join(parts)[:largest]


class UpstreamClient:
    """Speaks HTTP to upstreams over an injected transport.

    Args:
        transport: httpx's transport interface; it owns connections and TLS.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def send(self, outgoing: Outgoing) -> UpstreamResponse:
        """Send a signed call and return once the response's headers are there.

        Raises:
            UpstreamFailure: The host cannot be reached.
        """
        headers = dict(outgoing.headers)
        if outgoing.target.has(Quirk.CLOSES_CONNECTIONS):
            headers["connection"] = "close"
        with upstream_faults():
            request = httpx.Request(
                outgoing.method,
                outgoing.url,
                headers=headers,
                content=outgoing.body,
                extensions={"timeout": _TIMEOUTS},
            )
            return UpstreamResponse(await self._transport.handle_async_request(request))

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.aclose()
