"""Gateways of a few lines, so that what runs them can be tested without one of the size of ours."""

from collections.abc import Awaitable, Callable

from mangum.types import ASGI, Receive, Scope, Send


async def nothing() -> None:
    pass


class SmallGateway:
    """An app, and a journal of what was asked of it.

    Args:
        app: The ASGI app.
        connecting: Runs in `connect()`.
        afterwards: Runs in `after_response()`.
        closing: Runs in `close()`.
    """

    def __init__(
        self,
        app: ASGI,
        *,
        connecting: Callable[[], Awaitable[None]] = nothing,
        afterwards: Callable[[], Awaitable[None]] = nothing,
        closing: Callable[[], Awaitable[None]] = nothing,
    ) -> None:
        self.app = app
        self.header_prefix = "X-Inferbase-"
        self.journal: list[str] = []
        self._steps = {"connect": connecting, "after_response": afterwards, "close": closing}

    async def connect(self) -> None:
        await self._step("connect")

    async def after_response(self) -> None:
        await self._step("after_response")

    async def close(self) -> None:
        await self._step("close")

    async def _step(self, name: str) -> None:
        self.journal.append(name)
        await self._steps[name]()


def for_requests(app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> ASGI:
    """A bare app that knows nothing of a lifespan."""

    async def only_http(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError("HTTP only")
        await app(scope, receive, send)

    return only_http


async def begin(send: Send, *headers: tuple[str, str], status: int = 200) -> None:
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def part(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def end(send: Send, data: bytes = b"") -> None:
    await send({"type": "http.response.body", "body": data, "more_body": False})
