"""Callers who leave in the middle of an answer: the call is stopped, or read out where its host bills on."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.catalog.model import Format
from core.events import fold
from tests.support.gateway import Running
from tests.support.golden import GOLDEN, Case, opening
from tests.support.laws import decoded
from tests.support.script import Head, Never, Received, Send, Step, Wait
from tests.support.vendors.hosts import open_hosts

TEXTS = [Case(wire, GOLDEN / wire.value / "text") for wire in Format]


async def first_text(running: Running, name: str) -> None:
    """Ask, read until there is text, and leave."""
    body = {"model": name, "messages": [{"role": "user", "content": "Hi."}], "stream": True}
    async with running.client() as client, client.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.status_code == 200
        async for data in response.aiter_bytes():
            if b'"content":' in data:
                return


async def settled(running: Running) -> Any:
    await running.gateway.after_response()
    (record,) = await running.store.records("default", 10)
    return record


@pytest.mark.shows("caller leaves")
@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.format.value)
async def test_the_call_is_stopped_and_what_came_is_charged(tmp_path: Path, case: Case) -> None:
    name = f"{case.format.value}/text"

    def answer(host: str, request: Received) -> Sequence[Step]:
        return [Head(200), Send(case.data[: opening(case)]), Never()]

    async with open_hosts(tmp_path, {name: case.target}, answer) as (running, upstream):
        await first_text(running, name)
        await upstream.received[0].disconnected.wait()
        record = await settled(running)
    assert record.outcome == "caller_left"
    assert record.charge.total > 0


@pytest.mark.shows("caller leaves")
@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.format.value)
async def test_a_call_that_is_billed_to_its_end_is_read_out(tmp_path: Path, case: Case) -> None:
    name = f"{case.format.value}/text"
    draining = replace(case.target, vendor=replace(case.target.vendor, drains=True))
    first = opening(case)

    def answer(host: str, request: Received) -> Sequence[Step]:
        return [Head(200), Send(case.data[:first]), Wait("rest"), Send(case.data[first:])]

    async with open_hosts(tmp_path, {name: draining}, answer) as (running, upstream):
        await first_text(running, name)
        await upstream.barrier("rest").reached.wait()
        upstream.barrier("rest").released.set()
        await upstream.received[0].answered.wait()
        record = await settled(running)
        metered = running.noted.metered
    usage = fold(decoded(case.decoders()(), [case.data]).events).usage
    assert usage is not None
    assert record.outcome == "caller_left"
    assert [(read, made) for _, read, made in metered] == [(usage.input_tokens, usage.output_tokens)]
