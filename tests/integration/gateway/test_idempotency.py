"""Requests under an `Idempotency-Key`: one runs, and whoever sends it again gets what came of it."""

import asyncio
import json
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.answer_form import MOST_BYTES, MOST_PACKED
from core.errors import InvalidRequest
from core.idempotency import LONGEST_RUN_S
from core.kept import Claim
from core.ports import Store
from core.record import Record
from core.reservation import LEASE_S
from core.service import Service
from core.surfaces.surface import PLAIN
from core.sweep import sweep
from tests.support.answers import HELLO, chunk, text_answer, usage_chunk
from tests.support.away import AwayStore
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import Head, Never, Received, Reset, Send, Step, Wait, reply, stream
from tests.support.upstream import ScriptedUpstream

PREFIXES = ["/v1", "/api/v1/inference"]
DAY_S = 86_400
BAD = reply({"error": {"message": "no", "type": "invalid_request_error", "code": None, "param": None}}, 400)
# Of a connection, not of the answer.
PASSING = {"date", "server", "transfer-encoding"}


def body(**members: Any) -> dict[str, Any]:
    return {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], **members}


async def ask(running: Running, name: str = "key-1", prefix: str = "/v1", **members: Any) -> httpx.Response:
    async with running.client(**{"idempotency-key": name}) as client:
        return await client.post(f"{prefix}/chat/completions", json=body(**members))


def headers(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name not in PASSING}


def code(response: httpx.Response) -> str:
    found: str = response.json()["error"]["code"]
    return found


class Away:
    """Gives the gateway a store that can be away, and keeps hold of it."""

    def __init__(self) -> None:
        self.stores: list[AwayStore] = []

    def __call__(self, store: Store) -> Any:
        self.stores.append(AwayStore(store))
        return self.stores[-1]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_the_second_gets_the_firsts_answer_byte_for_byte(tmp_path: Path, prefix: str, is_stream: bool) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        first = await ask(running, prefix=prefix, stream=is_stream)
        second = await ask(running, prefix=prefix, stream=is_stream)
        assert first.status_code == second.status_code == 200
        assert first.content == second.content
        assert b"Hello" in first.content
        assert headers(first) == headers(second)
        assert len(upstream.received) == 1
        (record,) = await running.store.records("default", 10)
        assert record.charge is not None
        assert (record.request_id, record.charge.total) == (second.headers["x-request-id"], 1_053)


async def test_the_answer_outlives_the_process_and_lasts_a_day(tmp_path: Path) -> None:
    clock = ManualClock()
    async with ScriptedUpstream(HELLO) as upstream:
        async with running_gateway(tmp_path, upstream.url, clock=clock) as running:
            first = await ask(running)
            token = running.token
        async with running_gateway(tmp_path, upstream.url, clock=clock) as running:
            same_key = {"authorization": f"Bearer {token}", "idempotency-key": "key-1"}
            async with running.client(**same_key) as client:
                await clock.advance(DAY_S - 1)
                second = await client.post("/v1/chat/completions", json=body())
                assert second.content == first.content
                await clock.advance(1)
                third = await client.post("/v1/chat/completions", json=body())
                assert third.json()["id"] != first.json()["id"]
        assert len(upstream.received) == 2


async def test_of_many_at_once_one_runs_and_the_others_are_told_to_come_again(tmp_path: Path) -> None:
    waiting = text_answer("Hello", wait="end")
    async with ScriptedUpstream(waiting) as upstream, running_gateway(tmp_path, upstream.url) as running:
        asked = [asyncio.ensure_future(ask(running)) for _ in range(64)]
        done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 63:
            done, _ = await asyncio.wait(asked, timeout=5, return_when=asyncio.FIRST_COMPLETED)
            asked = [task for task in asked if task not in done] + [*done]
        upstream.barrier("end").released.set()
        responses = await asyncio.gather(*asked)
        assert sorted(response.status_code for response in responses) == [200] + [409] * 63
        for response in responses:
            if response.status_code == 409:
                assert code(response) == "idempotency_in_progress"
                assert response.headers["retry-after"] == "1"
                assert "x-should-retry" not in response.headers
        assert len(upstream.received) == 1
        again = await ask(running)
        assert again.content == next(each.content for each in responses if each.status_code == 200)


