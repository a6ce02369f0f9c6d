"""Sends one upstream call and hands over its response as it arrives; it knows no format and retries nothing."""

from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from types import TracebackType

import httpx

from core.catalog.model import Quirk
from core.providers.base import Outgoing
from core.upstream.faults import upstream_faults

CONNECT_TIMEOUT_S = 5.0
LARGEST_ERROR_BODY = 256 * 1024

_TIMEOUTS = {"connect": CONNECT_TIMEOUT_S, "pool": CONNECT_TIMEOUT_S, "read": None, "write": None}


@lru_cache(maxsize=1024)
def _parsed(url: str) -> httpx.URL:
    """The URL; hosts have few, and parsing one costs as much as a small request's encoding."""
    return httpx.URL(url)


def body_of(response: httpx.Response) -> httpx.AsyncByteStream:
    """The body of a transport's response as it arrives, undecoded."""
    if not isinstance(response.stream, httpx.AsyncByteStream):
        raise TypeError("an asynchronous transport gives an asynchronous body")
    return response.stream


class UpstreamResponse:
    """A response whose body is still arriving. Its headers are found by their names in lower case.

    It is closed at the end of its block, unless it `is_handed_over` to somebody who will close it.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.is_handed_over = False
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def __aenter__(self) -> "UpstreamResponse":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_handed_over:
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
        with upstream_faults():
            url = _parsed(outgoing.url)
            headers = {
                "host": url.netloc.decode("ascii"),
                **outgoing.headers,
                "content-length": str(len(outgoing.body)),
            }
            if outgoing.target.has(Quirk.CLOSES_CONNECTIONS):
                headers["connection"] = "close"
            body = httpx.ByteStream(outgoing.body)
            request = httpx.Request(
                outgoing.method, url, headers=headers, stream=body, extensions={"timeout": _TIMEOUTS}
            )
            request.read()
            return UpstreamResponse(await self._transport.handle_async_request(request))

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.aclose()
