"""A gateway over two hosts whose behaviour each request asks for, and what is told of its requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from core.ports import Store
from functions.gateway.finished import Finished, Observer
from tests.support.answers import HELLO, chunk
from tests.support.away import AwayStore
from tests.support.gateway import Running, running_gateway
from tests.support.script import Never, Received, Step, reply, stream
from tests.support.upstream import ScriptedUpstream
from tests.support.watching import Watched

CATALOG = """
[vendors.first]
format = "openai"
base_url = "{upstream}/first"
auth = "none"

[vendors.second]
format = "openai"
base_url = "{upstream}/second"
auth = "none"

[[models]]
id = "lab/small"
context_tokens = 8192
max_output_tokens = 2048

[[models.hosts]]
vendor = "first"
upstream_model = "small-first"
prices = {{ input = 3, output = 15 }}

[[models.hosts]]
vendor = "second"
upstream_model = "small-second"
prices = {{ input = 3, output = 15 }}
"""

URL = "/v1/chat/completions"
BROKEN = {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}}


def script(received: Received) -> Sequence[Step]:
    """Does what the end user's name asks for; only the first host of the two ever fails alone."""
    asked = received.json.get("user", "")
    if asked == "first fails" and received.path.startswith("/first"):
        return reply(BROKEN, 401)
    match asked:
        case "both fail":
            return reply(BROKEN, 401)
        case "wrong":
            return reply(BROKEN, 400)
        case "cut":
            return stream(chunk({"content": "Hello"}), done=False)
        case "silent":
            return [*stream(chunk({"content": "Hello"}), done=False), Never()]
        case _:
            return HELLO


@dataclass(frozen=True, slots=True)
class Stage:
    """The gateway, its upstream, its store, and what was told."""

    running: Running
    upstream: ScriptedUpstream
    store: AwayStore
    told: Watched

    async def ask(self, asked: str = "", headers: dict[str, str] | None = None, **members: Any) -> httpx.Response:
        """Ask for an answer, whole unless told otherwise."""
        body = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], "user": asked, **members}
        async with self.running.client(**(headers or {})) as client:
            return await client.post(URL, content=json.dumps(body))

    async def told_of(self, asked: str = "", **members: Any) -> tuple[httpx.Response, Finished]:
        """An answer, and what was told of its request."""
        return await self.ask(asked, **members), await self.told.next()

    async def leave(self) -> None:
        """Ask for a stream, and leave it at its first word."""
        body = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], "user": "silent"}
        async with (
            self.running.client() as client,
            client.stream("POST", URL, content=json.dumps({**body, "stream": True})) as response,
        ):
            async for line in response.aiter_lines():
                if "Hello" in line:
                    break
        await self.upstream.received[-1].disconnected.wait()


@asynccontextmanager
async def set_stage(
    folder: Path,
    variables: dict[str, str] | None = None,
    before: Sequence[Observer] = (),
    observers: Sequence[Observer] = (),
) -> AsyncIterator[Stage]:
    """Set it up. `before` are told before the stage's own observer, `observers` after it."""
    told, stores = Watched(), list[AwayStore]()

    def wrapped(store: Store) -> Any:
        stores.append(AwayStore(store))
        return stores[0]

    async with (
        ScriptedUpstream(script) as upstream,
        running_gateway(
            folder,
            upstream.url,
            catalog=CATALOG,
            variables=variables,
            replace_store=wrapped,
            observers=[*before, told, *observers],
        ) as running,
    ):
        yield Stage(running, upstream, stores[0], told)


async def together(*work: Any) -> list[Any]:
    """All of it at once."""
    return list(await asyncio.gather(*work))
