"""What the gateway needs from outside, in its own words. Every method may raise `StoreUnavailable`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.chat import SealedThinking
from core.record import Record
from core.tenant import Key, Organisation


class Clock(Protocol):
    """Time. The only way to wait."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""
        ...

    async def sleep_until(self, moment: float) -> None:
        """Return once `monotonic()` has reached `moment`; at once if it has."""
        ...


class Ledger(Protocol):
    """Request records. Ids and times are arguments; writes are atomic for one record."""

    async def open(self, record: Record) -> None:
        """Keep an open record. Does nothing when a record of that id is there already, open or settled."""
        ...

    async def renew(self, org: str, request_id: str, lease_until_ms: int) -> None:
        """Extend the lease of a record that is still open; otherwise do nothing."""
        ...

    async def settle(self, record: Record) -> bool:
        """Make a record final, also when it was never opened.

        Returns:
            True if this call settled it, False if it was settled before: then nothing changes.
        """
        ...

    async def record(self, org: str, request_id: str) -> Record | None:
        """One record of that organisation, or None."""
        ...

    async def records(self, org: str, limit: int) -> Sequence[Record]:
        """The organisation's newest records, newest first."""
        ...

    async def overdue(self, now_ms: int, limit: int) -> Sequence[Record]:
        """Open records whose lease has passed, oldest first."""
        ...


class Directory(Protocol):
    """Organisations and keys."""

    async def key(self, digest: str) -> Key | None:
        """The key with that SHA-256, live or not, or None."""
        ...

    async def keys(self, org: str) -> Sequence[Key]:
        """The organisation's keys, oldest first."""
        ...

    async def save_key(self, key: Key) -> None:
        """Write a key; one with the same digest is replaced."""
        ...

    async def organisation(self, org: str) -> Organisation | None:
        """The organisation, or None."""
        ...

    async def organisations(self) -> Sequence[Organisation]:
        """All organisations, by id."""
        ...

    async def save_organisation(self, organisation: Organisation) -> None:
        """Write an organisation; one with the same id is replaced."""
        ...


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """What an assistant turn with tool calls leaves behind for the next request of its loop.

    `host` is the target's name. `signatures` and `upstream_ids` map our tool call ids to what the upstream gave.
    """

    model: str
    host: str
    thinking: tuple[SealedThinking, ...] = ()
    reasoning: str | None = None
    signatures: Mapping[str, str] = field(default_factory=dict)
    upstream_ids: Mapping[str, str] = field(default_factory=dict)


class ToolMemory(Protocol):
    """Tool turns, found by organisation and the ids of their calls; kept for 24 hours."""

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        """Keep a turn under each of its calls' ids."""
        ...

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        """The turns that are known and not expired, by call id."""
        ...


class Journal(Protocol):
    """Where operators read what went wrong. It never fails, and never holds a prompt, an answer or a key."""

    def spill(self, record: Record) -> None:
        """Keep a record that the store did not take, so that it can be read back later."""
        ...

    def attempt_failed(self, request_id: str, host: str, detail: str) -> None:
        """Note what an upstream said when it failed."""
        ...

    def drained(self, host: str, input_tokens: int | None, output_tokens: int | None) -> None:
        """Note what an abandoned call cost us and nobody else; None where its host never told."""
        ...

    def fault(self, request_id: str, error: BaseException) -> None:
        """Note a fault of our own, with its stack."""
        ...


class Store(Ledger, Directory, ToolMemory, Protocol):
    """Everything kept, in one place; opened and closed with the process."""

    async def ping(self) -> None:
        """Return if the store can be reached."""
        ...

    async def close(self) -> None:
        """Give up connections and threads; writes under way are finished."""
        ...
