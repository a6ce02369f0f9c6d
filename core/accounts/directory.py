"""A memory in front of the directory, so that a request seldom waits for the store to know its caller.

It decides nothing: a revoked or expired key is remembered as such, and who asks looks. A key revoked elsewhere is still
taken for as long as answers are remembered.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from core.decision import Policy
from core.errors import StoreUnavailable
from core.ports import Clock, Directory
from core.tenant import Key, Organisation, OwnKey, Plan
from core.waiting import from_store
from core.workspace import Workspace

Value = TypeVar("Value")
Kept = TypeVar("Kept")

FOUND_S = 60.0
"""How long an answer is taken without asking again."""

MISSING_S = 5.0
"""The same for the answer that there is nothing, and the pause before a store that was away is asked again."""

STALE_S = 300.0
"""How old an answer may be when the store is away."""

_Moment: TypeAlias = tuple[float, float]


@dataclass(slots=True)
class _Answer(Generic[Value]):
    value: Value
    learnt: _Moment
    missed: _Moment | None = None  # when the store was last found away


class _Remembered(Generic[Value]):
    """Answers of one question, by name; at most `most` of each kind, the oldest go first."""

    def __init__(self, ask: Callable[[str], Coroutine[Any, Any, Value | None]], clock: Clock, most: int) -> None:
        self._ask = ask
        self._clock = clock
        self._most = most
        self._found: dict[str, _Answer[Value]] = {}
        self._missing: dict[str, _Moment] = {}
        self._asking: dict[str, asyncio.Task[Value | None]] = {}

    async def get(self, name: str) -> Value | None:
        answer = self._found.get(name)
        if answer is not None and self._suffices(answer):
            return answer.value
        missing = self._missing.get(name)
        if missing is not None and self._age(missing) < MISSING_S:
            return None
        try:
            return await self._shared(name)
        except StoreUnavailable:
            answer = self._found.get(name)
            if answer is None or self._age(answer.learnt) >= STALE_S:
                raise
            answer.missed = self._moment()
            return answer.value

    def forget(self, name: str | None = None) -> None:
        """Ask again next time, for all names if none is given; what is being asked at this moment is not remembered."""
        for kept in (self._found, self._missing, self._asking):
            if name is None:
                kept.clear()
            else:
                kept.pop(name, None)

    def amend(self, name: str, change: Callable[[Value], Value]) -> None:
        """Change what is remembered; nothing happens where nothing is."""
        answer = self._found.get(name)
        if answer is not None:
            answer.value = change(answer.value)

    def _suffices(self, answer: _Answer[Value]) -> bool:
        age = self._age(answer.learnt)
        if age < FOUND_S:
            return True
        return answer.missed is not None and self._age(answer.missed) < MISSING_S and age < STALE_S

    async def _shared(self, name: str) -> Value | None:
        task = self._asking.get(name)
        if task is None:
            task = asyncio.ensure_future(self._learn(name))
            self._asking[name] = task
            task.add_done_callback(lambda done: self._done(name, done))
        # One who leaves must not take the answer from the others.
        return await asyncio.shield(task)

    async def _learn(self, name: str) -> Value | None:
        value = await from_store(self._clock, self._ask(name))
        if self._asking.get(name) is asyncio.current_task():
            self.forget(name)
            if value is None:
                self._keep(self._missing, name, self._moment())
            else:
                self._keep(self._found, name, _Answer(value, self._moment()))
        return value

    def _done(self, name: str, task: "asyncio.Task[Value | None]") -> None:
        if self._asking.get(name) is task:
            del self._asking[name]
        if not task.cancelled():
            task.exception()  # it is known now, even if everyone who waited has left

    def _keep(self, kept: dict[str, Kept], name: str, what: Kept) -> None:
        if len(kept) >= self._most:
            del kept[next(iter(kept))]
        kept[name] = what

    def _moment(self) -> _Moment:
        return self._clock.now(), self._clock.monotonic()

    def _age(self, moment: _Moment) -> float:
        # A frozen process may find that one of the clocks stood still, so the older age counts.
        now, monotonic = self._moment()
        return max(now - moment[0], monotonic - moment[1])


class CachedDirectory:
    """A `Directory` that remembers keys, organisations and workspaces for a minute, what is missing for seconds.

    While the store is away or hangs, answers of up to five minutes are good enough. Callers who want to know the same
    at the same time share one call. Lists are not remembered; what is saved through here is forgotten at once.

    Args:
        directory: Where the answers come from.
        clock: Tells their age.
        most: How many of each kind are remembered.
    """

    def __init__(self, directory: Directory, clock: Clock, *, most: int = 10_000) -> None:
        self._directory = directory
        self._keys = _Remembered(directory.key, clock, most)
        self._organisations = _Remembered(directory.organisation, clock, most)
        self._workspaces = _Remembered(directory.workspace, clock, most)

    async def key(self, digest: str) -> Key | None:
        """The key with that SHA-256, live or not, or None."""
        return await self._keys.get(digest)

    async def keys(self, org: str) -> Sequence[Key]:
        """The organisation's keys, oldest first."""
        return await self._directory.keys(org)

    async def save_key(self, key: Key, before: Key | None = None) -> bool:
        """Write a key in the place of the one with its digest; see `Directory.save_key`."""
        with self._changing(self._keys, key.digest):
            return await self._directory.save_key(key, before)

    async def delete_key(self, key: Key) -> None:
        """Forget a key; nothing happens where it is not there."""
        with self._changing(self._keys, key.digest):
            await self._directory.delete_key(key)

    async def touch_key(self, digest: str, now_ms: int) -> None:
        """Note that a key was used. What is remembered of the key is changed first, so that this is asked for once."""
        self._keys.amend(digest, lambda key: replace(key, last_used_ms=max(now_ms, key.last_used_ms or 0)))
        await self._directory.touch_key(digest, now_ms)

    async def organisation(self, org: str) -> Organisation | None:
        """The organisation, or None."""
        return await self._organisations.get(org)

    async def organisations(self) -> Sequence[Organisation]:
        """All organisations, by id."""
        return await self._directory.organisations()

    async def save_organisation(self, organisation: Organisation) -> None:
        """Write an organisation; one with the same id is replaced, but for its credits: only payments change those."""
        with self._setting_up(organisation.id):
            await self._directory.save_organisation(organisation)

    async def workspace(self, org: str) -> Workspace | None:
        """Everything that the organisation has set up, or None where there is no such organisation."""
        return await self._workspaces.get(org)

    async def pay_in(self, org: str, payment: str, micros: int, now_ms: int) -> int | None:
        """Add a payment, once, to what an organisation paid in; see `Directory.pay_in`."""
        with self._setting_up(org):
            return await self._directory.pay_in(org, payment, micros, now_ms)

    async def save_policy(self, org: str, policy: Policy) -> None:
        """Write a policy of an organisation's; one with the same name is replaced."""
        with self._setting_up(org):
            await self._directory.save_policy(org, policy)

    async def delete_policy(self, org: str, name: str) -> None:
        """Forget a policy; nothing happens where it is not there."""
        with self._setting_up(org):
            await self._directory.delete_policy(org, name)

    async def save_own_key(self, own_key: OwnKey) -> None:
        """Write an organisation's own key at a vendor; the one before is replaced."""
        with self._setting_up(own_key.org):
            await self._directory.save_own_key(own_key)

    async def delete_own_key(self, org: str, vendor: str) -> None:
        """Forget an own key; nothing happens where it is not there."""
        with self._setting_up(org):
            await self._directory.delete_own_key(org, vendor)

    async def save_catalog(self, org: str, toml: str | None) -> None:
        """Write the TOML of an organisation's own catalog; None takes it away."""
        with self._setting_up(org):
            await self._directory.save_catalog(org, toml)

    async def plans(self) -> Sequence[Plan]:
        """All plans, by id: those stored, and those built in whose place none of them takes."""
        return await self._directory.plans()

    async def save_plan(self, plan: Plan) -> None:
        """Write a plan; one with the same id is replaced."""
        with self._changing(self._workspaces):
            await self._directory.save_plan(plan)

    async def delete_plan(self, plan_id: str) -> None:
        """Forget a stored plan; nothing happens where it is not there."""
        with self._changing(self._workspaces):
            await self._directory.delete_plan(plan_id)

    async def delete_organisation(self, org: str) -> None:
        """Forget an organisation and everything that is kept of it."""
        with self._changing(self._keys), self._setting_up(org):
            await self._directory.delete_organisation(org)

    @contextmanager
    def _setting_up(self, org: str) -> Iterator[None]:
        with self._changing(self._organisations, org), self._changing(self._workspaces, org):
            yield

    @contextmanager
    def _changing(self, remembered: _Remembered[Any], name: str | None = None) -> Iterator[None]:
        try:
            yield
        finally:  # a failed write may have been carried out
            remembered.forget(name)
