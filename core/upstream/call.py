"""One upstream call from canonical request to canonical events: fetch, encode, sign, send, decode."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from core.catalog.model import Format, Target, Vendor
from core.chat import ChatRequest
from core.events import Event
from core.ports import Clock, ToolTurn
from core.providers.base import Credential, Media, Prepared, Provider, RemoteMedia, StreamDecoder
from core.turn import MintCallId, Turn
from core.upstream.client import UpstreamClient, UpstreamResponse
from core.upstream.drain import Metered, Tap
from core.waiting import Background

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
        background: Keeps what goes on after its caller has left.
        metered: Told what abandoned calls used that were billed all the same.
    """

    provider: Callable[[Format], Provider]
    client: UpstreamClient
    credentials: Credentials
    fetch: Fetch
    clock: Clock
    background: Background
    metered: Metered

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
        async with AsyncExitStack() as stack:
            response = await stack.enter_async_context(await self.client.send(signed))
            if response.status != 200:
                body = await response.body()
                raise provider.decode_error(target, response.status, response.headers, body, self._now())
            decoder = provider.decoder(signed, response.status, response.headers)
            turn = Turn(mint)
            chunks = self._chunks(target, response, decoder, stack)
            stack.push_async_callback(chunks.aclose)
            async for data in chunks:
                yield turn.feed(decoder.feed(data))
                if decoder.done:
                    break
                # A failure that came with these events must not wait for bytes that may never come.
                decoder.feed(b"")
            yield turn.feed(decoder.close()) + turn.close()

    async def _chunks(
        self, target: Target, response: UpstreamResponse, decoder: StreamDecoder, stack: AsyncExitStack
    ) -> AsyncGenerator[bytes, None]:
        """The body; where the host bills to the end, a call that is abandoned goes on without the caller."""
        if not target.vendor.drains:
            async for data in response.chunks():
                yield data
            return
        tap = Tap(response, self.background, self.clock)
        try:
            async for data in tap.chunks():
                yield data
        except (GeneratorExit, asyncio.CancelledError):
            if not decoder.done:
                stack.pop_all()  # the drain closes the response
                tap.abandon(target, decoder, self.metered)
            raise
        finally:
            if decoder.done:
                tap.stop()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)
