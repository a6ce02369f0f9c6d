"""The HTTP transport where one process serves many calls: aiohttp under httpx's interface."""

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

KEEP_ALIVE_S = 30.0


class ServerTransport(AiohttpTransport):
    """Bounds no calls, since the gateway's own limits do, and heeds no proxy: calls are signed for their hosts."""

    def __init__(self) -> None:
        limits = httpx.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE_S)
        super().__init__(trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; what httpx-aiohttp does not translate (an answer that is no HTTP) is a protocol error."""
        try:
            return await super().handle_async_request(request)
        except aiohttp.ClientError as error:
            raise httpx.RemoteProtocolError(f"{type(error).__name__}: {error}", request=request) from error
