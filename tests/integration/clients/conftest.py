"""One gateway for all tests of clients, served from a thread of its own, so that blocking clients can call it too."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.gateway import running_gateway
from tests.support.knowing_model import know
from tests.support.script import Signal
from tests.support.upstream import ScriptedUpstream

MODEL = "lab/small"


@dataclass(frozen=True, slots=True)
class Place:
    """A surface of the running gateway, and the upstream behind it."""

    base_url: str
    key: str
    upstream: ScriptedUpstream


@dataclass(slots=True)
class _Address:
    url: str = ""
    key: str = ""


@pytest.fixture(scope="module")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[_Address, ScriptedUpstream]]:
    folder, address = tmp_path_factory.mktemp("gateway"), _Address()
    up, leave = Signal(), Signal()

    async def serve(upstream: ScriptedUpstream) -> None:
        async with running_gateway(folder, upstream.url) as running:
            address.url, address.key = running.url, running.token
            up.set()
            await leave.wait(None)

    with ScriptedUpstream(know) as upstream:
        thread = threading.Thread(target=asyncio.run, args=(serve(upstream),))
        thread.start()
        try:
            up.wait_in_thread()
            yield address, upstream
        finally:
            leave.set()
            thread.join()


@pytest.fixture(scope="module", params=["/v1", "/api/v1/inference"])
def place(_served: tuple[_Address, ScriptedUpstream], request: pytest.FixtureRequest) -> Place:
    """Each surface in turn."""
    address, upstream = _served
    return Place(address.url + request.param, address.key, upstream)
