"""What the gateway needs from outside, in its own words. Every method may raise `StoreUnavailable`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.chat import SealedThinking
from core.decision import Policy
from core.kept import Claim, Held, Place
from core.record import Record
from core.reservation import Admission, Amount, Counters, Reservation, Standing
from core.tenant import Key, Organisation, OwnKey, Plan
from core.totals import By, Total
from core.workspace import Opinion, Workspace


class Timer(Protocol):
    """What was asked to happen later."""

    def cancel(self) -> None:
        """Let it not happen; too late, or a second time, this does nothing."""
        ...


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

    def call_at(self, moment: float, callback: Callable[[], object]) -> Timer:
        """Call back on the running loop, once `monotonic()` has reached `moment`; never before this returns."""
        ...


class Ledger(Protocol):
    """Request records. Ids and times are arguments; writes are atomic for one record."""

    async def open(self, record: Record) -> None:
        """Keep an open record. Does nothing when a record of that id is there already, open or settled."""
        ...

    async def renew(self, org: str, request_id: str, lease_until_ms: int) -> None:
        """Extend the lease of a record that is still open; otherwise do nothing."""
        ...

    async def mark(self, record: Record) -> None:
        """Note the attempts so far, one under way with what its host reported until now, on a record that is still
        open, but no lease; otherwise do nothing."""
        ...

    async def settle(self, record: Record) -> bool:
        """Make a record final, also when it was never opened, and count it in the totals with the same write.

        A record that was given up for lost may be settled once more, as what came of it after all.

        Returns:
            True if this call settled it, False if it was settled before: then nothing changes.
        """
        ...

    async def record(self, org: str, request_id: str) -> Record | None:
        """One record of that organisation, or None."""
        ...

    async def any_record(self, request_id: str) -> Record | None:
        """The record of that id, whichever organisation's it is, or None; for operators alone."""
        ...

    async def records(self, org: str, limit: int, before: str | None = None) -> Sequence[Record]:
        """The organisation's newest records, newest first.

        Args:
            org: The organisation.
            limit: The most that there may be.
            before: Only those that are older than the request of that id, which need not be there itself.
        """
        ...

    async def overdue(self, now_ms: int, limit: int) -> Sequence[Record]:
        """Open records whose lease has passed, oldest first."""
        ...


class Totals(Protocol):
    """What settled records add up to. It is kept for ever, and counts each record once."""

    async def totals(self, org: str, quarters: range, by: frozenset[By]) -> Sequence[Total]:
        """The organisation's totals of requests that came in within those quarters of an hour, in no order.

        Args:
            org: The organisation.
            quarters: Numbers of quarter hours since 1970, in steps of one.
            by: What they are told apart by; the rest is added up.
        """
        ...

    async def complete_until(self, org: str, now_ms: int) -> int | None:
        """Unix milliseconds before which every request that came in is counted, or None while that is not known."""
        ...

    async def catch_up(self, now_ms: int, limit: int) -> int:
        """Count settled records that should have been counted by now and were not, and take note of what is complete.

        Returns:
            How many there were, at most `limit`.
        """
        ...


class Limiter(Protocol):
    """Limits that concurrent requests cannot pass: what fits is taken in one step at all subjects, or nothing is."""

    async def reserve(self, reservation: Reservation, bounds: Mapping[str, Counters]) -> Admission:
        """Take what a reservation asks for where every counter stays within its bound; of counters without a bound
        anything is taken.

        A request that holds something already takes the difference, so that a repeat takes nothing, and what is asked
        for beforehand may be raised. Expired reservations of others count until somebody settles them.

        Args:
            reservation: What is held from then on, by subject.
            bounds: The most that each counter may come to, by subject.

        Returns:
            Whether it was taken. Of what refused, and of a subject that stands alone, the standing is told.
        """
        ...

    async def settle_reservation(
        self,
        reservation: Reservation,
        used: Amount,
        now_ms: int,
        *,
        lapsed: Mapping[str, Sequence[str]] | None = None,
        keep_until_ms: int = 0,
    ) -> bool:
        """Count what a request used in place of all that it holds, at every subject.

        Args:
            reservation: The request's; its amounts need not be the present ones.
            used: What it used.
            now_ms: Unix time in milliseconds.
            lapsed: Counters that nobody asks for any more, by subject; they are dropped with the same write.
            keep_until_ms: Until when a second settling may correct this one; 0 if it is final.

        Returns:
            False if nothing was held any more: then nothing changes.
        """
        ...

    async def standings(self, org: str, subjects: Sequence[str]) -> Mapping[str, Standing]:
        """Where these subjects of an organisation stand."""
        ...


