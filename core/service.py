"""The gateway's use cases: who calls, which models there are, what was decided, a completion from end to end."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.accounts.keys import digest, is_well_formed
from core.catalog.model import Model
from core.chat import Json
from core.errors import AuthenticationFailed, NotFound
from core.exchange import Exchange
from core.parts import Parts
from core.prepare import prepare, unknown_model
from core.record import Record
from core.surfaces.decision import listed_decision, recorded_decision, routing_object
from core.surfaces.openai_chat import usage_object
from core.surfaces.surface import Surface, canonical_request_id
from core.tenant import Key

_REQUEST_ID: Final = re.compile(r"req-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that a front end calls; `parts` is what requests are served with."""

    parts: Parts

    async def authenticate(self, token: str | None) -> Key:
        """The live key behind a token.

        Raises:
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
        return key

    def chat(self, surface: Surface, key: Key, request_id: str, body: bytes, ends_at: float | None = None) -> Exchange:
        """A chat completion, not yet started.

        Args:
            surface: Where it came in.
            key: Who asks.
            request_id: `req-` and 32 hex digits.
            body: The request body as it came.
            ends_at: Unix time in seconds by which all must be over (the platform's own limit), or None.
        """
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
        decision = (await prepare(self.parts, surface, key, body, None)).decision
        return routing_object(request_id, int(created), decision, model=decision.pick, full=full)

    async def decisions(self, key: Key, limit: int) -> Mapping[str, Json]:
        """The newest decisions of the key's organisation, newest first.

        Raises:
            StoreUnavailable: They cannot be looked up.
        """
        records = await self.parts.store.records(key.org, limit + 1)
        data = [listed_decision(record, _usage(record)) for record in records[:limit]]
        return {"object": "list", "data": data, "has_more": len(records) > limit}

    async def decision(self, key: Key, response_id: str) -> Mapping[str, Json]:
        """A decision of the key's organisation, with everything that came of it; by either form of its id.

        Raises:
            NotFound: There is none of that id, or it is another organisation's.
            StoreUnavailable: It cannot be looked up.
        """
        request_id = canonical_request_id(response_id)
        is_id = _REQUEST_ID.fullmatch(request_id) is not None
        record = await self.parts.store.record(key.org, request_id) if is_id else None
        if record is None:
            raise NotFound(
                "There is no decision of that id. GET /routing-decisions lists the newest.", code="decision_not_found"
            )
        return recorded_decision(record, _usage(record))

    def models(self, key: Key | None) -> Sequence[Model]:
        """The models that a key may use; the public catalog without one."""
        models = self.parts.catalog.models
        if key is None or key.models is None:
            return models
        return [model for model in models if model.id in key.models]

    def model(self, key: Key | None, name: str) -> Model:
        """The model of that id or alias.

        Raises:
            NotFound: There is none that the key may use; near matches are named.
        """
        allowed = self.models(key)
        model = self.parts.catalog.find(name)
        if model is None or model not in allowed:
            raise unknown_model(self.parts.catalog, name, allowed)
        return model

    async def ready(self) -> None:
        """Return if requests can be served.

        Raises:
            StoreUnavailable: The store cannot be reached.
        """
        await self.parts.store.ping()


def _usage(record: Record) -> Mapping[str, Json] | None:
    """The usage of a request, once it is settled."""
    if not record.is_settled:
        return None
    return usage_object(
        record.usage,
        record.charge,
        latency_ms=record.latency_ms or 0,
        ttft_ms=record.ttft_ms,
        truncated=record.decision.get("truncated"),
    )
