"""What both stores promise about tool turns."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from core.ports import Store, ToolTurn
from tests.contracts.values import NOW_MS, TOOL_TURN, tool_turns

DAY_MS = 86_400_000

kept_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


async def test_a_turn_is_found_by_each_of_its_calls(store: Store) -> None:
    await store.remember("acme", ["call_1", "call_2"], TOOL_TURN, NOW_MS)
    found = await store.recall("acme", ["call_2", "call_3", "call_1"], NOW_MS + 1)
    assert found == {"call_1": TOOL_TURN, "call_2": TOOL_TURN}


async def test_another_organisation_does_not_find_it(store: Store) -> None:
    await store.remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    assert await store.recall("other", ["call_1"], NOW_MS) == {}


async def test_organisation_and_call_are_not_run_together(store: Store) -> None:
    await store.remember("acme#east", ["call_1"], TOOL_TURN, NOW_MS)
    assert await store.recall("acme", ["east#call_1"], NOW_MS) == {}
    await store.remember("acme", ["east#call_1"], replace(TOOL_TURN, model="other"), NOW_MS)
    assert await store.recall("acme#east", ["call_1"], NOW_MS) == {"call_1": TOOL_TURN}


async def test_it_is_kept_for_a_day(store: Store) -> None:
    await store.remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    assert await store.recall("acme", ["call_1"], NOW_MS + DAY_MS - 1) == {"call_1": TOOL_TURN}
    assert await store.recall("acme", ["call_1"], NOW_MS + DAY_MS) == {}
    await store.remember("acme", ["call_2"], TOOL_TURN, NOW_MS + DAY_MS)
    assert await store.recall("acme", ["call_1", "call_2"], NOW_MS + DAY_MS) == {"call_2": TOOL_TURN}


async def test_remembering_again_replaces_and_prolongs(store: Store) -> None:
    newer = replace(TOOL_TURN, model="newer")
    await store.remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    await store.remember("acme", ["call_1"], newer, NOW_MS + 10)
    assert await store.recall("acme", ["call_1"], NOW_MS + DAY_MS + 9) == {"call_1": newer}


async def test_many_calls_and_repeated_ones(store: Store) -> None:
    calls = [f"call_{number}" for number in range(530)]
    await store.remember("acme", [*calls, *calls[:5]], TOOL_TURN, NOW_MS)
    found = await store.recall("acme", [*calls[:5], *calls], NOW_MS)
    assert found == dict.fromkeys(calls, TOOL_TURN)


async def test_no_calls_are_nothing_to_do(store: Store) -> None:
    await store.remember("acme", [], TOOL_TURN, NOW_MS)
    assert await store.recall("acme", [], NOW_MS) == {}


@pytest.mark.parametrize("call_id", ["", "x" * 100_000, "a\0b", "§" * 600, "'; DROP TABLE x"])
async def test_any_text_may_be_a_call_id(store: Store, call_id: str) -> None:
    assert await store.recall("acme", [call_id], NOW_MS) == {}
    await store.remember("acme", [call_id], TOOL_TURN, NOW_MS)
    assert await store.recall("acme", [call_id], NOW_MS) == {call_id: TOOL_TURN}


async def test_long_thinking_comes_back_byte_for_byte(store: Store) -> None:
    block = replace(TOOL_TURN.thinking[0], text="Hm \N{THINKING FACE} " * 20_000)
    turn = replace(TOOL_TURN, thinking=(block,))
    await store.remember("acme", ["call_1"], turn, NOW_MS)
    assert await store.recall("acme", ["call_1"], NOW_MS) == {"call_1": turn}


@kept_store
@given(turn=tool_turns)
async def test_every_member_of_a_turn_comes_back(store: Store, turn: ToolTurn) -> None:
    await store.remember("acme", ["call_1"], turn, NOW_MS)
    assert await store.recall("acme", ["call_1"], NOW_MS) == {"call_1": turn}
