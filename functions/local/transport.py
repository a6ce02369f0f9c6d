"""The HTTP transport where one process serves many calls: aiohttp under httpx's interface."""

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

KEEP_ALIVE_S = 30.0


class ServerTransport(AiohttpTransport):
    """Bounds no calls, since the gateway's own limits do, and heeds no proxy: calls are signed for their hosts."""

    def __init__(self) -> None:
        super().__init__(trust_env=False, client=self._session)

    def _session(self) -> aiohttp.ClientSession:
        # Cookies of a host would go from one caller's call to the next one's.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=self.ssl_context)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; what httpx-aiohttp does not translate (an answer that is no HTTP) is a protocol error."""
        try:
            return await super().handle_async_request(request)
        except aiohttp.ClientError as error:
            raise httpx.RemoteProtocolError(f"{type(error).__name__}: {error}", request=request) from error
