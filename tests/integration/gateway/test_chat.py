"""A chat completion through the whole gateway: SDK, server, store and a scripted upstream, over real sockets."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI, BadRequestError

from tests.support.answers import HELLO, chunk, text_answer, usage_chunk
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, Reset, Step, reply, stream
from tests.support.upstream import ScriptedUpstream, refusing

QUESTION: list[Any] = [{"role": "user", "content": "Hello?"}]
PREFIXES = ["/v1", "/api/v1/inference"]


def body(**members: Any) -> dict[str, Any]:
    return {"model": "lab/small", "messages": QUESTION, **members}


def sdk(running: Running, prefix: str = "/v1") -> AsyncOpenAI:
    return AsyncOpenAI(base_url=running.url + prefix, api_key=running.token, max_retries=0)


def events_of(text: str) -> list[Any]:
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    assert data[-1] == "[DONE]"
    return [json.loads(line) for line in data[:-1]]


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_the_sdks_documented_loop_reads_a_stream(tmp_path: Path, prefix: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        client = sdk(running, prefix)
        text = ""
        answer = await client.chat.completions.create(model="lab/small", messages=QUESTION, stream=True)
        async for part in answer:
            text += part.choices[0].delta.content or ""
        assert text == "Hello there!"
        assert upstream.received[0].json["stream_options"] == {"include_usage": True}
        assert upstream.received[0].json["model"] == "small-upstream"
        await client.close()


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_whole_answer_has_its_cost_in_the_body_and_in_the_headers(tmp_path: Path, prefix: str) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            response = await client.post(f"{prefix}/chat/completions", json=body())
        answer = response.json()
        assert answer["choices"][0]["message"]["content"] == "Hello there!"
        assert answer["choices"][0]["finish_reason"] == "stop"
        assert answer["usage"]["cost_micros"] == 1_053
        assert "pricing_unknown" not in answer["usage"]
        assert response.headers["x-inferbase-cost-micros"] == "1053"
        assert response.headers["x-inferbase-model"] == "lab/small"
        assert response.headers["x-request-id"] == response.headers["x-inferbase-request-id"]
        assert ("routing" in answer) is (prefix != "/v1")
        assert answer["id"].startswith("chatcmpl-" if prefix == "/v1" else "req-")
        record = await running.store.record("default", response.headers["x-request-id"])
        assert record is not None
        assert record.charge is not None
        assert (record.outcome, record.charge.total, record.is_settled) == ("served", 1_053, True)


async def test_the_routing_surface_frames_its_stream(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            response = await client.post("/api/v1/inference/chat/completions", json=body(stream=True))
        frames = events_of(response.text)
        assert [frame["object"] for frame in (frames[0], frames[1], frames[-1])] == [
            "routing",
            "chat.completion.chunk",
            "usage",
        ]
        assert frames[0]["routing"]["model"] == "lab/small"
        assert frames[-1]["usage"]["cost_micros"] == 1_053
        assert {frame["id"] for frame in frames} == {response.headers["x-request-id"]}


async def test_an_alias_is_answered_under_the_name_that_was_asked_for(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            plain = await client.post("/v1/chat/completions", json=body(model="small-alias"))
            routing = await client.post("/api/v1/inference/chat/completions", json=body(model="small-alias"))
        assert (plain.json()["model"], routing.json()["model"]) == ("small-alias", "lab/small")


async def test_a_model_without_a_price_is_charged_null_never_nothing(tmp_path: Path) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            response = await client.post("/v1/chat/completions", json=body(model="lab/unpriced"))
        usage = response.json()["usage"]
        assert (usage["cost_micros"], usage["cost"], usage["pricing_unknown"]) == (None, None, True)
        assert "x-inferbase-cost-micros" not in response.headers


async def test_usage_that_the_host_did_not_report_is_estimated_and_marked(tmp_path: Path) -> None:
    silent = stream(chunk({"content": "Hello"}), chunk({}, "stop"))
    async with ScriptedUpstream(silent) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            usage = (await client.post("/v1/chat/completions", json=body())).json()["usage"]
        assert usage["estimated"] is True
        assert usage["completion_tokens"] == 2
        assert usage["cost_micros"] > 0


@pytest.mark.parametrize("headers", [{"authorization": "Bearer TOKEN"}, {"authorization": "", "x-api-key": "TOKEN"}])
async def test_both_ways_to_send_a_key(tmp_path: Path, headers: dict[str, str]) -> None:
    async with ScriptedUpstream(HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
        sent = {name: value.replace("TOKEN", running.token) for name, value in headers.items()}
        async with running.client(**sent) as client:
            assert (await client.post("/v1/chat/completions", json=body())).status_code == 200


class TestRefusals:
    @pytest.mark.parametrize(
        ("headers", "words"),
        [
            ({"authorization": ""}, "No API key"),
            ({"authorization": "Basic abc"}, "No API key"),
            ({"authorization": "Bearer hr_wrong"}, "not an API key"),
            ({"authorization": "Bearer ' OR 1=1 --"}, "not an API key"),
            ({"authorization": "Bearer hr_0000000000000000000000000000000000" + "000000"}, "API key"),
        ],
    )
    async def test_without_a_live_key(self, tmp_path: Path, headers: dict[str, str], words: str) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client(**headers) as client:
                response = await client.post("/v1/chat/completions", json=body())
        error = response.json()["error"]
        assert (response.status_code, error["type"], error["code"]) == (
            401,
            "authentication_error",
            "invalid_api_key",
        )
        assert words in error["message"]
        assert response.json()["request_id"] == response.headers["x-request-id"]
        assert response.headers["x-should-retry"] == "false"

    @pytest.mark.parametrize(
        ("content", "status", "code", "param"),
        [
            (b"{", 400, "invalid_json", None),
            (b"\xff\xfe", 400, "invalid_json", None),
            (b"{}", 400, "missing_required_parameter", "model"),
            (json.dumps(body(model="lab/smal")).encode(), 404, "model_not_found", "model"),
            (json.dumps(body(temperature=3)).encode(), 400, "invalid_value", "temperature"),
            (json.dumps(body(max_tokens=4_096)).encode(), 400, "invalid_value", "max_tokens"),
            (b"x" * (7 * 1024 * 1024), 413, "request_too_large", None),
        ],
    )
    async def test_bad_bodies(self, tmp_path: Path, content: bytes, status: int, code: str, param: str | None) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                response = await client.post("/v1/chat/completions", content=content)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (status, code, param)

    async def test_a_body_that_breaks_off_is_no_fault_of_ours(self, tmp_path: Path) -> None:
        async with running_gateway(tmp_path, "http://127.0.0.1:9") as running, running.client() as client:
            url = httpx.URL(running.url)
            reader, writer = await asyncio.open_connection(url.host, url.port)
            head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer {running.token}\r\n"
            writer.write(f"{head}content-length: 72\r\n\r\n".encode() + b'{"model": ')
            writer.write_eof()
            await reader.read()
            writer.close()
            await writer.wait_closed()
            assert (await client.get("/healthz")).status_code == 200
            await running.gateway.after_response()
        assert running.noted.faults == []

    async def test_a_large_body_of_unannounced_size_is_refused_too(self, tmp_path: Path) -> None:
        async def pieces() -> Any:
            for _ in range(7 * 16):
                yield b"x" * 65_536

        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                response = await client.post("/v1/chat/completions", content=pieces())
        assert response.status_code == 413

    async def test_a_compressed_body_is_refused_by_its_header(self, tmp_path: Path) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                response = await client.post("/v1/chat/completions", content=b"x", headers={"content-encoding": "br"})
        assert response.status_code == 400
        assert "compressed with br" in response.json()["error"]["message"]

    async def test_a_refused_part_is_named_by_its_place(self, tmp_path: Path) -> None:
        parts = [
            {"type": "text", "text": "Hear:"},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
        ]
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                response = await client.post(
                    "/v1/chat/completions", json=body(messages=[{"role": "user", "content": parts}])
                )
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (400, "unsupported_parameter")
        assert error["param"] == "messages[0].content[1].input_audio"

    async def test_an_unknown_model_names_what_was_probably_meant(self, tmp_path: Path) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                response = await client.post("/v1/chat/completions", json=body(model="lab/smal"))
        assert "lab/small" in response.json()["error"]["message"]

    @pytest.mark.parametrize(
        ("method", "path", "status", "code"),
        [
            ("GET", "/v1/nothing", 404, "endpoint_not_found"),
            ("GET", "/v1/chat/completions", 405, "method_not_allowed"),
            ("POST", "/healthz", 405, "method_not_allowed"),
            ("GET", "/v1/models/lab/none", 404, "model_not_found"),
        ],
    )
    async def test_wrong_places(self, tmp_path: Path, method: str, path: str, status: int, code: str) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                response = await client.request(method, path)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)

    @pytest.mark.parametrize(
        ("method", "path", "hint"),
        [
            ("GET", "/models", " Did you mean /v1/models?"),
            ("POST", "/chat/completions", " Did you mean /v1/chat/completions?"),
            ("GET", "/models/lab/small", " Did you mean /v1/models/lab/small?"),
            ("GET", "/chat/completions", ""),
            ("GET", "/v1/nothing", ""),
        ],
    )
    async def test_a_base_url_without_v1_is_told_of(self, tmp_path: Path, method: str, path: str, hint: str) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                error = (await client.request(method, path)).json()["error"]
        assert error["code"] == "endpoint_not_found"
        assert error["message"] == f"There is no endpoint {path}.{hint} See /docs for those there are."

    async def test_a_key_in_the_wrong_place_is_told_without_it(self, tmp_path: Path) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                key = running.token
                chat, routed = "/v1/chat/completions", "/api/v1/inference/chat/completions"
                asked = [
                    ("GET", f"/v1/{key}", None),
                    ("PUT", f"/v1/models/{key}", None),
                    ("GET", f"/v1/models/{key}", None),
                    ("GET", f"/v1/routing-decisions/{key}", None),
                    ("GET", f"/v1/usage?{key}=1", None),
                    ("GET", f"/v1/usage?group_by={key}", None),
                    ("POST", chat, body(model=key)),
                    ("POST", chat, body(stream=key)),
                    ("POST", chat, body(routing={"policy": key})),
                    ("POST", chat, body(tool_choice={"type": "function", "function": {"name": key}})),
                    ("POST", routed, body(**{key: 1})),
                    ("POST", routed, body(messages=[{"role": key, "content": "x", key: {key: 2}}])),
                ]
                for method, path, sent in asked:
                    answer = await client.request(method, path, json=sent)
                    assert answer.status_code in (400, 404, 405, 422), path
                    assert key[:20] not in answer.text
                told = (await client.get(f"/v1/{key}")).json()["error"]["message"]
        assert told == "There is no endpoint /v1/hr_.... See /docs for those there are."


class TestUpstreamFailures:
    @pytest.mark.parametrize("is_stream", [True, False])
    async def test_a_host_that_refuses_connections(self, tmp_path: Path, is_stream: bool) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                response = await client.post("/v1/chat/completions", json=body(stream=is_stream))
                records = await running.store.records("default", 10)
        assert (response.status_code, response.json()["error"]["code"]) == (502, "all_attempts_failed")
        assert [row.outcome for row in records[0].attempts] == ["upstream_error", "upstream_error"]
        assert (records[0].outcome, records[0].charge) is not None
        assert "lab" not in response.json()["error"]["message"].replace("lab/small", "")

    @pytest.mark.parametrize("prefix", PREFIXES)
    async def test_an_answer_that_breaks_off_ends_in_an_error_frame(self, tmp_path: Path, prefix: str) -> None:
        cut = [*stream(chunk({"content": "Hello"}), done=False), Reset()]
        async with ScriptedUpstream(cut) as upstream, running_gateway(tmp_path, upstream.url) as running:
            async with running.client() as client:
                response = await client.post(f"{prefix}/chat/completions", json=body(stream=True))
            frames = events_of(response.text)
            assert response.status_code == 200
            assert frames[-1]["object"] == "error"
            assert frames[-1]["choices"] == []
            assert (frames[-1]["error"]["type"], frames[-1]["error"]["code"]) == ("stream_error", "interrupted")
            records = await running.store.records("default", 10)
            assert (records[0].outcome, records[0].error_code) == ("interrupted", "interrupted")
            assert records[0].charge is not None
            assert records[0].charge.total == 0
            assert len(upstream.received) == 1

    async def test_an_end_without_a_finish_is_not_made_up(self, tmp_path: Path) -> None:
        cut = stream(chunk({"content": "Hello"}), done=False)
        async with ScriptedUpstream(cut) as upstream, running_gateway(tmp_path, upstream.url) as running:
            async with running.client() as client:
                response = await client.post("/v1/chat/completions", json=body(stream=True))
            frames = events_of(response.text)
            assert frames[-1]["error"]["code"] == "interrupted"
            assert all(choice["finish_reason"] is None for frame in frames[:-1] for choice in frame["choices"])

    async def test_a_whole_answer_that_breaks_off_is_asked_for_again(self, tmp_path: Path) -> None:
        cut = stream(chunk({"content": "Hel"}), done=False)
        async with ScriptedUpstream(cut, HELLO) as upstream, running_gateway(tmp_path, upstream.url) as running:
            async with running.client() as client:
                response = await client.post("/api/v1/inference/chat/completions", json=body())
            assert response.json()["choices"][0]["message"]["content"] == "Hello there!"
            assert [attempt["outcome"] for attempt in response.json()["routing"]["attempts"]] == [
                "interrupted",
                "served",
            ]

    async def test_the_upstreams_verdict_that_the_request_is_wrong_is_the_callers(self, tmp_path: Path) -> None:
        wrong = reply({"error": {"message": "seed is odd", "type": "invalid_request_error", "param": "seed"}}, 400)
        async with ScriptedUpstream(wrong) as upstream, running_gateway(tmp_path, upstream.url) as running:
            client = sdk(running)
            with pytest.raises(BadRequestError) as refused:
                await client.chat.completions.create(model="lab/small", messages=QUESTION, seed=1)
            assert refused.value.param == "seed"
            assert len(upstream.received) == 1
            await client.close()

    async def test_every_host_asking_to_wait_is_429_with_the_wait(self, tmp_path: Path) -> None:
        busy = reply({"error": {"message": "slow down"}}, 429, {"retry-after": "3600"})
        async with ScriptedUpstream(busy) as upstream, running_gateway(tmp_path, upstream.url) as running:
            async with running.client() as client:
                response = await client.post("/v1/chat/completions", json=body())
        assert (response.status_code, response.headers["retry-after"]) == (429, "3600")
        assert response.headers["x-should-retry"] == "false"
        assert response.json()["error"]["code"] == "upstream_rate_limited"


async def test_tool_calls_go_round_with_ids_of_our_own(tmp_path: Path) -> None:
    call = {"index": 0, "id": "up-call", "type": "function", "function": {"name": "f", "arguments": ""}}
    calls = stream(
        chunk({"role": "assistant", "tool_calls": [call]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"x": 1}'}}]}),
        chunk({}, "stop"),
        usage_chunk(),
    )

    def script(request: Received) -> list[Step]:
        return calls if request.json["messages"][-1]["role"] == "user" else text_answer("done")

    tools: list[Any] = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
        client = sdk(running)
        first = await client.chat.completions.create(model="lab/small", messages=QUESTION, tools=tools)
        message = first.choices[0].message
        assert first.choices[0].finish_reason == "tool_calls"
        assert message.tool_calls is not None
        assert message.tool_calls[0].id.startswith("call_")
        history: list[Any] = [
            *QUESTION,
            message.model_dump(),
            {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "42"},
        ]
        second = await client.chat.completions.create(model="lab/small", messages=history, tools=tools)
        assert second.choices[0].message.content == "done"
        # The host sees the id that it gave itself.
        assert upstream.received[1].json["messages"][1]["tool_calls"][0]["id"] == "up-call"
        assert upstream.received[1].json["messages"][2]["tool_call_id"] == "up-call"
        await client.close()


class TestPlaces:
    async def test_models_and_health(self, tmp_path: Path) -> None:
        with refusing() as nowhere:
            async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
                listed = (await client.get("/v1/models")).json()
                one = (await client.get("/v1/models/lab/small")).json()
                alias = (await client.get("/v1/models/small-alias")).json()
                public = await client.get("/v1/models", headers={"authorization": ""})
                health = await client.get("/healthz", headers={"authorization": ""})
                ready = await client.get("/readyz", headers={"authorization": ""})
        assert listed["object"] == "list"
        assert {"lab/small", "lab/unpriced"} <= {model["id"] for model in listed["data"]}
        assert one["id"] == alias["id"] == "lab/small"
        assert public.status_code == 200
        assert health.json() == ready.json() == {"status": "ok"}