@pytest.mark.parametrize(
    ("prefix", "members"),
    [("/v1", {"temperature": 0.5}), ("/v1", {"stream": True}), ("/api/v1/inference", {})],
)
async def test_another_body_or_surface_is_a_mismatch(tmp_path: Path, prefix: str, members: dict[str, Any]) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        await ask(running)
        refused = await ask(running, prefix=prefix, **members)
        assert (refused.status_code, code(refused)) == (409, "idempotency_mismatch")
        assert refused.headers["x-should-retry"] == "false"
        assert len(upstream.received) == 1


async def test_another_key_of_the_organisation_has_names_of_its_own(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream:
        async with running_gateway(tmp_path, upstream.url) as running:
            first = await ask(running)
        async with running_gateway(tmp_path, upstream.url) as running:  # which makes another key
            second = await ask(running)
        assert first.json()["id"] != second.json()["id"]


@pytest.mark.parametrize("name", ["", "x" * 256, "with space", "smørrebrød".encode("latin-1").decode("latin-1")])
async def test_a_malformed_key_is_refused(tmp_path: Path, name: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            sent = {b"idempotency-key": name.encode("latin-1")}
            refused = await client.post("/v1/chat/completions", json=body(), headers=sent)
        assert (refused.status_code, code(refused)) == (400, "invalid_value")
        assert refused.json()["error"]["param"] == "Idempotency-Key"
        assert upstream.received == []


@pytest.mark.parametrize("name", ["x", "x" * 255, "!~"])
async def test_a_well_formed_key_is_taken(tmp_path: Path, name: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        assert (await ask(running, name)).content == (await ask(running, name)).content
        assert len(upstream.received) == 1


class TestFailures:
    async def test_a_refused_request_leaves_its_key_free(self, tmp_path: Path) -> None:
        async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
            assert (await ask(running, temperature="hot")).status_code == 400
            assert (await ask(running)).status_code == 200
            assert len(upstream.received) == 1

    async def test_a_failed_one_too(self, tmp_path: Path) -> None:
        scripts: list[Sequence[Step]] = [BAD, text_answer("Hello")]

        def script(received: Received) -> Sequence[Step]:
            return scripts.pop(0)

        async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
            assert (await ask(running)).status_code == 400
            assert (await ask(running)).status_code == 200

    async def test_a_stream_that_broke_off_too(self, tmp_path: Path) -> None:
        broken = stream(chunk({"content": "Hel"}), done=False)
        scripts: list[Sequence[Step]] = [broken, text_answer("Hello")]

        def script(received: Received) -> Sequence[Step]:
            return scripts.pop(0)

        async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
            assert '"error"' in (await ask(running, stream=True)).text
            assert '"error"' not in (await ask(running, stream=True)).text

    @pytest.mark.parametrize("is_stream", [False, True])
    async def test_one_whose_caller_left_is_charged_and_its_key_is_free(self, tmp_path: Path, is_stream: bool) -> None:
        scripts: list[Sequence[Step]] = [
            [
                Head(200, {"content-type": "text/event-stream"}),
                Send(f"data: {json.dumps(chunk({'content': 'Hel'}))}\n\n".encode()),
                Send(f"data: {json.dumps(usage_chunk())}\n\n".encode()),
                Wait("left"),
            ],
            text_answer("Hello"),
        ]

        def script(received: Received) -> Sequence[Step]:
            return scripts.pop(0)

        async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
            asking = asyncio.ensure_future(ask(running, stream=is_stream))
            await upstream.barrier("left").reached.wait()
            asking.cancel()
            await upstream.received[0].disconnected.wait()
            await running.gateway.after_response()
            assert (await ask(running, stream=is_stream)).status_code == 200
            assert len(upstream.received) == 2
            second, first = await running.store.records("default", 10)
            assert (first.outcome, second.outcome) == ("caller_left", "served")

    async def test_a_dead_process_holds_the_key_for_its_lease_alone(self, tmp_path: Path) -> None:
        clock, away = ManualClock(), Away()
        async with (
            ScriptedUpstream(BAD) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock, replace_store=away) as running,
        ):
            away.stores[0].away.add("drop")
            assert (await ask(running)).status_code == 400
            assert code(await ask(running)) == "idempotency_in_progress"
            await clock.advance(LONGEST_RUN_S)
            assert (await ask(running)).status_code == 400
            assert len(upstream.received) == 2

    @pytest.mark.parametrize("is_swept", [False, True])
    async def test_a_dead_process_that_left_a_record_holds_the_key_for_its_lease(
        self, tmp_path: Path, is_swept: bool
    ) -> None:
        clock = ManualClock()
        async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url, clock=clock) as running:
            (key,) = await running.store.keys("default")
            now_ms, died = round(clock.now() * 1000), "req-" + 32 * "0"
            ends_ms = now_ms + LONGEST_RUN_S * 1000
            name = sha256(b"key-1").hexdigest()
            claim = Claim("default", key.id, name, "another body", died, ends_ms, now_ms + DAY_S * 1000)
            assert await running.store.begin(claim, now_ms) is None
            assert (await ask(running)).status_code == 409, "it left no record yet"
            lease_ms = now_ms + LEASE_S * 1000
            await running.store.open(Record("default", died, key.id, now_ms, lease_ms, "lab/small", "plain", False))
            await clock.advance(LEASE_S)
            assert (await ask(running)).status_code == 409
            assert upstream.received == []
            await clock.advance(0.001)
            if is_swept:
                assert len(await sweep(running.store, lease_ms + 1, 10)) == 1
            assert (await ask(running)).status_code == 200
            assert (await ask(running)).status_code == 200
            assert len(upstream.received) == 1
            assert not await running.store.finish(claim, None), "it comes too late"


class TestStore:
    async def test_without_the_store_nothing_is_run(self, tmp_path: Path) -> None:
        away = Away()
        async with (
            ScriptedUpstream(HELLO) as upstream,
            running_gateway(tmp_path, upstream.url, replace_store=away) as running,
        ):
            away.stores[0].away.add("begin")
            refused = await ask(running)
            assert (refused.status_code, code(refused)) == (503, "store_unavailable")
            assert upstream.received == []

    @pytest.mark.parametrize("trouble", ["away", "stuck"])
    async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(self, tmp_path: Path, trouble: str) -> None:
        away, clock = Away(), ManualClock()
        async with (
            ScriptedUpstream(HELLO) as upstream,
            running_gateway(tmp_path, upstream.url, clock=clock, replace_store=away) as running,
        ):
            getattr(away.stores[0], trouble).add("finish")
            asking = asyncio.ensure_future(ask(running))
            if trouble == "stuck":
                await clock.sleeper_within(1.0)
                while not asking.done():
                    await clock.advance(0.5)
                    await asyncio.wait({asking}, timeout=0.05)
            assert (await asking).status_code == 200
            assert code(await ask(running)) == "idempotency_in_progress"

    async def test_it_costs_one_round_trip_before_the_call(self, tmp_path: Path) -> None:
        away = Away()
        async with (
            ScriptedUpstream(HELLO) as upstream,
            running_gateway(tmp_path, upstream.url, replace_store=away) as running,
        ):
            await ask(running, "warm")
            calls: list[list[str]] = []
            for _ in range(2):
                away.stores[0].calls.clear()
                await ask(running)
                await running.gateway.after_response()
                calls.append([*away.stores[0].calls])
            ran, replayed = ([name for name in each if name != "touch_key"] for each in calls)
            assert ran[0] == "begin"
            assert ran.count("begin") == ran.count("finish") == 1
            assert set(ran) <= {"begin", "finish", "open", "settle", "mark", "standings"}
            assert replayed == ["begin"]


class TestSize:
    async def test_a_stream_of_any_usual_length_is_replayed(self, tmp_path: Path) -> None:
        words = [f"word-{number} " for number in range(3_000)]
        async with (
            ScriptedUpstream(text_answer(*words)) as upstream,
            running_gateway(tmp_path, upstream.url) as running,
        ):
            first, second = await ask(running, stream=True), await ask(running, stream=True)
            assert len(first.content) > 400_000
            assert first.content == second.content

    @pytest.mark.parametrize("is_stream", [False, True])
    async def test_what_was_too_large_is_refused_with_its_request_id(self, tmp_path: Path, is_stream: bool) -> None:
        noise = random.Random(1).randbytes(MOST_PACKED).hex()  # half of which is left when compressed
        answer = text_answer(noise[:MOST_PACKED], noise[MOST_PACKED:])
        async with ScriptedUpstream(answer) as upstream, running_gateway(tmp_path, upstream.url) as running:
            first, second = await ask(running, stream=is_stream), await ask(running, stream=is_stream)
            assert first.status_code == 200
            assert (second.status_code, code(second)) == (409, "idempotency_not_replayable")
            assert first.headers["x-request-id"] in second.json()["error"]["message"]
            assert second.headers["x-should-retry"] == "false"
            assert len(upstream.received) == 1


class TestSealing:
    async def test_nothing_readable_is_kept(self, tmp_path: Path) -> None:
        async with ScriptedUpstream(text_answer("canary-answer")) as upstream:
            async with running_gateway(tmp_path, upstream.url) as running:
                assert b"canary-answer" in (await ask(running, "canary-name")).content
        kept = [tmp_path / name for name in os.listdir(tmp_path)]
        assert kept
        for path in kept:
            assert b"canary" not in path.read_bytes(), path

    async def test_without_a_key_to_seal_with_it_is_refused(self, tmp_path: Path) -> None:
        async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
            service = Service(replace(running.gateway.service.parts, sealer=None))
            key = await service.authenticate(running.token)
            with pytest.raises(InvalidRequest) as caught:
                service.chat(PLAIN, key, "req-" + "0" * 32, b"{}", idempotency_key="key-1")
            assert caught.value.code == "unsupported_parameter"
            assert "HEADRACE_KMS_KEY" in caught.value.message

    async def test_an_answer_that_cannot_be_sealed_is_noted_and_one_that_cannot_be_opened_is_no_answer(
        self, tmp_path: Path
    ) -> None:
        folder = tmp_path / "keys"
        folder.mkdir()
        key_file = folder / "seal.key"
        variables = {"HEADRACE_SEAL_KEY_FILE": str(key_file)}
        async with ScriptedUpstream(HELLO) as upstream:
            key_file.write_text("nothing of use\n")
            async with running_gateway(tmp_path, upstream.url, variables=variables) as running:
                assert (await ask(running)).status_code == 200
                assert code(await ask(running)) == "idempotency_not_replayable"
                key_file.unlink()
                assert (await ask(running, "key-2")).status_code == 200
                token = running.token
            key_file.unlink()
            async with running_gateway(tmp_path, upstream.url, variables=variables) as running:
                async with running.client(authorization=f"Bearer {token}", **{"idempotency-key": "key-2"}) as client:
                    refused = await client.post("/v1/chat/completions", json=body())
                assert (refused.status_code, code(refused)) == (503, "store_unavailable")
        assert len(upstream.received) == 2
        assert MOST_BYTES > MOST_PACKED


@pytest.mark.parametrize("fails", [False, True])
async def test_a_slow_stream_has_its_comments_and_what_comes_of_it_is_kept_without_them(
    tmp_path: Path, fails: bool
) -> None:
    clock = ManualClock()
    busy = reply({"error": {"message": "busy"}}, 429, {"retry-after": "10"})
    last = [Never()] if fails else text_answer("Hello")
    async with (
        ScriptedUpstream(busy, busy, last, text_answer("Again")) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock) as running,
    ):
        asking = asyncio.ensure_future(ask(running, stream=True))
        for number in range(2):
            await upstream.arrival(number).wait()
            await clock.sleeper_within(10)
            await clock.advance(10)
        if fails:
            await upstream.arrival(2).wait()
            await clock.sleeper_within(12)
            await clock.advance(12)
        first = await asking
        assert first.text.startswith(": processing\n")
        assert ('"error"' in first.text) is fails
        second = await ask(running, stream=True)
        assert second.text == (first.text.removeprefix(": processing\n") if not fails else second.text)
        assert ("Again" in second.text) is fails


async def test_a_whole_answer_that_broke_is_not_kept(tmp_path: Path) -> None:
    scripts: list[Sequence[Step]] = [[Head(200), Reset()], [Head(200), Reset()], text_answer("Hello")]

    def script(received: Received) -> Sequence[Step]:
        return scripts.pop(0)

    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
        assert (await ask(running)).status_code == 502
        assert (await ask(running)).status_code == 200