class Directory(Protocol):
    """Organisations and keys."""

    async def key(self, digest: str) -> Key | None:
        """The key with that SHA-256, live or not, or None."""
        ...

    async def keys(self, org: str) -> Sequence[Key]:
        """The organisation's keys, oldest first."""
        ...

    async def save_key(self, key: Key, before: Key | None = None) -> bool:
        """Write a key in the place of the one with its digest; False and nothing if that is not `before`, if given."""
        ...

    async def organisation(self, org: str) -> Organisation | None:
        """The organisation, or None."""
        ...

    async def organisations(self) -> Sequence[Organisation]:
        """All organisations, by id."""
        ...

    async def save_organisation(self, organisation: Organisation) -> None:
        """Write an organisation; one with the same id is replaced, but for its credits: only payments change those."""
        ...

    async def workspace(self, org: str) -> Workspace | None:
        """Everything that the organisation has set up, or None where there is no such organisation."""
        ...

    async def delete_key(self, key: Key) -> None:
        """Forget a key; nothing happens where it is not there."""
        ...

    async def touch_key(self, digest: str, now_ms: int) -> None:
        """Note that a key was used; an earlier time than the one known, or an unknown key, changes nothing."""
        ...

    async def pay_in(self, org: str, payment: str, micros: int, now_ms: int) -> int | None:
        """Add a payment, in micro-dollars, to what an organisation paid in; a negative one takes back.

        Returns:
            None once it was added; else what the payment of that name came to before, 0 without such organisation.

        Raises:
            InvalidRequest: The credits would pass 2^63 - 1 micro-dollars on either side of 0; nothing was added.
        """
        ...

    async def save_policy(self, org: str, policy: Policy) -> None:
        """Write a policy of an organisation's; one with the same name is replaced."""
        ...

    async def delete_policy(self, org: str, name: str) -> None:
        """Forget a policy; nothing happens where it is not there."""
        ...

    async def save_own_key(self, own_key: OwnKey) -> None:
        """Write an organisation's own key at a vendor; the one before is replaced."""
        ...

    async def delete_own_key(self, org: str, vendor: str) -> None:
        """Forget an own key; nothing happens where it is not there."""
        ...

    async def save_catalog(self, org: str, toml: str | None) -> None:
        """Write the TOML of an organisation's own catalog; None takes it away."""
        ...

    async def plans(self) -> Sequence[Plan]:
        """All plans, by id: those stored, and those built in whose place none of them takes."""
        ...

    async def save_plan(self, plan: Plan) -> None:
        """Write a plan; one with the same id is replaced."""
        ...

    async def delete_plan(self, plan_id: str) -> None:
        """Forget a stored plan; nothing happens where it is not there."""
        ...

    async def delete_organisation(self, org: str) -> None:
        """Forget an organisation and everything that is kept of it, records and totals included.

        What a request under way writes afterwards stays; so does what was written while this failed. A second call
        takes that away too.
        """
        ...


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """What an assistant turn with tool calls leaves behind for the next request of its loop.

    `host` is the target's name. `signatures` and `upstream_ids` map our tool call ids to what the upstream gave.
    What the model thought lies in `sealed` while it is kept, bound to the calls that `sealed_for` names; `lost` tells
    that there was something which could not be kept or opened.
    """

    model: str
    host: str
    thinking: tuple[SealedThinking, ...] = ()
    reasoning: str | None = None
    signatures: Mapping[str, str] = field(default_factory=dict)
    upstream_ids: Mapping[str, str] = field(default_factory=dict)
    sealed: str | None = None
    sealed_for: tuple[str, ...] = ()
    lost: bool = False


class ToolMemory(Protocol):
    """Tool turns, found by organisation and the ids of their calls; kept for 24 hours."""

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        """Keep a turn under each of its calls' ids."""
        ...

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        """The turns that are known and not expired, by call id."""
        ...


class Sealer(Protocol):
    """Encrypts what may not be kept readable. It fails with `StoreUnavailable` alone."""

    async def seal(self, data: bytes, place: Place) -> str:
        """The value, encrypted and bound to its place, as ASCII text."""
        ...

    async def open(self, sealed: str, place: Place) -> bytes:
        """What was sealed for that place; what was changed, or sealed for another place, fails."""
        ...


class Answers(Protocol):
    """Answers under their callers' idempotency keys. They are handed over sealed."""

    async def begin(self, claim: Claim, now_ms: int) -> Held | None:
        """Take the key, unless it is taken: that is one atomic step.

        Returns:
            None if it is the claim's now; else what is there and has neither expired nor lost its lease.
        """
        ...

    async def finish(self, claim: Claim, answer: str | None) -> bool:
        """Keep the answer until the claim expires; None notes that it was too large.

        Returns:
            False if the key is not the claim's any more: then nothing changes.
        """
        ...

    async def fetch(self, claim: Claim, held: Held) -> str | None:
        """The sealed answer that `begin` told this claim of, or None where it is not there any more."""
        ...

    async def drop(self, claim: Claim) -> None:
        """Give the key up, if it is still the claim's and nothing is kept under it."""
        ...


class Opinions(Protocol):
    """What an organisation's callers say of the answers that they got."""

    async def rate(self, org: str, request_id: str, model: str, task: str, thousandths: int, now_ms: int) -> None:
        """Keep the score (0 to 1000) of an answer that a model gave at a task.

        Another score of the same request takes the place of the first, at the model and task of the first.
        """
        ...

    async def opinions(self, org: str) -> Mapping[tuple[str, str], Opinion]:
        """All that was said, by model and task; it outlives the decisions that it was said of."""
        ...


@dataclass(frozen=True, slots=True)
class HostNews:
    """What one process tells others of a host, or of a vendor's account.

    It is out of use until `cooling_until_ms` (Unix milliseconds, 0 for never), for the `cooldowns`-th time in a row.
    `ttft_ms` is its usual time to the first token, None where there is nothing new to tell.
    """

    cooling_until_ms: int = 0
    cooldowns: int = 0
    ttft_ms: int | None = None


class SharedHealth(Protocol):
    """What processes tell each other of hosts, by the names that health is kept under. Nobody waits for it."""

    async def tell_health(self, news: Mapping[str, HostNews], now_ms: int) -> None:
        """Keep news. Of two deadlines the later one holds, with its count; of two times the newest."""
        ...

    async def told_health(self, now_ms: int) -> Mapping[str, HostNews]:
        """What was told: deadlines that have not passed, and first-token times of the last hour."""
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


class Store(Ledger, Limiter, Totals, Directory, ToolMemory, Answers, Opinions, SharedHealth, Protocol):
    """Everything kept, in one place; opened and closed with the process."""

    async def ping(self) -> None:
        """Return if the store can be reached."""
        ...

    async def close(self) -> None:
        """Give up connections and threads; writes under way are finished."""
        ...
