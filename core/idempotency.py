"""A chat completion under an `Idempotency-Key`: it runs once, and whoever sends it again gets what came of it.

The same key and body within 24 hours gives the same answer, byte for byte and with its headers, and no second call or
charge. What was not answered is not kept: after a failure, or when its caller leaves, what was used is charged and the
key is free again.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from core.answer_form import Packing, unpacked
from core.errors import Conflict, GatewayError, InvalidRequest, StoreUnavailable
from core.exchange import Exchange
from core.kept import Claim, Held, Phase, Place
from core.parts import Parts
from core.ports import Sealer
from core.presentation import Head
from core.record import LOST
from core.settlement import Outcome
from core.surfaces.surface import Surface
from core.tenant import Key
from core.waiting import finish_by, from_store

HEADER: Final = "Idempotency-Key"
KEPT_S: Final = 86_400
LONGEST_RUN_S: Final = 900
"""How long a key is held by a request that never says that it is over and left no record, where the platform sets no
limit. One that left a record holds it for as long as that is leased."""

KEEP_S: Final = 1.0
"""How long the last byte waits for the answer to be kept."""

PURPOSE: Final = "answer"

_FORM: Final = re.compile(r"[\x21-\x7e]{1,255}")
_AGAIN_S: Final = 1.0


def idempotent(
    parts: Parts,
    surface: Surface,
    key: Key,
    request_id: str,
    body: bytes,
    ends_at: float | None,
    idempotency_key: str,
) -> "IdempotentExchange":
    """A request under an idempotency key, not yet started.

    Args:
        parts: The collaborators.
        surface: Where the request came in.
        key: Who asks.
        request_id: `req-` and 32 hex digits.
        body: The body as it came.
        ends_at: Unix time in seconds of the platform's own limit, or None.
        idempotency_key: As the caller sent it.

    Raises:
        InvalidRequest: It is not 1 to 255 visible ASCII characters, or answers cannot be kept here.
    """
    if _FORM.fullmatch(idempotency_key) is None:
        raise InvalidRequest(f"{HEADER} must be 1 to 255 visible ASCII characters, without spaces.", param=HEADER)
    if parts.sealer is None:
        raise InvalidRequest(
            f"This gateway has no key to seal answers with, so it keeps none. Send the request without {HEADER}, or "
            "ask its operator to set HEADRACE_KMS_KEY.",
            param=HEADER,
            code="unsupported_parameter",
        )
    now = parts.clock.now()
    asked = sha256(surface.name.encode() + b"\n" + body)
    claim = Claim(
        org=key.org,
        key_id=key.id,
        name=sha256(idempotency_key.encode()).hexdigest(),
        body=asked.hexdigest(),
        request_id=request_id,
        lease_until_ms=round((now + LONGEST_RUN_S if ends_at is None else ends_at) * 1000),
        expires_ms=round((now + KEPT_S) * 1000),
    )
    return IdempotentExchange(parts, Exchange(parts, surface, key, request_id, body, ends_at), claim, parts.sealer)


class IdempotentExchange:
    """An exchange under a claim: used as an `Exchange` is, and it may turn out to be a replay.

    Args:
        parts: The collaborators.
        exchange: The request, not yet started.
        claim: What it claims.
        sealer: Seals its answer.
    """

    def __init__(self, parts: Parts, exchange: Exchange, claim: Claim, sealer: Sealer) -> None:
        self.request_id = exchange.request_id
        self._parts = parts
        self._exchange = exchange
        self._claim = claim
        self._sealer = sealer
        self._place = Place(claim.org, PURPOSE, f"{claim.key_id}/{claim.name}")
        self._holds = False
        self._packing: Packing | None = None
        self._replayed: bytes | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the caller asked for a stream; False until the request was read."""
        return self._exchange.is_stream

    @property
    def limit_headers(self) -> Mapping[str, str]:
        """What an answer says of limits whose head goes out before `start` is done."""
        return self._exchange.limit_headers

    @property
    def failure_headers(self) -> Mapping[str, str]:
        """What an answer says that failed after it had been started."""
        return self._exchange.failure_headers

    async def start(self) -> Head:
        """The head of the answer, or of the one that was given before.

        Raises:
            Conflict: Another body was sent under the key, the first request is still running, or its answer was too
                large to be kept.
            GatewayError: The request was refused, or every attempt failed.
            StoreUnavailable: It cannot be told whether the key is free.
        """
        self._exchange.read()
        # Until the store says otherwise: an answer that never comes may have been this one.
        self._holds = True
        held = await from_store(self._parts.clock, self._taken())
        if held is not None:
            self._holds = False
            head, self._replayed = await from_store(self._parts.clock, self._replay(held))
            return head
        try:
            head = await self._exchange.start()
        except GatewayError:
            await self._give_up()
            raise
        self._packing = Packing(head)
        if head.body is not None:
            await self._keep(self._packing)
        return head

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """The stream's frames; a replay's leave together."""
        if self._replayed is not None:
            yield self._replayed
            return
        packing = self._packing
        assert packing is not None  # `start` gave a head without a body
        async with aclosing(self._exchange.frames()) as frames:
            async for data in frames:
                packing.add(data)
                # Before the last bytes are out: who has them may send the request again at once.
                if self._exchange.is_served:
                    await self._keep(packing)
                yield data
        await self._give_up()

    async def leave(self) -> None:
        """Stop what is under way; a key under which nothing was kept is free again."""
        await self._exchange.leave()
        if self._holds:
            self._holds = False
            self._parts.background.start(self._bounded(self._drop()))

    async def outcome(self) -> Outcome | None:
        """What came of it, to be asked after `leave`; None where no model was to be called for it."""
        return await self._exchange.outcome()

    def error_frame(self, error: GatewayError) -> bytes:
        """The frames that end a stream whose head went out before `start` failed."""
        return self._exchange.error_frame(error)

    async def _taken(self) -> Held | None:
        """Take the key; what is there, unless that worked."""
        held = await self._begin()
        if held is not None and await self._is_dead(held):
            await self._parts.store.drop(replace(self._claim, request_id=held.request_id))
            held = await self._begin()
        return held

    async def _begin(self) -> Held | None:
        return await self._parts.store.begin(self._claim, round(self._parts.clock.now() * 1000))

    async def _is_dead(self, held: Held) -> bool:
        """Whether the key is held by a request whose process has died, as far as its record tells."""
        if held.phase is not Phase.RUNNING:
            return False
        record = await self._parts.store.record(self._claim.org, held.request_id)
        if record is None:
            return False
        return record.outcome == LOST if record.is_settled else record.lease_until_ms < self._parts.clock.now() * 1000

    async def _replay(self, held: Held) -> tuple[Head, bytes]:
        if held.body != self._claim.body:
            raise Conflict(f"This {HEADER} was used with another body. Send each request under a key of its own.")
        if held.phase is Phase.RUNNING:
            raise Conflict(
                f"The request with this {HEADER} is still running. Send it again shortly to get its answer; should "
                "the process that runs it have died, the key is free when its lease has ended.",
                code="idempotency_in_progress",
                retry_after_s=_AGAIN_S,
            )
        sealed = None
        if held.phase is Phase.KEPT:
            sealed = held.answer or await self._parts.store.fetch(self._claim, held)
        if sealed is None:
            raise Conflict(
                f"The request with this {HEADER} was answered as {held.request_id}, but its answer was too large to be "
                f"kept. GET /routing-decisions/{held.request_id} tells what came of it.",
                code="idempotency_not_replayable",
            )
        return unpacked(await self._sealer.open(sealed, self._place))

    async def _keep(self, packing: Packing) -> None:
        """Keep the answer, for as long as its last byte may wait."""
        self._holds = False
        await asyncio.shield(self._parts.background.start(self._bounded(self._finish(packing.packed()))))

    async def _give_up(self) -> None:
        if self._holds:
            self._holds = False
            await asyncio.shield(self._parts.background.start(self._bounded(self._drop())))

    async def _finish(self, packed: bytes | None) -> None:
        sealed = None
        if packed is not None:
            with suppress(StoreUnavailable):  # what cannot be sealed is not kept, but it was answered all the same
                sealed = await self._sealer.seal(packed, self._place)
        await self._parts.store.finish(self._claim, sealed)

    async def _drop(self) -> None:
        await self._parts.store.drop(self._claim)

    async def _bounded(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what the store may fail to do; the key is then free once its lease has ended."""
        clock = self._parts.clock
        with suppress(StoreUnavailable, TimeoutError):
            await finish_by(clock, clock.monotonic() + KEEP_S, work)
