"""llama.cpp's own server answers, in parallel, with tools and schemas; and it never outlives us."""

import json
import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.local.llama_server import LlamaError, LlamaServer, LlamaSettings
from tests.support.llama import ALIAS, direct_client, llama_server, tiny_settings
from tests.support.tiny_model import write_tiny_model

__all__ = ["llama_server"]

ROOT = Path(__file__).parents[3]
HELLO = [{"role": "user", "content": "Hello"}]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA},
}


def ask(server: LlamaServer, **fields: Any) -> Any:
    with direct_client(server) as client:
        response = client.post("/chat/completions", json={"messages": HELLO, **fields})
    assert response.status_code == 200, response.text
    return response.json()


def stream(server: LlamaServer, **fields: Any) -> list[Any]:
    """Each chunk of a stream, after which `[DONE]` must have come."""
    options = {"stream": True, "stream_options": {"include_usage": True}}
    with direct_client(server) as client:
        response = client.post("/chat/completions", json={"messages": HELLO, **options, **fields})
    frames = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert frames[-1] == "[DONE]"
    return [json.loads(frame) for frame in frames[:-1]]


def text_of(chunks: list[Any]) -> str:
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


def test_a_whole_answer(llama_server: LlamaServer) -> None:
    answer = ask(llama_server, max_tokens=12)
    (choice,) = answer["choices"]
    assert answer["model"] == ALIAS
    assert choice["finish_reason"] == "length"
    assert len(choice["message"]["content"].split()) > 1
    assert answer["usage"]["completion_tokens"] == 12
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + 12


def test_a_stream_says_the_same_in_many_chunks(llama_server: LlamaServer) -> None:
    whole = ask(llama_server, max_tokens=24, temperature=0)
    chunks = stream(llama_server, max_tokens=24, temperature=0)
    assert text_of(chunks) == whole["choices"][0]["message"]["content"]
    assert len(chunks) > 20
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == 24


def test_a_stop_word_ends_an_answer(llama_server: LlamaServer) -> None:
    content = ask(llama_server, max_tokens=24, temperature=0)["choices"][0]["message"]["content"]
    word = content.split()[2]
    (choice,) = ask(llama_server, max_tokens=24, temperature=0, stop=[word])["choices"]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"] == content.partition(word)[0]


def test_twenty_at_a_time_each_get_their_own_answer(llama_server: LlamaServer) -> None:
    def answer(number: int) -> str:
        messages = [{"role": "user", "content": f"Number {number}, {number * 7919}"}]
        chunks = stream(llama_server, messages=messages, max_tokens=48, temperature=0)
        assert chunks[-1]["usage"]["completion_tokens"] == 48
        return text_of(chunks)

    alone = [answer(number) for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        together = list(pool.map(answer, range(20)))
    assert together == alone
    assert len(set(alone)) > 10


def test_a_schema_shapes_the_answer(llama_server: LlamaServer) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "trip", "schema": SCHEMA}}
    (choice,) = ask(llama_server, response_format=form, seed=1)["choices"]
    trip = json.loads(choice["message"]["content"])
    assert choice["finish_reason"] == "stop"
    assert isinstance(trip["city"], str)
    assert isinstance(trip["days"], int)


@pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "function": {"name": "get_weather"}}])
def test_tools_are_called_and_their_results_answered(llama_server: LlamaServer, choice: object) -> None:
    tools = {"tools": [WEATHER], "seed": 1}
    (called,) = ask(llama_server, tool_choice=choice, **tools)["choices"]
    assert called["finish_reason"] == "tool_calls"
    calls = called["message"]["tool_calls"]
    for call in calls:
        assert call["function"]["name"] == "get_weather"
        assert set(json.loads(call["function"]["arguments"])) == {"city", "days"}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "rain"} for call in calls]
    messages = [*HELLO, called["message"], *results]
    (answered,) = ask(llama_server, messages=messages, max_tokens=8, **tools)["choices"]
    assert answered["message"]["content"]
    assert "tool_calls" not in answered["message"]


