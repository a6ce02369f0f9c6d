"""The gateway's use cases: who calls, which models there are, what was decided, a completion from end to end."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.accounts.keys import digest, is_well_formed
from core.chat import Json
from core.errors import AuthenticationFailed, PermissionDenied
from core.exchange import Exchange
from core.idempotency import IdempotentExchange, idempotent
from core.last_use import note_use
from core.lookup import workspace_of
from core.parts import Parts
from core.prepare import prepare
from core.record import Record
from core.recorded import record_id, recorded_usage, there
from core.shelf import Shelf, hosted, usable_models
from core.surfaces.decision import listed_decision, recorded_decision, routing_object
from core.surfaces.decisions_question import DecisionsQuestion
from core.surfaces.feedback import feedback_object, parse_feedback
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import Surface
from core.surfaces.usage_question import UsageQuestion
from core.tenant import Key, Scope
from core.usage import credits_report, usage_report

_REQUEST_ID: Final = re.compile(r"req-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that a front end calls; `parts` is what requests are served with."""

    parts: Parts

    async def authenticate(self, token: str | None, scope: Scope | None = None) -> Key:
        """The live key behind a token.

        Args:
            token: As it was sent, or None.
            scope: What it must allow; None where every key will do.

        Raises:
            PermissionDenied: The key does not have the scope.
            AuthenticationFailed: No token, a malformed one, or one that is not known, expired or revoked.
            StoreUnavailable: It cannot be looked up.
        """
        if not token:
            raise AuthenticationFailed("No API key was sent. Send one in the header 'Authorization: Bearer hr_...'.")
        if not is_well_formed(token):
            raise AuthenticationFailed("This is not an API key of this gateway. Check it for missing characters.")
        key = await self.parts.directory.key(digest(token))
        if key is None or not key.is_live(round(self.parts.clock.now() * 1000)):
            raise AuthenticationFailed("This API key is unknown, expired or revoked. Use another one.")
        if scope is not None and scope not in key.scopes:
            raise PermissionDenied(
                f"This API key does not have the scope {scope.value!r}, which this endpoint needs. Use a key that has "
                "it, or ask the operator to add it.",
                code="scope_missing",
            )
        return key

    def chat(
        self,
        surface: Surface,
        key: Key,
        request_id: str,
        body: bytes,
        ends_at: float | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Exchange | IdempotentExchange:
        """A chat completion, not yet started.

        Args:
            surface: Where it came in.
            key: Who asks.
            request_id: `req-` and 32 hex digits.
            body: The request body as it came.
            ends_at: Unix time in seconds by which all must be over (the platform's own limit), or None.
            idempotency_key: The name under which its answer is kept, as the caller sent it, or None.

        Raises:
            InvalidRequest: The idempotency key is malformed, or answers cannot be kept here.
        """
        if idempotency_key is not None:
            return idempotent(self.parts, surface, key, request_id, body, ends_at, idempotency_key)
        return Exchange(self.parts, surface, key, request_id, body, ends_at)

    async def route(
        self, surface: Surface, key: Key, request_id: str, body: bytes, *, full: bool = False
    ) -> Mapping[str, Json]:
        """What would be decided for a chat completion with this body; no model is called and nothing is recorded.

        Args:
            surface: Where it came in.
            key: Who asks.
            request_id: `req-` and 32 hex digits.
            body: The request body as it came.
            full: Whether to list every alternative and every excluded model.

        Raises:
            GatewayError: The completion would be refused.
        """
        created = self.parts.clock.now()
        note_use(self.parts, key)
        decision = (await prepare(self.parts, surface, key, parse_chat(body, surface), None)).decision
        return routing_object(request_id, int(created), decision, model=decision.pick, full=full)

    async def decisions(self, key: Key, question: DecisionsQuestion) -> Mapping[str, Json]:
        """A page of the decisions of the key's organisation, newest first.

        Raises:
            StoreUnavailable: They cannot be looked up.
        """
        note_use(self.parts, key)
        limit = question.limit
        records = await self.parts.store.records(key.org, limit + 1, question.after)
        data = [listed_decision(record, recorded_usage(record)) for record in records[:limit]]
        return {"object": "list", "data": data, "has_more": len(records) > limit}

    async def decision(self, key: Key, response_id: str) -> Mapping[str, Json]:
        """A decision of the key's organisation, with everything that came of it; by either form of its id.

        Raises:
            NotFound: There is none of that id, or it is another organisation's.
            StoreUnavailable: It cannot be looked up.
        """
        record = await self._record(key, response_id)
        return recorded_decision(record, recorded_usage(record))

    async def feedback(self, key: Key, response_id: str, body: bytes) -> Mapping[str, Json]:
        """Keep what a caller says of an answer, by either form of its id; a second time replaces the first.

        Raises:
            InvalidRequest: The body is wrong.
            NotFound: There is no decision of that id, or it is another organisation's.
            StoreUnavailable: It cannot be looked up, or not be kept.
        """
        feedback = parse_feedback(body)
        record = await self._record(key, response_id)
        task = record.decision.get("task")
        if record.model is not None and task is not None:
            now_ms = round(self.parts.clock.now() * 1000)
            await self.parts.store.rate(key.org, record.request_id, record.model, task, feedback.thousandths, now_ms)
        return feedback_object(record.request_id, record.model, task, feedback)

    async def shelf(self, key: Key | None) -> Shelf:
        """The models that a key may use, with what its organisation says of them; the public catalog without one.

        Raises:
            AuthenticationFailed: The organisation was deleted.
            StoreUnavailable: It cannot be looked up.
        """
        if key is None:
            return Shelf(self.parts.catalog, hosted(self.parts.catalog.models, self.parts.host_regions))
        note_use(self.parts, key)
        workspace = await workspace_of(self.parts, key.org)
        catalog = self.parts.router.offers.of(workspace).catalog
        usable = hosted(usable_models(catalog, workspace, key), self.parts.host_regions)
        return Shelf(catalog, usable, workspace.opinions)

    async def usage(self, key: Key, question: UsageQuestion) -> Mapping[str, Json]:
        """A page of the usage report of the key's organisation.

        Raises:
            StoreUnavailable: The totals cannot be read.
        """
        note_use(self.parts, key)
        return await usage_report(self.parts.store, key.org, question, round(self.parts.clock.now() * 1000))

    async def credits(self, key: Key) -> Mapping[str, Json]:
        """What the key's organisation has left, what it spent this month, and its plan.

        Raises:
            AuthenticationFailed: The organisation was deleted.
            StoreUnavailable: They cannot be looked up.
        """
        note_use(self.parts, key)
        workspace = await workspace_of(self.parts, key.org)
        return await credits_report(self.parts.store, workspace, round(self.parts.clock.now() * 1000))

    async def _record(self, key: Key, response_id: str) -> Record:
        note_use(self.parts, key)
        return there(await self.parts.store.record(key.org, record_id(response_id)))

    async def ready(self) -> None:
        """Return if requests can be served.

        Raises:
            StoreUnavailable: The store cannot be reached.
        """
        await self.parts.store.ping()
