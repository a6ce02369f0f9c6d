"""One upstream call from canonical request to canonical events: fetch, encode, sign, send, decode."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from core.catalog.model import Format, Target, Vendor
from core.chat import ChatRequest
from core.events import Event
from core.ports import Clock, ToolTurn
from core.providers.base import Credential, Media, Prepared, Provider, RemoteMedia
from core.turn import MintCallId, Turn
from core.upstream.client import UpstreamClient

Credentials: TypeAlias = Callable[[Vendor], Awaitable[Credential]]
"""Gives a vendor's credential; raises `AccountFailure` when there is none."""

Fetch: TypeAlias = Callable[[RemoteMedia], Awaitable[Media]]
"""Fetches remote media safely; raises `InvalidRequest` when it may not or cannot be had."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes upstream calls.

    Args:
        provider: The codec of a format.
        client: Sends them.
        credentials: Where keys come from, asked anew for each call.
        fetch: Where remote media comes from.
        clock: For signatures and Retry-After.
    """

    provider: Callable[[Format], Provider]
    client: UpstreamClient
    credentials: Credentials
    fetch: Fetch
    clock: Clock

    async def call(
        self, request: ChatRequest, turns: Mapping[str, ToolTurn], mint: MintCallId, target: Target
    ) -> AsyncGenerator[tuple[Event, ...], None]:
        """Send `request` to `target` and yield events, one batch for each read.

        Raises:
            UpstreamFailure: The call failed, before or within its stream.
            InvalidRequest: It cannot be said in the target's format.
        """
        provider = self.provider(target.vendor.format)
        media = {remote.url: await self.fetch(remote) for remote in provider.needs(request, target)}
        outgoing = provider.encode(request, target, Prepared(media=media, turns=turns))
        credential = await self.credentials(target.vendor)
        signed = provider.sign(outgoing, credential, self._now())
        async with await self.client.send(signed) as response:
            if response.status != 200:
                body = await response.body()
                raise provider.decode_error(target, response.status, response.headers, body, self._now())
            decoder = provider.decoder(signed, response.status, response.headers)
            turn = Turn(mint)
            async for data in response.chunks():
                yield turn.feed(decoder.feed(data))
                if decoder.done:
                    break
                # A failure that came with these events must not wait for bytes that may never come.
                decoder.feed(b"")
            yield turn.feed(decoder.close()) + turn.close()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)
