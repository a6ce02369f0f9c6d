"""One upstream call from canonical request to canonical events: fetch, encode, sign, send, decode."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from core.accounts.own_keys import own_key_failed
from core.catalog.model import Format, Target, Vendor
from core.chat import ChatRequest
from core.errors import AccountFailure, Interrupted, OwnKeyFailure, UpstreamFailure
from core.events import Event
from core.ports import Clock, ToolTurn
from core.providers.base import Credential, Media, Prepared, Provider, RemoteMedia, StreamDecoder
from core.turn import MintCallId, Turn
from core.upstream.client import UpstreamClient, UpstreamResponse
from core.upstream.discretion import silence
from core.upstream.drain import Metered, Tap
from core.waiting import Background

Credentials: TypeAlias = Callable[[Vendor], Awaitable[Credential]]
"""Gives a vendor's credential; raises `AccountFailure` when there is none."""

OwnCredentials: TypeAlias = Callable[[str, Vendor], Awaitable[Credential]]
"""Gives an organisation's own credential at a vendor; raises `OwnKeyFailure` when there is none that works."""

Fetch: TypeAlias = Callable[[RemoteMedia], Awaitable[Media]]
"""Fetches remote media safely; raises `InvalidRequest` when it may not or cannot be had."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes upstream calls.

    Args:
        provider: The codec of a format.
        client: Sends them.
        credentials: Where keys come from, asked anew for each call.
        own_credentials: The same for calls on an organisation's own account.
        fetch: Where remote media comes from.
        clock: For signatures and Retry-After.
        background: Keeps what goes on after its caller has left.
        metered: Told what abandoned calls used that were billed all the same.
    """

    provider: Callable[[Format], Provider]
    client: UpstreamClient
    credentials: Credentials
    own_credentials: OwnCredentials
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
        credential = await self._credential(target)
        try:
            signed = provider.sign(outgoing, credential, self._now())
            async with await self.client.send(signed) as response:
                if response.status != 200:
                    body = await response.body()
                    raise provider.decode_error(target, response.status, response.headers, body, self._now())
                decoder = provider.decoder(signed, response.status, response.headers)
                turn = Turn(mint)
                broken: list[Interrupted] = []
                async with aclosing(self._chunks(target, response, decoder, broken)) as chunks:
                    async for data in chunks:
                        yield turn.feed(decoder.feed(data))
                        if decoder.done:
                            break
                        # A failure that came with these events must not wait for bytes that may never come.
                        decoder.feed(b"")
                    try:
                        last = turn.feed(decoder.close()) + turn.close()
                    except Interrupted as incomplete:
                        raise broken[0] if broken else incomplete from None
                    yield last
        except UpstreamFailure as failure:
            silence(failure, request, credential)
            if isinstance(failure, AccountFailure) and target.owner is not None:
                raise _own_key_failed(failure) from failure
            raise

    async def _chunks(
        self,
        target: Target,
        response: UpstreamResponse,
        decoder: StreamDecoder,
        broken: list[Interrupted],
    ) -> AsyncGenerator[bytes, None]:
        """The body; where the host bills to the end, a call that is abandoned goes on without the caller.

        A body that breaks off ends here, and says so in `broken`: whether the answer was complete by then is for its
        decoder to say.
        """
        if not target.vendor.drains:
            try:
                async for data in response.chunks():
                    yield data
            except Interrupted as error:
                broken.append(error)
            return
        tap = Tap(response, self.background, self.clock)
        try:
            async for data in tap.chunks():
                yield data
        except Interrupted as error:
            broken.append(error)
        except (GeneratorExit, asyncio.CancelledError):
            if not decoder.done:
                response.is_handed_over = True
                tap.abandon(target, decoder, self.metered)
            raise
        finally:
            if decoder.done:
                tap.stop()

    async def _credential(self, target: Target) -> Credential:
        if target.owner is None:
            return await self.credentials(target.vendor)
        return await self.own_credentials(target.owner, target.vendor)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)


def _own_key_failed(failure: AccountFailure) -> OwnKeyFailure:
    """The same failure, blamed on an organisation's own key."""
    return own_key_failed(
        detail=failure.detail, upstream_status=failure.upstream_status, upstream_code=failure.upstream_code
    )
