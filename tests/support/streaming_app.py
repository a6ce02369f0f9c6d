"""A small gateway under the real runtime loop, as a program: `python -m tests.support.streaming_app`."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

from fastapi import BackgroundTasks, FastAPI, Request
from fastapi.responses import StreamingResponse

from functions.gateway.streaming.contract import Gateway
from functions.gateway.streaming.process import main
from functions.settings import remember_trace
from tests.support.small_gateway import SmallGateway

app = FastAPI()


@app.post("/count")
async def count(request: Request, background: BackgroundTasks) -> StreamingResponse:
    """As many events as the body says; the trace header, and then a line in the log."""
    numbers = range(int(await request.body()))

    async def events() -> AsyncIterator[bytes]:
        for number in numbers:
            yield b"data: %d\n\n" % number
            await asyncio.sleep(0)
        yield f"data: {os.environ.get('_X_AMZN_TRACE_ID')}\n\n".encode()

    background.add_task(print, "counted", flush=True)
    return StreamingResponse(events(), media_type="text/event-stream", background=background)


@app.post("/break")
async def break_off() -> StreamingResponse:
    async def events() -> AsyncIterator[bytes]:
        yield b"data: 0\n\n"
        raise ValueError("in the middle")

    return StreamingResponse(events(), media_type="text/event-stream")


@app.post("/hold")
async def hold() -> StreamingResponse:
    """One event with the process id, and never an end."""

    async def events() -> AsyncIterator[bytes]:
        yield b"%d\n" % os.getpid()
        await asyncio.Event().wait()

    return StreamingResponse(events(), media_type="text/event-stream")


@app.get("/pid")
async def pid() -> int:
    return os.getpid()


async def closing() -> None:
    print("closed", flush=True)


def prepare() -> Gateway:
    return SmallGateway(app, closing=closing)


if __name__ == "__main__":
    sys.exit(main(prepare, dict(os.environ), remember_trace))
