"""The tool-turn memory through the whole gateway: there, gone, another's, and after a restart."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from core.catalog.model import Model, Quirk
from core.ports import Store
from core.tenant import Organisation
from functions.local.keys import create_key
from tests.integration.formats.conversation import ask, called, members, returned
from tests.support.away import AwayStore
from tests.support.clock import ManualClock
from tests.support.vendors.checking import CheckingVendor
from tests.support.vendors.rows import ROWS, Row
from tests.support.vendors.street import ROUTING, Street, client, open_street
from tests.support.vendors.talk import OPENING, SCRIPT

BY_SLUG = {row.slug: row for row in ROWS}
HOUR_S = 3_600

# One row of each way to think and to be sent thinking back.
BACK = {Quirk.REASONING_BACK, Quirk.REASONING_DETAILS_BACK}
KINDS = {
    (row.format, row.target.host.thinking_switch, row.thinks, BACK & {*row.target.vendor.quirks} == set()): row
    for row in ROWS
}

# One of each kind that wants something back.
REMEMBERING = [
    BY_SLUG[slug]
    for slug in (
        "anthropic.claude-opus-5",
        "anthropic.claude-opus-4-5",
        "anthropic.claude-fable-5-1",
        "google.gemini-4-argon",
        "google.gemini-2.5-flash",
        "bedrock-us-east-1.claude-opus-5",
        "bedrock-us-east-1.claude-opus-4-5",
        "deepseek.deepseek-v4.1-flash",
        "moonshot.kimi-k2.6",
        "openrouter.claude-fable-5",
    )
]

# Who finds a turn, and where it lies, has nothing to do with the model.
ONE_OF_EACH = [*{row.format: row for row in REMEMBERING}.values()]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def forgetful(tmp_path_factory: pytest.TempPathFactory, aws: None) -> AsyncIterator[Street]:
    """A street whose gateway remembers no tool turn, and whose vendors forgive that where theirs do."""

    def without_memory(store: Store) -> Any:
        away = AwayStore(store)
        away.away |= {"remember", "recall"}
        return away

    folder = tmp_path_factory.mktemp("forgetful")
    async with open_street(folder, ROWS, replace_store=without_memory) as street:
        for vendor in street.upstream.vendors.values():
            vendor.forgives = True
        yield street


async def answer(street: Street, row: Row, messages: Sequence[Any], sdk: Any = None) -> Any:
    return await ask(sdk or street.sdk[ROUTING], stream=False, messages=messages, **members(row))


def tool_memory(completion: Any) -> str | None:
    said: str | None = completion.routing.get("tool_memory")
    return said


@pytest.mark.shows("tool loop without memory")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", KINDS.values(), ids=lambda row: row.slug)
async def test_a_loop_goes_round_without_its_memory_and_the_decision_says_so(forgetful: Street, row: Row) -> None:
    vendor = forgetful.vendor(row.slug)
    messages: list[Any] = [*OPENING]
    for spoken in SCRIPT:
        completion = await answer(forgetful, row, messages)
        assert (completion.choices[0].message.content or "") == spoken.text
        is_mid_loop = messages[-1]["role"] == "tool"
        assert tool_memory(completion) == ("missing" if is_mid_loop else None)
        messages += returned(completion.choices[0].message)
    assert vendor.refused == []
    assert len(vendor.served) == len(SCRIPT)


def seals_in(vendor: CheckingVendor) -> list[str]:
    """All that a vendor would know as its own in the last call that it answered."""
    sent = vendor.served[-1].body.decode()
    made = [vendor.wire.made(spoken, number) for number, spoken in enumerate(SCRIPT)]
    own = [item.seal.partition(" ")[0] for turn in made for item in turn.items if item.seal]
    own += [_seal_of(item.said) for turn in made for item in turn.items if item.kind == "thinking"]
    return [seal for seal in own if json.dumps(seal, ensure_ascii=False)[1:-1] in sent]


def _seal_of(said: Any) -> str:
    """The longest text in a block of thinking."""
    if isinstance(said, dict):
        return max(map(_seal_of, said.values()), key=len)
    return str(said)


async def first_turn(street: Street, row: Row) -> list[Any]:
    """A history that waits for the model's second turn."""
    completion = await answer(street, row, OPENING)
    return [*OPENING, *returned(completion.choices[0].message)]


@pytest.mark.parametrize("row", REMEMBERING, ids=lambda row: row.slug)
async def test_a_turn_is_remembered_for_a_day(tmp_path: Path, row: Row) -> None:
    clock = ManualClock()
    async with open_street(tmp_path, [row], clock=clock) as street:
        vendor = street.vendor(row.slug)
        vendor.forgives = True
        messages = await first_turn(street, row)
        await clock.advance(23 * HOUR_S)
        assert tool_memory(await answer(street, row, messages)) is None
        assert seals_in(vendor)
        await clock.advance(2 * HOUR_S)
        assert tool_memory(await answer(street, row, messages)) == "missing"
        # What the client sent back of the model's thinking may stand in for it where only its text is wanted.
        assert not seals_in(vendor) or row.target.vendor.name in ("deepseek", "moonshot")


