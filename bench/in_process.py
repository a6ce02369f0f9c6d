"""The whole gateway in this process, without a socket, a file or a thread: every byte of it is repeatable.

What a request costs here is what the gateway's own code costs: routes, reading, planning, the upstream call and its
codec, the answer, and the records as a store writes them. The network and the database cost more on top.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

import httpx
import orjson

from bench.streams import STREAMS, WHOLE
from core.accounts.keys import ENTROPY_BYTES, digest, hint, make_key
from core.ports import Clock, HostNews, Store, ToolTurn
from core.record import Record
from core.store import schema
from core.store.sqlite import SqliteStore
from core.tenant import Key, Organisation
from core.workspace import Workspace
from functions.gateway.compose import Gateway
from functions.gateway.openapi.decision import TASKS
from functions.settings import read_settings

NOW: Final = 1_790_000_000.0
PATH: Final = "/v1/chat/completions"
_ENTRY: Final = """
[vendors.{name}]
format = "{name}"
base_url = "http://127.0.0.1:9/{name}"
auth = "none"

[[models]]
id = "bench/{name}"
context_tokens = 2_000_000
max_output_tokens = 200_000
abilities = {{ tools = true, vision = true, json_mode = true }}

[models.quality]
{quality}

[[models.hosts]]
vendor = "{name}"
upstream_model = "m"
prices = {{ input = {price}, output = {price} }}
"""


class StillClock:
    """Time that stands still: nothing that waits for it ever goes on."""

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return 1_000.0

    async def sleep_until(self, moment: float) -> None:
        await asyncio.get_running_loop().create_future()

    def call_at(self, moment: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        handle = asyncio.get_running_loop().call_later(1e6, callback)
        handle.cancel()
        return handle


TOKEN: Final = make_key(bytes(range(ENTROPY_BYTES)))
ORGANISATION: Final = Organisation("default", "bench", round(NOW * 1000))
KEY: Final = Key(digest(TOKEN), "key-1", "default", "bench", hint(TOKEN), round(NOW * 1000), last_used_ms=2**42)


class QuietStore(SqliteStore):
    """One key of one organisation; records are written out as for a store, and thrown away."""

    def __init__(self) -> None:
        self._workspace = Workspace(ORGANISATION)

    async def key(self, digest: str) -> Key | None:
        return KEY

    async def workspace(self, org: str) -> Workspace | None:
        return self._workspace

    async def open(self, record: Record) -> None:
        schema.dumps(schema.record_item(record))

    async def mark(self, record: Record) -> None:
        schema.dumps(schema.record_item(record))

    async def settle(self, record: Record) -> bool:
        schema.dumps(schema.record_item(record))
        return True

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        schema.dumps(schema.tool_turn_item(turn))

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        return {}

    async def renew(self, org: str, request_id: str, lease_until_ms: int) -> None:
        pass

    async def tell_health(self, news: Mapping[str, HostNews], now_ms: int) -> None:
        pass

    async def told_health(self, now_ms: int) -> Mapping[str, HostNews]:
        return {}

    async def close(self) -> None:
        pass


class _Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            await asyncio.sleep(0)  # as a socket would: others run between two reads
            yield piece


class Upstream(httpx.AsyncBaseTransport):
    """Answers every call in a format with `pieces`, one read for each."""

    def __init__(self) -> None:
        self.pieces: dict[str, Sequence[bytes]] = {"openai": [WHOLE]}
        self.content_types = {"openai": "application/json"}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.split("/", 2)[1]
        headers = {"content-type": self.content_types[name]}
        return httpx.Response(200, headers=headers, stream=_Pieces(self.pieces[name]))

    def streams(self, name: str, chunks: int) -> None:
        """Answer calls in that format with a stream of so many chunks."""
        self.content_types[name], make = STREAMS[name]
        self.pieces[name] = make(chunks)

    def answers_whole(self) -> None:
        """Answer calls in the OpenAI format with a whole answer."""
        self.content_types["openai"], self.pieces["openai"] = "application/json", [WHOLE]


class InProcess:
    """The gateway, with a model of each wire format, and what is around it.

    Args:
        clock: Its time; it stands still unless given.
        transport: What answers its calls; `upstream` unless given.
        store: Where it keeps things, `ORGANISATION` and `KEY` among them; nowhere unless given.
        logs: Whether it writes a line for each request to the standard output, as it does when it serves.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        store: Store | None = None,
        logs: bool = False,
    ) -> None:
        self.upstream = Upstream()
        # The cheapest and best is what `auto` picks: whole answers come in the OpenAI format.
        entries = (
            _ENTRY.format(name=name, price=3 + place, quality=_quality(0.9 - place / 10))
            for place, name in enumerate(STREAMS)
        )
        self.gateway = Gateway(
            read_settings({"HEADRACE_LOG_LEVEL": "INFO" if logs else "ERROR"}),
            {},
            transport=lambda: transport or self.upstream,
            clock=clock or StillClock(),
            own_catalog=(("bench.toml", "".join(entries)),),
            wrap_store=lambda _: store or QuietStore(),
        )

    async def post(self, body: bytes) -> "Answer":
        """A chat completion, to its last byte and the settled record."""
        answer = Answer()
        await self.gateway.connect()
        await self.gateway.app(_scope(len(body)), _Caller(body), answer)
        await self.gateway.after_response()
        return answer


class Answer:
    """What a caller is sent. Only the sum of it is kept."""

    def __init__(self) -> None:
        self.status = 0
        self.size = 0
        self.writes = 0
        self.end = b""

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["body"]:
            self.size += len(message["body"])
            self.writes += 1
            self.end = message["body"]


class _Caller:
    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body

    async def __call__(self) -> dict[str, Any]:
        body, self._body = self._body, None
        if body is None:
            await asyncio.get_running_loop().create_future()
        return {"type": "http.request", "body": body, "more_body": False}


def _scope(size: int) -> dict[str, Any]:
    headers = {
        "host": "127.0.0.1",
        "authorization": f"Bearer {TOKEN}",
        "content-type": "application/json",
        "content-length": str(size),
        "user-agent": "bench",
    }
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": PATH,
        "raw_path": PATH.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


def _quality(value: float) -> str:
    line = '{task} = {{ value = {value:.1f}, source = "made", date = "2026-12-01" }}'
    return "\n".join(line.format(task=task, value=value) for task in TASKS)


def request_body(text: str = "How far is the moon?", *, model: str = "bench/openai", **members: Any) -> bytes:
    """A request as an SDK writes it; `messages` may take the text's place."""
    return orjson.dumps({"model": model, "messages": [{"role": "user", "content": text}], **members})
