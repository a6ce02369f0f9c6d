"""What happens around an answer: heartbeats, callers who leave, a store that is away, many at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from core.ports import Store
from core.record import Record
from tests.support.answers import HELLO, chunk, text_answer, usage_chunk
from tests.support.away import AwayStore
from tests.support.clock import ManualClock
from tests.support.gateway import Noted, Running, running_gateway
from tests.support.script import Head, Never, Received, Reset, Send, Step, Wait, reply, stream
from tests.support.upstream import ScriptedUpstream, refusing

SSE = Head(200, {"content-type": "text/event-stream"})


def body(**members: Any) -> dict[str, Any]:
    return {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], **members}


def sse(payload: object) -> Send:
    return Send(f"data: {json.dumps(payload)}\n\n".encode())


@asynccontextmanager
async def streaming(running: Running, **members: Any) -> AsyncIterator[AsyncIterator[bytes]]:
    async with running.client() as client:
        async with client.stream("POST", "/v1/chat/completions", json=body(stream=True, **members)) as response:
            assert response.status_code == 200
            yield response.aiter_bytes()


class Watched(Noted):
    """A journal that tells when an attempt has failed."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = asyncio.Event()

    def attempt_failed(self, request_id: str, host: str, detail: str) -> None:
        self.failed.set()


async def only_record(running: Running) -> Record:
    (record,) = await running.store.records("default", 10)
    return record


class TestHeartbeats:
    async def test_a_comment_every_fifteen_seconds_before_the_first_token_and_after(self, tmp_path: Path) -> None:
        clock = ManualClock()
        script: list[Step] = [
            SSE,
            Wait("first"),
            sse(chunk({"content": "Hello"})),
            Wait("rest"),
            sse(chunk({}, "stop")),
            sse(usage_chunk()),
            Send(b"data: [DONE]\n\n"),
        ]
        async with (
            ScriptedUpstream(script) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock) as running,
        ):
            async with running.client() as client:
                sending = asyncio.ensure_future(
                    client.send(
                        client.build_request("POST", "/v1/chat/completions", json=body(stream=True)), stream=True
                    )
                )
                await upstream.barrier("first").reached.wait()
                # The policy allows twelve seconds; a request may not widen it, so the model is slow within them.
                await clock.advance(11)
                assert not sending.done()
                upstream.barrier("first").released.set()
                response = await sending
                received = response.aiter_bytes()
                first = await anext(received)
                assert b"Hello" in first
                await upstream.barrier("rest").reached.wait()
                await clock.advance(15)
                assert await anext(received) == b": processing\n"
                await clock.advance(15)
                assert await anext(received) == b": processing\n"
                upstream.barrier("rest").released.set()
                rest = b"".join([part async for part in received])
                assert rest.endswith(b"data: [DONE]\n\n")
                await response.aclose()

    async def test_a_busy_host_does_not_stop_the_comments(self, tmp_path: Path) -> None:
        """Its thinking is held back all the while, so that nothing is sent."""
        clock = ManualClock()
        async with (
            ScriptedUpstream(talking(5, "Hello")) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock) as running,
            running.client() as client,
        ):
            asked = body(stream=True, extended_thinking=False)
            sent = client.build_request("POST", "/v1/chat/completions", json=asked)
            sending = asyncio.ensure_future(client.send(sent, stream=True))
            for step in range(5):
                await upstream.barrier(f"thought {step}").reached.wait()
                await clock.advance(9)
                upstream.barrier(f"thought {step}").released.set()
            response = await sending
            text = b"".join([part async for part in response.aiter_raw()])
        # The head went out before any host had answered: who will serve was not known.
        assert "x-inferbase-model" not in response.headers
        assert response.headers["x-request-id"].startswith("req-")
        assert text.startswith(b": processing\n" * 3)
        assert b"Hello" in text
        assert text.endswith(b"data: [DONE]\n\n")

    async def test_a_failure_after_the_first_comment_is_an_error_frame(self, tmp_path: Path) -> None:
        clock = ManualClock()
        busy = reply({"error": {"message": "busy"}}, 429, {"retry-after": "10"})
        async with (
            ScriptedUpstream(busy, busy, [Never()]) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock) as running,
        ):
            async with running.client() as client:
                asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body(stream=True)))
                for number in range(3):
                    await upstream.arrival(number).wait()
                    await clock.sleeper_within(12 if number == 2 else 10)
                    await clock.advance(12 if number == 2 else 10)
                response = await asking
            assert [failure[2] != "" for failure in running.noted.failures] == [True, True, False]
        assert response.status_code == 200
        assert response.text.startswith(": processing\n")
        frame = json.loads(response.text.split("data: ")[1])
        assert (frame["object"], frame["error"]["code"]) == ("error", "all_attempts_failed")
        assert response.text.endswith("data: [DONE]\n\n")


