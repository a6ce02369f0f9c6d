"""One invocation as Lambda sees it: what came back for it, when, and what shall go wrong with it."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["answered", "broken off", "failed", "lost", "timed out", "refused"]


@dataclass(frozen=True, slots=True)
class Chunk:
    data: bytes
    at: float


class Pulse:
    """Wakes everybody who waits for something to become true."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def beat(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, true: Callable[[], bool]) -> None:
        while not true():
            await self._event.wait()


@dataclass(eq=False, slots=True)
class Call:
    """One invocation, seen from Lambda's side."""

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

    def __post_init__(self) -> None:
        self.acknowledge.set()

    @property
    def body(self) -> bytes:
        return b"".join(chunk.data for chunk in self.chunks)

    @property
    def headers(self) -> dict[str, str]:
        assert self.prelude is not None
        headers: dict[str, str] = self.prelude["headers"]
        return headers

    async def has_chunks(self, count: int) -> None:
        await self.pulse.until(lambda: len(self.chunks) >= count or self.outcome is not None)
        assert len(self.chunks) >= count, f"only {len(self.chunks)} chunks, then {self.outcome}"

    async def has_body(self, part: bytes) -> None:
        await self.pulse.until(lambda: part in self.body or self.outcome is not None)
        assert part in self.body, f"{self.body!r}, then {self.outcome}"

    async def done(self) -> "Call":
        await self.pulse.until(lambda: self.outcome is not None)
        return self

    def time_out(self) -> None:
        """The function's timeout: whatever is sent for this invocation from now on is answered with 410."""
        self.end("timed out")
        self.gave_up.set()

    def end(self, outcome: Outcome) -> None:
        if self.outcome is None:
            self.outcome = outcome
            self.answered_at = time.monotonic()
        self.pulse.beat()