@pytest.mark.parametrize("row", ONE_OF_EACH, ids=lambda row: row.slug)
async def test_another_organisation_never_finds_it(tmp_path: Path, row: Row) -> None:
    async with open_street(tmp_path, [row]) as street:
        vendor = street.vendor(row.slug)
        vendor.forgives = True
        messages = await first_turn(street, row)
        # A client that drops what is not OpenAI's, so that nothing of it can be in the history.
        stolen = [{name: value for name, value in each.items() if name != "reasoning_content"} for each in messages]
        store = street.running.store
        await store.save_organisation(Organisation("other", "Other", created_ms=0))
        token, _ = await create_key(store, "other", "theirs")
        async with client(street.running, ROUTING, token) as theirs:
            assert tool_memory(await answer(street, row, stolen, theirs)) == "missing"
        assert seals_in(vendor) == []
        assert tool_memory(await answer(street, row, stolen)) is None
        assert seals_in(vendor)


@pytest.mark.shows("tool loop after a restart")
@pytest.mark.parametrize("row", ONE_OF_EACH, ids=lambda row: row.slug)
async def test_a_restarted_gateway_finds_it(tmp_path: Path, row: Row) -> None:
    async with open_street(tmp_path, [row]) as street:
        messages = await first_turn(street, row)
    async with open_street(tmp_path, [row]) as street:
        vendor = street.vendor(row.slug)
        assert tool_memory(await answer(street, row, messages)) is None
        assert vendor.refused == []
        assert seals_in(vendor)


class TestTwoHostsOfOneModel:
    """Claude at Anthropic first, then on Bedrock: what one of them sealed is worth nothing at the other."""

    FIRST, SECOND = BY_SLUG["anthropic.claude-opus-5"], BY_SLUG["bedrock-us-east-1.claude-opus-5"]

    def model(self) -> Model:
        hosts = [replace(row.target.host, vendor=row.slug) for row in (self.FIRST, self.SECOND)]
        return replace(self.FIRST.target.model, id="claude", aliases=(), hosts=tuple(hosts))

    def asked(self, messages: Sequence[Any]) -> dict[str, Any]:
        return {**members(self.FIRST), "model": "claude", "messages": messages}

    async def made_by_the_second(self, street: Street) -> list[Any]:
        street.vendor(self.FIRST.slug).is_down = True
        completion = await ask(street.sdk[ROUTING], stream=False, **self.asked(OPENING))
        street.vendor(self.FIRST.slug).is_down = False
        return [*OPENING, *returned(completion.choices[0].message)]

    async def test_the_host_that_made_the_calls_is_asked_first(self, tmp_path: Path) -> None:
        async with open_street(tmp_path, [self.FIRST, self.SECOND], models=[self.model()]) as street:
            messages = await self.made_by_the_second(street)
            completion = await ask(street.sdk[ROUTING], stream=True, **self.asked(messages))
            assert called(completion.choices[0].message) == ["route"]
            assert street.upstream.vendors[self.FIRST.slug].served == []
            assert street.upstream.vendors[self.SECOND.slug].refused == []
            assert seals_in(street.upstream.vendors[self.SECOND.slug])

    async def test_another_host_goes_on_without_what_is_not_its_own(self, tmp_path: Path) -> None:
        async with open_street(tmp_path, [self.FIRST, self.SECOND], models=[self.model()]) as street:
            messages = await self.made_by_the_second(street)
            first, second = (street.vendor(row.slug) for row in (self.FIRST, self.SECOND))
            first.forgives, second.is_down = True, True
            completion = await ask(street.sdk[ROUTING], stream=False, **self.asked(messages))
            assert called(completion.choices[0].message) == ["route"]
            assert first.refused == []
            assert "reasoningContent" not in first.served[-1].body.decode()
            assert '"type":"thinking"' not in first.served[-1].body.decode()


def loop_without(messages: Sequence[Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> list[Any]:
    return [change(each) if each["role"] == "assistant" else each for each in messages]


async def test_thinking_comes_from_the_memory_not_from_the_client(tmp_path: Path) -> None:
    row = BY_SLUG["deepseek.deepseek-v4.1-flash"]
    async with open_street(tmp_path, [row]) as street:
        vendor = street.vendor(row.slug)
        messages = await first_turn(street, row)
        forged = loop_without(messages, lambda each: {**each, "reasoning_content": "Forged."})
        assert tool_memory(await answer(street, row, forged)) is None
        assert vendor.refused == []


async def test_an_empty_thought_goes_where_nobody_has_it(tmp_path: Path) -> None:
    row = BY_SLUG["deepseek.deepseek-v4.1-flash"]
    clock = ManualClock()
    async with open_street(tmp_path, [row], clock=clock) as street:
        vendor = street.vendor(row.slug)
        vendor.forgives = True
        messages = await first_turn(street, row)
        await clock.advance(25 * HOUR_S)
        dropped = loop_without(
            messages, lambda each: {name: value for name, value in each.items() if name != "reasoning_content"}
        )
        assert tool_memory(await answer(street, row, dropped)) == "missing"
        assert vendor.served[-1].json["messages"][2]["reasoning_content"] == ""
