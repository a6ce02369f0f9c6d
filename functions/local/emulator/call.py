"""One invocation as Lambda sees it: what came back for it, when, and what shall go wrong with it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["answered", "broken off", "failed", "lost", "timed out", "refused"]
"""How an invocation ended: `broken off` by the function itself, with trailers; `failed` before its first byte; `lost`
with the connection or the process; `timed out` or `refused` by Lambda."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the body, and when it came, in monotonic seconds."""

    data: bytes
    at: float


class Pulse:
    """Wakes everybody who waits for something to become true."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def beat(self) -> None:
        """Something has changed."""
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, true: Callable[[], bool]) -> None:
        """Return once it is true; looked at with every beat."""
        while not true():
            await self._event.wait()


@dataclass(eq=False, slots=True)
class Call:
    """One invocation, seen from Lambda's side.

    Args:
        request_id: Lambda's id; a retry may repeat it.
        event: What the function gets.
        deadline: When its time is up, in Unix seconds.
        invocation_id: What must be echoed; None where Lambda sent none.
        trace_id: X-Ray's header, or None.
        pulse: Beats with whatever happens.
        prelude: Status and headers, once they are there.
        trailers: What ended the body, if anything did.
        error: The document of `/error`, with `error_type` beside it.
        buffered: The body of a response that was not streamed.
        refuse_with: A fault: the status that refuses the response after `refuse_after` chunks.
        cut_after: A fault: the connection is cut after so many chunks.
        stall_after: A fault: nothing is read after so many chunks.
        acknowledge: Cleared, it holds the acknowledgement of the response back.
        gave_up: Set when Lambda has given the invocation up.
        began: Whether a `/next` has got it.
        unclosed: Whether the response is whole and its connection still open.
    """

    request_id: str
    event: bytes
    deadline: float
    invocation_id: str | None
    trace_id: str | None
    pulse: Pulse
    chunks: list[Chunk] = field(default_factory=list)
    prelude: dict[str, Any] | None = None
    trailers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    error_type: str | None = None
    outcome: Outcome | None = None
    answered_at: float = 0.0
    buffered: bytes | None = None
    refuse_with: int | None = None
    refuse_after: int = 0
    cut_after: int | None = None
    stall_after: int | None = None
    acknowledge: asyncio.Event = field(default_factory=asyncio.Event)
    gave_up: asyncio.Event = field(default_factory=asyncio.Event)
    began: bool = False
    unclosed: bool = False

    def __post_init__(self) -> None:
        self.acknowledge.set()

    @property
    def body(self) -> bytes:
        """What has come of the body."""
        return b"".join(chunk.data for chunk in self.chunks)

    @property
    def headers(self) -> dict[str, str]:
        """The prelude's headers, once it is there."""
        assert self.prelude is not None
        headers: dict[str, str] = self.prelude["headers"]
        return headers

    async def head(self) -> dict[str, Any] | None:
        """The prelude as soon as it is there; None if the call ends without one."""
        await self.pulse.until(lambda: self.prelude is not None or self.outcome is not None)
        return self.prelude

    async def parts(self) -> AsyncIterator[bytes]:
        """The body as it comes, until the call has ended in whatever way."""
        seen = 0
        while await self._more_than(seen):
            new, seen = self.chunks[seen:], len(self.chunks)
            yield b"".join(chunk.data for chunk in new)

    async def _more_than(self, count: int) -> bool:
        await self.pulse.until(lambda: len(self.chunks) > count or self.outcome is not None)
        return len(self.chunks) > count

    async def has_chunks(self, count: int) -> None:
        """Until so many chunks have come; fails if they never do."""
        await self.pulse.until(lambda: len(self.chunks) >= count or self.outcome is not None)
        assert len(self.chunks) >= count, f"only {len(self.chunks)} chunks, then {self.outcome}"

    async def has_body(self, part: bytes) -> None:
        """Until this part of the body has come; fails if it never does."""
        await self.pulse.until(lambda: part in self.body or self.outcome is not None)
        assert part in self.body, f"{self.body!r}, then {self.outcome}"

    async def done(self) -> "Call":
        """The call itself, once it has ended."""
        await self.pulse.until(lambda: self.outcome is not None)
        return self

    def time_out(self) -> None:
        """The function's timeout: whatever is sent for this invocation from now on is answered with 410."""
        self.end("timed out")
        self.gave_up.set()

    def end(self, outcome: Outcome) -> None:
        """Say how it ended; the first word on it holds."""
        if self.outcome is None:
            self.outcome = outcome
            self.answered_at = time.monotonic()
        self.pulse.beat()