def test_one_tool_call_at_a_time_if_asked_so(llama_server: LlamaServer) -> None:
    counts = set()
    for seed in range(6):
        fields = {"tools": [WEATHER], "parallel_tool_calls": False, "seed": seed}
        (choice,) = ask(llama_server, **fields)["choices"]
        counts.add(len(choice["message"]["tool_calls"]))
    assert counts == {1}


def test_the_defaults_of_an_answer_are_settings(tmp_path: Path) -> None:
    settings = LlamaSettings(
        model=write_tiny_model(tmp_path / "tiny.gguf"),
        alias="small talk",
        context_tokens=512,
        slots=1,
        threads=1,
        answer_tokens=5,
        temperature=0.0,
        repeat_penalty=1.1,
        chat_template="{% for message in messages %}{{ message.content }}{% endfor %}",
    )
    with LlamaServer.start(settings, log_path=tmp_path / "log") as server:
        first, second = ask(server), ask(server)
    assert first["choices"] == second["choices"]
    assert first["usage"]["completion_tokens"] == 5
    assert first["usage"]["prompt_tokens"] == len("Hello")


def test_stop_ends_the_process_and_may_be_called_again(tmp_path: Path) -> None:
    server = LlamaServer.start(tiny_settings(tmp_path), log_path=tmp_path / "deep" / "log")
    assert server.is_running()
    server.stop()
    server.stop()
    assert not server.is_running()
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)
    with pytest.raises(httpx.ConnectError):
        ask(server)


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
def test_stop_uses_force_on_a_process_that_does_not_listen(tmp_path: Path) -> None:
    server = LlamaServer.start(tiny_settings(tmp_path), log_path=tmp_path / "log")
    os.kill(server.pid, signal.SIGSTOP)
    server.stop(grace_seconds=0.1)
    assert not server.is_running()


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
def test_ctrl_c_is_left_to_the_parent(tmp_path: Path) -> None:
    with LlamaServer.start(tiny_settings(tmp_path), log_path=tmp_path / "log") as server:
        os.kill(server.pid, signal.SIGINT)
        assert ask(server, max_tokens=2)["usage"]["completion_tokens"] == 2


PARENT = """
import sys
from pathlib import Path
from functions.local.llama_server import LlamaServer, LlamaSettings

server = LlamaServer.start(LlamaSettings(Path(sys.argv[1]), "tiny"), log_path=Path(sys.argv[2]))
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when another's child ends")
def test_the_server_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    model = write_tiny_model(tmp_path / "tiny.gguf")
    command = [sys.executable, "-c", PARENT, str(model), str(tmp_path / "log")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        server = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    poller = select.poll()
    poller.register(server, select.POLLIN)
    ended = poller.poll(20_000)
    os.close(server)
    assert ended


def interpreter(folder: Path, command: str) -> str:
    script = folder / "python"
    script.write_text(f"#!/bin/sh\nexec {command}\n")
    script.chmod(0o755)
    return str(script)


def test_a_model_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_text("not a model")
    settings = LlamaSettings(tmp_path / "bad.gguf", "bad")
    with pytest.raises(LlamaError, match=r"did not start(?s:.*)failed to load model"):
        LlamaServer.start(settings, log_path=tmp_path / "log")


@pytest.mark.skipif(os.name == "nt", reason="the interpreter is a shell script")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (f'"{sys.executable}" -S "$@"', "install xllamacpp"),  # without any installed package
        ("false", "ended without a word"),
        ("cat", "not ready in time"),  # reads its input and says nothing
    ],
)
def test_a_start_that_fails_is_explained(tmp_path: Path, command: str, words: str) -> None:
    with pytest.raises(LlamaError, match=words):
        LlamaServer.start(
            tiny_settings(tmp_path),
            log_path=tmp_path / "log",
            ready_seconds=0.5 if command == "cat" else 60,
            python=interpreter(tmp_path, command),
        )


def test_an_interpreter_or_log_that_is_not_there(tmp_path: Path) -> None:
    settings = tiny_settings(tmp_path)
    with pytest.raises(LlamaError, match="could not be started"):
        LlamaServer.start(settings, log_path=tmp_path / "log", python=str(tmp_path / "nothing"))
    with pytest.raises(LlamaError, match="could not be started"):
        LlamaServer.start(settings, log_path=tmp_path)
