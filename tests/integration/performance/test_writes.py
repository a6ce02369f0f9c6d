"""What a stream costs beside its chunks: one write for each read of the host's, and no task for any of them."""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeAlias

import pytest

from bench.in_process import InProcess, request_body
from bench.streams import STREAMS

Work: TypeAlias = Coroutine[Any, Any, Any] | Generator[Any, None, Any]


@pytest.mark.parametrize("wire", STREAMS)
async def test_what_arrives_in_one_read_leaves_in_one_write(wire: str) -> None:
    gateway, asked = InProcess(), request_body("Hello?", model=f"bench/{wire}", stream=True)
    gateway.upstream.streams(wire, 10)
    apart = await gateway.post(asked)
    gateway.upstream.pieces[wire] = [b"".join(gateway.upstream.pieces[wire])]
    together = await gateway.post(asked)
    assert apart.writes >= 10
    # What was read; the end, which is told once the host has closed its answer; and what closes ours.
    assert (together.size, together.writes) == (apart.size, 3)


@pytest.mark.parametrize("wire", STREAMS)
async def test_chunks_have_no_tasks_of_their_own(wire: str) -> None:
    gateway, asked = InProcess(), request_body("Hello?", model=f"bench/{wire}", stream=True)
    loop, made = asyncio.get_running_loop(), list[Work]()

    def counted(loop: asyncio.AbstractEventLoop, work: Work, **more: Any) -> "asyncio.Task[Any]":
        made.append(work)
        return asyncio.Task(work, loop=loop, **more)

    counts: list[int] = []
    gateway.upstream.streams(wire, 10)
    await gateway.post(asked)
    loop.set_task_factory(counted)
    for chunks in (10, 400):
        gateway.upstream.streams(wire, chunks)
        made.clear()
        answer = await gateway.post(asked)
        assert answer.writes > chunks
        counts.append(len(made))
    loop.set_task_factory(None)
    assert counts[0] == counts[1] > 0
