"""Stands in front of the application: names each request, and tells observers of it once its answer is out.

Both happen here, for whatever an endpoint or a failure does: no answer goes out without its request's id.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from core.ports import Clock, Journal
from core.surfaces.headers import answer_headers
from core.waiting import Background
from functions.gateway.finished import Finished, Observer
from functions.gateway.identity import REQUEST_ID, new_request_id

UNTOLD: Final = frozenset({"/", "/healthz", "/readyz", "/openapi.json", "/docs"})
"""Endpoints that probes and browsers ask for: observers hear of their failures alone."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ID: Final = b"x-request-id"


class Front:
    """The application as entry points see it.

    Args:
        app: The application.
        header_prefix: What our own headers begin with.
        clock: Time.
        journal: For observers' faults.
        background: Gives what keeps the telling; asked once the application serves.
        observers: Whom it tells; looked at anew for each request.
    """

    def __init__(
        self,
        app: FastAPI,
        header_prefix: str,
        clock: Clock,
        journal: Journal,
        background: Callable[[], Background],
        observers: Sequence[Observer],
    ) -> None:
        self.app = app
        self._paths: dict[object, str] = {
            route.endpoint: route.path for route in app.routes if isinstance(route, Route)
        }
        self._prefix = header_prefix
        self._clock = clock
        self._journal = journal
        self._background = background
        self.observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the lifespan."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # An entry point that speaks of the request itself has named it already.
        request_id: str = scope.get(REQUEST_ID) or new_request_id()
        # What the endpoint leaves there is read once the request is over.
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        started = self._clock.now() if self.observers else 0.0
        begun: list[Message] = []

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.append(message)
                if not any(name == _ID for name, _ in message["headers"]):
                    message["headers"] = [*message["headers"], *self._own(request_id)]
            await send(message)

        try:
            await self.app(scope, receive, named)
        finally:
            if self.observers:
                self._background().start(self._tell(scope, started, begun[0] if begun else None))

    def _own(self, request_id: str) -> Sequence[tuple[bytes, bytes]]:
        headers = answer_headers(self._prefix, request_id)
        return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]

    async def _tell(self, scope: Scope, started: float, head: Message | None) -> None:
        request = await self._finished(scope, started, self._clock.now(), head)
        if request.route in UNTOLD and request.error is None:
            return
        for observer in self.observers:
            try:
                observer.finished(request)
            except Exception as fault:
                self._journal.fault(request.request_id, fault)

    async def _finished(self, scope: Scope, started: float, ended: float, head: Message | None) -> Finished:
        state = scope["state"]
        exchange = state.get("exchange")
        outcome = None if exchange is None else await exchange.outcome()
        return Finished(
            request_id=state["request_id"],
            method=scope["method"] if scope["method"] in _METHODS else "_OTHER",
            route=self._paths.get(scope.get("endpoint")),
            status=None if head is None else head["status"],
            started=started,
            ended=ended,
            surface=state.get("surface"),
            org=state.get("org"),
            error=state.get("error") or (None if outcome is None else outcome.error),
            outcome=outcome,
            replay_of=_replayed(state["request_id"], head),
            traceparent=_traceparent(scope),
        )


def _replayed(request_id: str, head: Message | None) -> str | None:
    """Whose answer it was, where that was another request."""
    named = "" if head is None else next(value.decode("latin-1") for name, value in head["headers"] if name == _ID)
    return None if named in ("", request_id) else named


def _traceparent(scope: Scope) -> str | None:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"traceparent"), None)
