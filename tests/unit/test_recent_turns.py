"""The tool turns that are known without asking the store."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.chat import SealedThinking
from core.errors import StoreUnavailable
from core.ports import ToolTurn
from core.recent_turns import MOST_CHARACTERS, RECALLED_MS, REMEMBERED_MS, RecentTurns

NOW_MS = 1_790_000_000_000
TURN = ToolTurn("large", "vendor/large", (SealedThinking("hm", "sig"), SealedThinking(redacted="x")), "hm", {"a": "s"})


class Kept:
    """A memory that counts its look-ups."""

    def __init__(self) -> None:
        self.turns: dict[tuple[str, str], ToolTurn] = {}
        self.asked: list[list[str]] = []
        self.is_away = False

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        if self.is_away:
            raise StoreUnavailable
        self.turns |= {(org, call_id): turn for call_id in call_ids}

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        self.asked.append(list(call_ids))
        if self.is_away:
            raise StoreUnavailable
        return {call_id: self.turns[org, call_id] for call_id in call_ids if (org, call_id) in self.turns}


async def test_what_was_made_here_is_not_looked_up_for_a_day() -> None:
    kept = Kept()
    memory = RecentTurns(kept)
    await memory.remember("acme", ["call_1", "call_2"], TURN, NOW_MS)
    assert await memory.recall("acme", ["call_2", "call_1"], NOW_MS + REMEMBERED_MS - 1) == {
        "call_1": TURN,
        "call_2": TURN,
    }
    assert kept.asked == []
    kept.turns.clear()
    assert await memory.recall("acme", ["call_1"], NOW_MS + REMEMBERED_MS) == {}


async def test_all_others_are_looked_up_at_once_and_then_known_for_a_while() -> None:
    kept = Kept()
    await RecentTurns(kept).remember("acme", ["call_1", "call_2"], TURN, NOW_MS)
    memory = RecentTurns(kept)
    await memory.remember("acme", ["call_3"], TURN, NOW_MS)
    ids = ["call_1", "call_2", "call_3", "call_4", "call_4"]
    everything = dict.fromkeys(["call_1", "call_2", "call_3"], TURN)
    assert await memory.recall("acme", ids, NOW_MS) == everything
    assert await memory.recall("acme", ids[:3], NOW_MS + RECALLED_MS - 1) == everything
    assert kept.asked == [["call_1", "call_2", "call_4"]]
    await memory.recall("acme", ["call_1"], NOW_MS + RECALLED_MS)
    assert kept.asked[1:] == [["call_1"]]


async def test_another_organisation_knows_nothing_of_it() -> None:
    memory = RecentTurns(Kept())
    await memory.remember("acme", ["call_1"], TURN, NOW_MS)
    assert await memory.recall("zeta", ["call_1"], NOW_MS) == {}


async def test_a_store_that_is_away_is_told_and_what_it_did_not_keep_is_not_known_here_either() -> None:
    kept = Kept()
    memory = RecentTurns(kept)
    await memory.remember("acme", ["call_1"], TURN, NOW_MS)
    kept.is_away = True
    with pytest.raises(StoreUnavailable):
        await memory.remember("acme", ["call_2"], TURN, NOW_MS)
    assert await memory.recall("acme", ["call_1"], NOW_MS) == {"call_1": TURN}
    with pytest.raises(StoreUnavailable):
        await memory.recall("acme", ["call_1", "call_2"], NOW_MS)
    kept.is_away = False
    assert await memory.recall("acme", ["call_2"], NOW_MS) == {}


async def test_the_least_recently_used_go_first() -> None:
    kept = Kept()
    memory = RecentTurns(kept, most=2)
    await memory.remember("acme", ["call_1"], TURN, NOW_MS)
    await memory.remember("acme", ["call_2"], TURN, NOW_MS)
    await memory.recall("acme", ["call_1"], NOW_MS)
    await memory.remember("acme", ["call_3"], TURN, NOW_MS)
    kept.turns.clear()
    assert [*await memory.recall("acme", ["call_1", "call_2", "call_3"], NOW_MS)] == ["call_1", "call_3"]


@pytest.mark.parametrize(
    "turn",
    [
        ToolTurn("m", "h", (SealedThinking(text="x" * 100),)),
        ToolTurn("m", "h", (SealedThinking(signature="x" * 100),)),
        ToolTurn("m", "h", (SealedThinking(redacted="x" * 100),)),
        ToolTurn("m", "h", (SealedThinking(detail={"data": "x" * 100}),)),
        ToolTurn("m", "h", reasoning="x" * 100),
        ToolTurn("m", "h", signatures={"call_1": "x" * 100}),
    ],
)
async def test_long_thinking_is_not_piled_up(turn: ToolTurn) -> None:
    kept = Kept()
    memory = RecentTurns(kept, most_characters=250)
    for number in range(3):
        await memory.remember("acme", [f"call_{number}"], turn, NOW_MS)
    assert {*await memory.recall("acme", ["call_0", "call_1", "call_2"], NOW_MS)} == {"call_0", "call_1", "call_2"}
    assert kept.asked == [["call_0"]]


async def test_a_turn_that_is_too_long_by_itself_is_looked_up() -> None:
    kept = Kept()
    memory = RecentTurns(kept)
    turn = replace(TURN, reasoning="x" * (MOST_CHARACTERS + 1))
    await memory.remember("acme", ["call_1"], turn, NOW_MS)
    assert await memory.recall("acme", ["call_1"], NOW_MS) == {"call_1": turn}
    assert kept.asked == [["call_1"]]


async def test_remembering_again_does_not_count_twice() -> None:
    kept = Kept()
    memory = RecentTurns(kept, most_characters=250)
    for _ in range(5):
        await memory.remember("acme", ["call_1"], ToolTurn("m", "h", reasoning="x" * 100), NOW_MS)
    await memory.remember("acme", ["call_2"], ToolTurn("m", "h", reasoning="x" * 100), NOW_MS)
    assert {*await memory.recall("acme", ["call_1", "call_2"], NOW_MS)} == {"call_1", "call_2"}
    assert kept.asked == []
