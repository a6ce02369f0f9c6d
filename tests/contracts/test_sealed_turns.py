"""What the sealed memory promises over both stores: turns come back whole, and nobody reads them in between."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from core.errors import StoreUnavailable
from core.kept import Place
from core.ports import Sealer, Store, ToolTurn
from core.sealed_turns import SealedTurns
from core.sealing.local import LocalSealer
from tests.contracts.values import NOW_MS, TOOL_TURN, tool_turns

DAY_MS = 86_400_000
BARE = replace(TOOL_TURN, thinking=(), reasoning=None, signatures={})
LOST = replace(BARE, lost=True)

kept_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


class Broken:
    """A sealer whose key cannot be reached."""

    async def seal(self, data: bytes, place: Place) -> str:
        raise StoreUnavailable

    async def open(self, sealed: str, place: Place) -> bytes:
        raise StoreUnavailable


@pytest.fixture
def sealer(tmp_path: Path) -> LocalSealer:
    return LocalSealer(tmp_path / "seal.key")


@kept_store
@given(turn=tool_turns.map(lambda turn: replace(turn, sealed=None, sealed_for=(), lost=False)))
async def test_every_member_of_a_turn_comes_back(store: Store, sealer: Sealer, turn: ToolTurn) -> None:
    memory = SealedTurns(store, sealer)
    await memory.remember("acme", ["call_1", "call_2"], turn, NOW_MS)
    found = await SealedTurns(store, sealer).recall("acme", ["call_2", "call_1", "call_3"], NOW_MS)
    assert found == {"call_1": turn, "call_2": turn}


async def test_the_store_holds_nothing_that_was_thought(store: Store, sealer: Sealer) -> None:
    await SealedTurns(store, sealer).remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    (kept,) = (await store.recall("acme", ["call_1"], NOW_MS)).values()
    assert replace(kept, sealed=None, sealed_for=()) == BARE
    assert kept.sealed is not None
    for secret in ("Let me see", "c2lnbmVk", "aGlkZGVu", "eA==", "c2VhbA=="):
        assert secret not in repr(kept)


async def test_a_turn_without_thinking_is_kept_as_it_is(store: Store) -> None:
    await SealedTurns(store, None).remember("acme", ["call_1"], BARE, NOW_MS)
    assert await store.recall("acme", ["call_1"], NOW_MS) == {"call_1": BARE}


async def test_what_an_older_version_kept_readable_is_still_read(store: Store, sealer: Sealer) -> None:
    await store.remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    assert await SealedTurns(store, sealer).recall("acme", ["call_1"], NOW_MS) == {"call_1": TOOL_TURN}


@pytest.mark.parametrize("broken", [None, Broken()])
async def test_without_a_key_the_turn_is_kept_without_its_thinking_and_says_so(
    store: Store, sealer: Sealer, broken: Sealer | None
) -> None:
    memory = SealedTurns(store, broken)
    await memory.remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    assert await store.recall("acme", ["call_1"], NOW_MS) == {"call_1": LOST}
    await SealedTurns(store, sealer).remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    assert await memory.recall("acme", ["call_1"], NOW_MS) == {"call_1": LOST}


async def test_a_sealed_turn_opens_under_no_other_call_or_organisation(store: Store, sealer: Sealer) -> None:
    memory = SealedTurns(store, sealer)
    await memory.remember("acme", ["call_1", "call_2"], TOOL_TURN, NOW_MS)
    (kept, _) = (await store.recall("acme", ["call_1", "call_2"], NOW_MS)).values()
    await store.remember("zeta", ["call_1"], kept, NOW_MS)
    await store.remember("acme", ["call_8"], kept, NOW_MS)
    await store.remember("acme", ["call_9"], replace(kept, sealed_for=("call_9",)), NOW_MS)
    assert await memory.recall("zeta", ["call_1"], NOW_MS) == {"call_1": LOST}
    assert await memory.recall("acme", ["call_8", "call_9"], NOW_MS) == {"call_8": LOST, "call_9": LOST}


async def test_it_is_kept_for_a_day(store: Store, sealer: Sealer) -> None:
    memory = SealedTurns(store, sealer)
    await memory.remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    assert await memory.recall("acme", ["call_1"], NOW_MS + DAY_MS - 1) == {"call_1": TOOL_TURN}
    assert await memory.recall("acme", ["call_1"], NOW_MS + DAY_MS) == {}
