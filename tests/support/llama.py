"""A running llama.cpp server with the tiny model, one for each test process.

`tests/conftest.py` makes the fixture known with `pytest_plugins = ["tests.support.llama"]`.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from functions.local.llama_server import LlamaServer, LlamaSettings
from tests.support.tiny_model import write_tiny_model

ALIAS = "tiny"
CONTEXT_TOKENS = 4_096
SLOTS = 4


def tiny_settings(folder: Path) -> LlamaSettings:
    """Write the tiny model into a folder, and say how it is served."""
    return LlamaSettings(
        model=write_tiny_model(folder / "tiny.gguf"),
        alias=ALIAS,
        context_tokens=CONTEXT_TOKENS,
        slots=SLOTS,
        threads=1,  # so small that a second thread would only wait
    )


def direct_client(server: LlamaServer) -> httpx.Client:
    """A client of the server itself, for what the gateway's answer is compared with.

    The server announces that a connection stays open after a stream, and then closes it; whoever
    uses it again meets a broken connection. So each request has its own.
    """
    return httpx.Client(base_url=server.base_url, headers={"connection": "close"}, trust_env=False, timeout=60)


@pytest.fixture(scope="session")
def llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    folder = tmp_path_factory.mktemp("llama")
    with LlamaServer.start(tiny_settings(folder), log_path=folder / "server.log") as server:
        yield server
