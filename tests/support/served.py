"""A gateway that serves in a thread of its own, for clients that block."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tests.support.gateway import Running, running_gateway
from tests.support.script import PATIENCE_S


@contextmanager
def served_gateway(folder: Path, upstream_url: str, variables: dict[str, str] | None = None) -> Iterator[Running]:
    """Serve a gateway until the context ends.

    Args:
        folder: Where its database goes.
        upstream_url: The address of the only vendor's server, without `/v1`.
        variables: More of its environment.
    """
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    gateway = running_gateway(folder, upstream_url, variables=variables)
    try:
        running = asyncio.run_coroutine_threadsafe(gateway.__aenter__(), loop).result(PATIENCE_S)
        try:
            yield running
        finally:
            asyncio.run_coroutine_threadsafe(gateway.__aexit__(None, None, None), loop).result(PATIENCE_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