class TestEarlyCommit:
    """A whole answer behind a front that cuts silent connections: head and white space go out after four minutes."""

    VARIABLES: ClassVar[dict[str, str]] = {"HEADRACE_EARLY_COMMIT_S": "240"}

    async def test_the_answer_follows_white_space_and_parses(self, tmp_path: Path) -> None:
        clock = ManualClock()
        async with (
            ScriptedUpstream(talking(15, "Hello")) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock, variables=self.VARIABLES) as running,
            running.client() as client,
        ):
            asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body()))
            for step in range(15):
                await upstream.barrier(f"thought {step}").reached.wait()
                await clock.advance(20)
                upstream.barrier(f"thought {step}").released.set()
            response = await asking
        assert response.status_code == 200
        assert response.text.startswith(" ")
        assert response.json()["choices"][0]["message"]["content"] == "Hello"
        assert "x-inferbase-cost-micros" not in response.headers

    async def test_a_failure_by_then_breaks_the_response_off(self, tmp_path: Path) -> None:
        clock = ManualClock()
        async with (
            ScriptedUpstream([*talking(15, "x")[:-3], Reset()]) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock, variables=self.VARIABLES) as running,
            running.client() as client,
        ):
            failing = {"model": "lab/small", "messages": body()["messages"]}
            asking = asyncio.ensure_future(
                client.post("/api/v1/inference/chat/completions", json={**failing, "routing": {"fallback": False}})
            )
            for step in range(15):
                await upstream.barrier(f"thought {step}").reached.wait()
                await clock.advance(20)
                upstream.barrier(f"thought {step}").released.set()
            with pytest.raises(httpx.RemoteProtocolError):
                await asking


def talking(times: int, answer: str) -> list[Step]:
    """An upstream that thinks aloud, halting before each thought, and then answers."""
    steps: list[Step] = [SSE]
    for step in range(times):
        steps += [Wait(f"thought {step}"), sse(chunk({"reasoning_content": "hm "}))]
    return [*steps, *text_answer(answer)[1:]]


class TestLeaving:
    async def test_mid_stream_the_upstream_call_is_stopped_and_what_was_used_is_charged(self, tmp_path: Path) -> None:
        script: list[Step] = [SSE, sse(chunk({"content": "Hello there, caller"})), Never()]
        async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
            async with streaming(running) as received:
                await anext(received)
            await upstream.received[0].disconnected.wait()
            await running.gateway.after_response()
            record = await settled_record(running)
            assert record.outcome == "caller_left"
            assert record.usage is not None
            assert record.usage.estimated
            assert record.charge is not None
            assert record.charge.total > 0

    @pytest.mark.parametrize("is_stream", [True, False])
    async def test_before_the_first_token(self, tmp_path: Path, is_stream: bool) -> None:
        async with ScriptedUpstream([Never()]) as upstream, running_gateway(tmp_path, upstream.url) as running:
            async with running.client() as client:
                asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body(stream=is_stream)))
                await upstream.arrival().wait()
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
            await upstream.received[0].disconnected.wait()
            record = await settled_record(running)
            assert record.outcome == "caller_left"
            assert record.charge is not None
            assert record.charge.total == 0

    async def test_between_two_attempts(self, tmp_path: Path) -> None:
        clock, journal = ManualClock(), Watched()
        busy = reply({"error": {"message": "m", "type": "server_error"}}, 503)
        async with (
            ScriptedUpstream(busy) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock, journal=journal) as running,
            running.client() as client,
        ):
            asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body()))
            await journal.failed.wait()
            await clock.sleeper_within(5)  # the pause before the host is asked again
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            record = await settled_record(running)
            assert len(upstream.received) == 1
        assert (record.outcome, [row.outcome for row in record.attempts]) == ("caller_left", ["upstream_error"])
        assert record.charge is not None
        assert record.charge.total == 0

    async def test_before_the_commit_what_the_host_reported_is_charged(self, tmp_path: Path) -> None:
        script: list[Step] = [SSE, sse({**usage_chunk(31, 64), "choices": []}), sse(chunk({"content": "x"})), Never()]
        async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
            async with running.client() as client:
                asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body()))
                await upstream.arrival().wait()
                await read_by(running, upstream)
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
            record = await settled_record(running)
        assert [row.outcome for row in record.attempts] == ["caller_left"]
        assert record.charge is not None
        assert record.charge.total == 1_053


