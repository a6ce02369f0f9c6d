"""One chat completion from the caller's bytes to the settled record: first the head, then the frames."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace

from core.accounts.charges import terms_of
from core.errors import GatewayError
from core.holding import Holding
from core.last_use import note_use
from core.parts import Parts
from core.prepare import AUTO, prepare
from core.presentation import Head, Presentation
from core.record import Record
from core.reservation import LEASE_S
from core.seen import Seen
from core.settlement import Account, Outcome
from core.surfaces.openai_chat import ParsedChat, StreamRenderer, parse_chat
from core.surfaces.surface import Surface
from core.tenant import Key
from core.walk import Walk


class Exchange:
    """A request under way.

    `read` may come first, to know what was asked for. Call `start` for the head; if that has no body, iterate `frames`
    to the end. `leave` may be called at any time: it stops what is under way and charges what was used, if the request
    is not settled yet.

    Args:
        parts: The collaborators.
        surface: Where the request came in.
        key: Who asks.
        request_id: `req-` and 32 hex digits.
        body: The body as it came.
        ends_at: Unix time in seconds of the platform's own limit, or None.
    """

    def __init__(
        self, parts: Parts, surface: Surface, key: Key, request_id: str, body: bytes, ends_at: float | None
    ) -> None:
        self.request_id = request_id
        self._parts = parts
        self._surface = surface
        self._key = key
        self._body = body
        self._ends_at = ends_at
        self._created = parts.clock.now()
        self._parsed: ParsedChat | None = None
        self._walk: Walk | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the caller asked for a stream; False until the request was read."""
        return self._parsed is not None and self._parsed.request.stream

    @property
    def limit_headers(self) -> Mapping[str, str]:
        """What an answer says of limits whose head goes out before `start` is done."""
        return {} if self._walk is None else self._walk.account.holding.known_headers()

    @property
    def failure_headers(self) -> Mapping[str, str]:
        """What an answer says that failed after it had been started: what it is charged, and what is left of limits."""
        return {} if self._walk is None else self._walk.failure_headers

    @property
    def is_served(self) -> bool:
        """Whether the answer is complete and settled; what is left of a stream are its closing frames."""
        return self._walk is not None and self._walk.is_served

    def read(self) -> ParsedChat:
        """What the body says. Nothing is waited for, so that its caller hears of us however slow the store is.

        Raises:
            InvalidRequest: It is wrong.
        """
        if self._parsed is None:
            self._parsed = parse_chat(self._body, self._surface)
        return self._parsed

    async def start(self) -> Head:
        """Everything up to the commit of an attempt or, for a whole answer, up to its end.

        Raises:
            GatewayError: The request was refused, or every attempt failed.
        """
        ready = await prepare(self._parts, self._surface, self._key, self.read(), self._ends_at)
        created_ms = round(self._created * 1000)
        lease_until_ms = created_ms + LEASE_S * 1000
        holding = Holding(self._parts, self._key.org, self.request_id, created_ms, ready.demand)
        await holding.take(lease_until_ms)
        self._parts.router.health.probe(ready.plan.legs[0].target, self._created)
        shown = Presentation(self._surface, self.request_id, int(self._created), ready, self._parts.header_prefix)
        record = Record(
            org=self._key.org,
            request_id=self.request_id,
            key_id=self._key.id,
            created_ms=created_ms,
            lease_until_ms=lease_until_ms,
            requested_model=ready.request.model,
            surface=self._surface.name,
            stream=ready.request.stream,
            decision=shown.routing(None, (), Seen(), full=True),
            reservation=holding.reservation,
        )
        account = Account(self._parts, record, terms_of(ready.workspace), holding)
        self._walk = Walk(self._parts, ready, shown, account, record)
        try:
            head = await self._walk.start()
        except GatewayError as error:
            error.headers = self.failure_headers
            raise
        return replace(head, headers={**head.headers, **await holding.headers()})

    def frames(self) -> AsyncGenerator[bytes, None]:
        """The stream's frames; batches leave as they came. Closing the generator means that the caller has gone."""
        return self._started().frames()

    async def leave(self) -> None:
        """Stop the upstream call and charge what was used, if it is not over; note that the key was used."""
        if self._walk is not None:
            await self._walk.leave()
        note_use(self._parts, self._key)

    async def outcome(self) -> Outcome | None:
        """What came of it, to be asked after `leave`; None where it was refused before it had a record."""
        return None if self._walk is None else await self._walk.outcome()

    def error_frame(self, error: GatewayError) -> bytes:
        """The frames that end a stream whose head went out before `start` failed."""
        return self._renderer().error(error) if self._walk is None else self._walk.error_frame(error)

    def _renderer(self) -> StreamRenderer:
        """A renderer for a stream that nobody serves yet: its model is the name that was asked for."""
        request = self.read().request
        return StreamRenderer(
            self._surface,
            response_id=self._surface.response_id(self.request_id),
            created=int(self._created),
            # What `auto` stands for was not decided, and it is no model's name.
            model="" if request.model == AUTO else request.model,
            include_usage=request.include_usage,
            legacy_functions=request.legacy_functions,
        )

    def _started(self) -> Walk:
        if self._walk is None:
            raise AssertionError("the request was not started yet")
        return self._walk
