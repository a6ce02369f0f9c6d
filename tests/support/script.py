"""The steps of a scripted upstream's answers, and the signals that tests and scripts exchange."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

PATIENCE_S = 10.0


class Signal:
    """Something that happens once; any thread may set it, any event loop or thread may wait."""

    def __init__(self) -> None:
        self._future: Future[None] = Future()

    def set(self) -> None:
        """It has happened; a second time changes nothing."""
        with suppress(InvalidStateError):
            self._future.set_result(None)

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._future.done()

    async def wait(self, patience_s: float | None = PATIENCE_S) -> None:
        """Waits in any event loop; None waits for ever.

        Raises:
            TimeoutError: It did not happen in time.
        """
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._future)), patience_s)

    def wait_in_thread(self) -> None:
        """Waits as `wait` does, where there is no event loop."""
        self._future.result(PATIENCE_S)


@dataclass(frozen=True, slots=True)
class Barrier:
    """A place in a script: `reached` when the script is there, goes on when `released`."""

    reached: Signal = field(default_factory=Signal)
    released: Signal = field(default_factory=Signal)


@dataclass(frozen=True, slots=True)
class Head:
    """Status line and headers; `length` is the declared one, by default the true one."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    framing: Literal["chunked", "length", "close"] = "chunked"
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """A part of the body, in one write (and one HTTP chunk)."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Trickle:
    """A part of the body, byte by byte."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are, outside the framing of the body."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Halts until the named barrier is released or the event is set."""

    on: str | asyncio.Event


@dataclass(frozen=True, slots=True)
class Close:
    """Ends the connection without ending the body; what was sent still arrives."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Resets the connection; what was sent may be lost."""


@dataclass(frozen=True, slots=True)
class Never:
    """Sends nothing more; lasts until the peer leaves."""


Step: TypeAlias = Head | Send | Trickle | Raw | Wait | Close | Reset | Never


@dataclass(frozen=True, slots=True)
class Received:
    """One request; header names are in lower case, `path` has the query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    disconnected: Signal
    answered: Signal = field(default_factory=Signal)

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


Script: TypeAlias = Sequence[Step] | Callable[[Received], Sequence[Step]]


def reply(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> list[Step]:
    """The script of a whole JSON answer."""
    head = {"content-type": "application/json", **(headers or {})}
    return [Head(status, head, "length"), Send(json.dumps(body).encode())]


def stream(*payloads: object, done: bool = True, wait: str | None = None) -> list[Step]:
    """The script of an SSE answer, one write per payload; `wait` halts before the last one."""
    events: list[Step] = [Send(f"data: {json.dumps(p)}\n\n".encode()) for p in payloads]
    if wait is not None:
        events.insert(-1, Wait(wait))
    end = [Send(b"data: [DONE]\n\n")] if done else []
    return [Head(200, {"content-type": "text/event-stream; charset=utf-8"}), *events, *end]