async def read_by(running: Running, upstream: ScriptedUpstream) -> None:
    """Return once the gateway has read what the upstream sent: its own answers come through the same loop."""
    async with running.client() as client:
        for _ in range(5):
            await client.get("/healthz")


async def settled_record(running: Running) -> Record:
    """The one record, once it is settled; bounded by the test's own time limit."""
    while True:
        await running.gateway.after_response()
        records = await running.store.records("default", 10)
        if records and records[0].is_settled:
            return records[0]


class TestStoreAway:
    async def test_at_the_start_the_key_cannot_be_looked_up(self, tmp_path: Path) -> None:
        stores: list[AwayStore] = []
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere, replace_store=away(stores)) as running:
                stores[0].away.add("*")
                async with running.client() as client:
                    response = await client.post("/v1/chat/completions", json=body())
                    ready = await client.get("/readyz")
                    health = await client.get("/healthz")
                stores[0].away.clear()
        error = response.json()["error"]
        assert (response.status_code, error["type"], error["code"]) == (503, "overloaded_error", "store_unavailable")
        assert (ready.status_code, health.status_code) == (503, 200)

    @pytest.mark.parametrize("fault", ["away", "stuck"])
    async def test_in_the_middle_the_answer_is_whole_and_its_record_goes_to_the_log(
        self, tmp_path: Path, fault: str
    ) -> None:
        stores: list[AwayStore] = []
        clock = ManualClock()
        async with (
            ScriptedUpstream(text_answer("Hello", wait="end")) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock, replace_store=away(stores)) as running,
        ):
            async with streaming(running) as received:
                await upstream.barrier("end").reached.wait()
                getattr(stores[0], fault).add("settle")
                upstream.barrier("end").released.set()
                reading = asyncio.ensure_future(read_all(received))
                while not reading.done():
                    await asyncio.wait({reading}, timeout=0.01)
                    if (due := clock.due_in()) is not None and due <= 1:
                        await clock.advance(due)
                text = reading.result()
            getattr(stores[0], fault).clear()
        assert text.endswith("data: [DONE]\n\n")
        (spilled,) = running.noted.spilled
        assert spilled.outcome == "served"
        assert spilled.charge is not None
        assert spilled.charge.total == 1_053

    @pytest.mark.parametrize("fault", ["away", "stuck"])
    @pytest.mark.parametrize("is_stream", [True, False])
    async def test_a_record_that_cannot_be_opened_is_settled_all_the_same(
        self, tmp_path: Path, fault: str, is_stream: bool
    ) -> None:
        stores: list[AwayStore] = []
        clock = ManualClock()
        async with (
            ScriptedUpstream(HELLO) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock, replace_store=away(stores)) as running,
        ):
            getattr(stores[0], fault).add("open")
            async with running.client() as client:
                asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body(stream=is_stream)))
                while not asking.done():
                    await asyncio.wait({asking}, timeout=0.01)
                    # Only for the opening that hangs: a busy machine needs its time to settle.
                    is_waited_for = fault == "stuck" and not running.noted.spilled
                    if is_waited_for and (due := clock.due_in()) is not None and due <= 1:
                        await clock.advance(due)
            assert "Hello" in asking.result().text
            assert (await settled_record(running)).outcome == "served"
        (spilled,) = running.noted.spilled
        assert not spilled.is_settled


async def read_all(received: AsyncIterator[bytes]) -> str:
    return b"".join([part async for part in received]).decode()


def away(made: list[AwayStore]) -> Any:
    def wrap(store: Store) -> AwayStore:
        made.append(AwayStore(store))
        return made[0]

    return wrap


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
    stores: list[AwayStore] = []
    async with (
        ScriptedUpstream(HELLO) as upstream,
        running_gateway(tmp_path, upstream.url, replace_store=away(stores)) as running,
    ):
        async with running.client() as client:
            await client.post("/v1/chat/completions", json=body())
            stores[0].calls.clear()
            await client.post("/v1/chat/completions", json=body())
        # Nobody waits for the mark, so it may come last; what is told of hosts and keys comes whenever it is due.
        calls = [call for call in stores[0].calls if call not in ("touch_key", "tell_health", "told_health")]
        assert calls[0] == "open"
        assert sorted(calls) == ["mark", "open", "settle"]


async def test_a_choice_of_streams_without_usage_frames_stays_plain_openai(tmp_path: Path) -> None:
    answer = stream(chunk({"content": "a"}), chunk({}, "stop"), usage_chunk())
    async with ScriptedUpstream(answer) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with streaming(running) as received:
            text = await read_all(received)
    frames = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert {frame["object"] for frame in frames} == {"chat.completion.chunk"}
    assert not any("usage" in frame for frame in frames)
