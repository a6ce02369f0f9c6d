"""A memory in front of the directory, so that a request seldom waits for the store to know its caller.

It decides nothing: a revoked or expired key is remembered as such, and who asks looks. A key revoked elsewhere is still
taken for as long as answers are remembered.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from core.errors import StoreUnavailable
from core.ports import Clock, Directory
from core.tenant import Key, Organisation

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

    def __init__(self, ask: Callable[[str], Awaitable[Value | None]], clock: Clock, most: int) -> None:
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

    def forget(self, name: str) -> None:
        """Ask again next time; what is being asked at this moment is not remembered."""
        self._found.pop(name, None)
        self._missing.pop(name, None)
        self._asking.pop(name, None)

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
        value = await self._ask(name)
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
    """A `Directory` that remembers keys and organisations for a minute, and that something is missing for seconds.

    While the store is away, answers of up to five minutes are good enough. Callers who want to know the same at the
    same time share one call. Lists are not remembered; what is saved through here is forgotten at once.

    Args:
        directory: Where the answers come from.
        clock: Tells their age.
        most: How many of each kind are remembered.
    """

    def __init__(self, directory: Directory, clock: Clock, *, most: int = 10_000) -> None:
        self._directory = directory
        self._keys = _Remembered(directory.key, clock, most)
        self._organisations = _Remembered(directory.organisation, clock, most)

    async def key(self, digest: str) -> Key | None:
        """The key with that SHA-256, live or not, or None."""
        return await self._keys.get(digest)

    async def keys(self, org: str) -> Sequence[Key]:
        """The organisation's keys, oldest first."""
        return await self._directory.keys(org)

    async def save_key(self, key: Key) -> None:
        """Write a key; one with the same digest is replaced."""
        try:
            await self._directory.save_key(key)
        finally:  # a failed write may have been carried out
            self._keys.forget(key.digest)

    async def organisation(self, org: str) -> Organisation | None:
        """The organisation, or None."""
        return await self._organisations.get(org)

    async def organisations(self) -> Sequence[Organisation]:
        """All organisations, by id."""
        return await self._directory.organisations()

    async def save_organisation(self, organisation: Organisation) -> None:
        """Write an organisation; one with the same id is replaced."""
        try:
            await self._directory.save_organisation(organisation)
        finally:
            self._organisations.forget(organisation.id)
