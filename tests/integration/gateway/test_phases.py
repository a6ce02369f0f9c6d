"""What happens around an answer: heartbeats, the early head of a whole answer, many at once."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from tests.support.answers import HELLO, chunk, text_answer, usage_chunk
from tests.support.gateway import running_gateway
from tests.support.phases import ROUTING, SSE, body, open_stage, sse, talking
from tests.support.script import Never, Received, Reset, Send, Step, Wait, reply, stream
from tests.support.upstream import ScriptedUpstream


async def test_a_comment_every_fifteen_seconds_before_the_first_token_and_after(tmp_path: Path) -> None:
    script: list[Step] = [
        SSE,
        Wait("first"),
        sse(chunk({"content": "Hello"})),
        Wait("rest"),
        sse(chunk({}, "stop")),
        sse(usage_chunk()),
        Send(b"data: [DONE]\n\n"),
    ]
    async with open_stage(tmp_path, script) as stage:
        asking = stage.ask(stream=True)
        await stage.upstream.barrier("first").reached.wait()
        # The policy allows twelve seconds; a request may not widen it, so the model is slow within them.
        await stage.clock.advance(11)
        assert not asking.done()
        stage.upstream.barrier("first").released.set()
        received = (await asking).aiter_raw()
        assert b"Hello" in await anext(received)
        await stage.upstream.barrier("rest").reached.wait()
        for _ in range(2):
            await stage.clock.advance(15)
            assert await anext(received) == b": processing\n"
        stage.upstream.barrier("rest").released.set()
        rest = b"".join([part async for part in received])
    assert rest.endswith(b"data: [DONE]\n\n")


async def test_a_busy_host_does_not_stop_the_comments(tmp_path: Path) -> None:
    """Its thinking is held back all the while, so that nothing is sent."""
    async with open_stage(tmp_path, talking(5, "Hello")) as stage:
        asking = stage.ask(stream=True, extended_thinking=False)
        await stage.thinks(5, 9)
        response = await asking
        text = await response.aread()
    # The head went out before any host had answered: who will serve was not known.
    assert "x-inferbase-model" not in response.headers
    assert response.headers["x-request-id"].startswith("req-")
    assert text.startswith(b": processing\n" * 3)
    assert b"Hello" in text
    assert text.endswith(b"data: [DONE]\n\n")


async def test_a_failure_after_the_first_comment_is_an_error_frame(tmp_path: Path) -> None:
    busy = reply({"error": {"message": "busy"}}, 429, {"retry-after": "10"})
    async with open_stage(tmp_path, busy, busy, [Never()]) as stage:
        asking = stage.ask(stream=True)
        for number, seconds in enumerate([10, 10, 12]):
            await stage.upstream.arrival(number).wait()
            await stage.clock.sleeper_within(seconds)
            await stage.clock.advance(seconds)
        response = await asking
        text = (await response.aread()).decode()
        assert [failure[2] != "" for failure in stage.running.noted.failures] == [True, True, False]
    assert response.status_code == 200
    assert text.startswith(": processing\n")
    frame = json.loads(text.split("data: ")[1])
    assert (frame["object"], frame["error"]["code"]) == ("error", "all_attempts_failed")
    assert text.endswith("data: [DONE]\n\n")


class TestEarlyCommit:
    """A whole answer behind a front that cuts silent connections: head and white space go out before it is there."""

    @pytest.mark.parametrize("early_s", [240, 250])
    async def test_nothing_until_then_and_white_space_until_the_answer(self, tmp_path: Path, early_s: int) -> None:
        variables = {"HEADRACE_EARLY_COMMIT_S": str(early_s)}
        async with open_stage(tmp_path, talking(12, "Hello"), variables=variables) as stage:
            asking = stage.ask()
            await stage.thinks(10, (early_s - 10) / 10)
            await stage.upstream.barrier("thought 10").reached.wait()
            await stage.clock.advance(9)
            await stage.read_so_far()
            assert not asking.done()
            await stage.clock.advance(1)
            response = await asking
            received = response.aiter_raw()
            assert (response.status_code, await anext(received)) == (200, b" ")
            for step in (10, 11):
                await stage.clock.advance(15)
                assert await anext(received) == b" "
                stage.upstream.barrier(f"thought {step}").released.set()
                await stage.read_so_far()
            rest = b"".join([part async for part in received])
        assert rest.startswith(b"{")
        assert json.loads(b"   " + rest)["choices"][0]["message"]["content"] == "Hello"
        assert response.headers["content-type"] == "application/json"
        assert "x-inferbase-cost-micros" not in response.headers

    async def test_a_failure_by_then_breaks_the_response_off(self, tmp_path: Path) -> None:
        script, variables = [*talking(15, "x")[:-3], Reset()], {"HEADRACE_EARLY_COMMIT_S": "240"}
        async with open_stage(tmp_path, script, variables=variables) as stage:
            asking = stage.ask(ROUTING, routing={"fallback": False})
            await stage.thinks(15, 20)
            with pytest.raises(httpx.RemoteProtocolError):
                await (await asking).aread()


async def test_twenty_streams_at_once_are_not_mixed_up_and_add_up(tmp_path: Path) -> None:
    def script(request: Received) -> list[Step]:
        name = request.json["messages"][0]["content"]
        number = int(name.removeprefix("caller "))
        return text_answer(*[f"{name}; "] * 20, prompt=100 + number, completion=10 + number)

    async def ask(client: httpx.AsyncClient, number: int) -> int:
        messages = [{"role": "user", "content": f"caller {number}"}]
        asked = {"model": "lab/small", "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
        response = await client.post("/v1/chat/completions", json=asked)
        frames = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
        text = "".join(choice["delta"].get("content") or "" for frame in frames for choice in frame["choices"])
        assert text == f"caller {number}; " * 20
        cost: int = frames[-1]["usage"]["cost_micros"]
        assert cost == (100 + number) * 3 + (10 + number) * 15
        return cost

    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            costs = await asyncio.gather(*[ask(client, number) for number in range(20)])
        records = await running.store.records("default", 100)
        assert len(records) == 20
        assert sum(record.charge.total for record in records if record.charge) == sum(costs)


async def test_a_cached_key_costs_no_look_up_and_the_record_one_write_before_the_answer(tmp_path: Path) -> None:
    async with open_stage(tmp_path, HELLO) as stage, stage.running.client() as unlimited:
        await unlimited.post("/v1/chat/completions", json=body())
        stage.store.calls.clear()
        await unlimited.post("/v1/chat/completions", json=body())
        # What is told of hosts and keys comes whenever it is due.
        calls = [call for call in stage.store.calls if call not in ("touch_key", "tell_health", "told_health")]
        assert calls == ["open", "settle"]


async def test_a_choice_of_streams_without_usage_frames_stays_plain_openai(tmp_path: Path) -> None:
    answer = stream(chunk({"content": "a"}), chunk({}, "stop"), usage_chunk())
    async with open_stage(tmp_path, answer) as stage:
        asking = stage.ask(stream=True, stream_options={"include_usage": False})
        text = (await (await asking).aread()).decode()
        assert stage.upstream.received[0].json["stream_options"] == {"include_usage": True}
    frames = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert {frame["object"] for frame in frames} == {"chat.completion.chunk"}
    assert not any("usage" in frame for frame in frames)
