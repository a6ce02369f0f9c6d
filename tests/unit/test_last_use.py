"""When a key was last used is noted once an hour, and a store that is away costs nobody anything."""

from dataclasses import replace
from typing import Any, cast

import pytest

from core.accounts.directory import CachedDirectory
from core.errors import StoreUnavailable
from core.last_use import USED_MS, note_use
from core.parts import Parts
from core.tenant import Key
from core.waiting import Background
from tests.contracts.values import key
from tests.support.clock import ManualClock
from tests.support.memory_directory import MemoryDirectory


class Counting(MemoryDirectory):
    touched = 0
    away = False

    async def touch_key(self, digest: str, now_ms: int) -> None:
        self.touched += 1
        if self.away:
            raise StoreUnavailable
        await super().touch_key(digest, now_ms)


class FewParts:
    """As much of the parts as is needed."""

    def __init__(self) -> None:
        self.kept = Counting(key(1))
        self.clock = ManualClock()
        self.directory = CachedDirectory(self.kept, self.clock)
        self.background = Background()

    async def used(self, used: Key | None = None) -> None:
        note_use(cast("Parts", cast("Any", self)), used or key(1))
        await self.background.idle()


@pytest.fixture
def parts() -> FewParts:
    return FewParts()


async def test_a_use_is_noted_once_an_hour(parts: FewParts) -> None:
    for _ in range(3):
        await parts.used()
    assert parts.kept.touched == 1
    noted = await parts.directory.key(key(1).digest)
    assert noted is not None
    await parts.used(noted)
    await parts.clock.advance(USED_MS / 1000)
    await parts.used(noted)
    assert parts.kept.touched == 2


async def test_a_key_that_is_gone_is_let_be(parts: FewParts) -> None:
    await parts.used(replace(key(2)))
    assert parts.kept.touched == 0


async def test_a_store_that_is_away_is_no_fault(parts: FewParts) -> None:
    parts.kept.away = True
    await parts.used()
    assert parts.kept.touched == 1
