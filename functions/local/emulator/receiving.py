"""Takes one streamed response from a runtime: checks it, keeps it, and lets it go wrong on demand."""

import asyncio
import time

from functions.local.emulator.call import Call, Chunk
from functions.local.emulator.contract import check_head, check_trailers, parse_prelude
from functions.local.emulator.wire import BadWire, Request, Trailers, answer, read_chunks

ACCEPTED = answer(202, b'{"status":"OK"}\n')


def refusal(status: int) -> bytes:
    """The answer to a response that is not taken."""
    return answer(status, b'{"errorMessage":"Invoke timeout","errorType":"InvokeTimeout"}')


async def receive(call: Call, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Receive until the response has ended, or Lambda has given the invocation up.

    Raises:
        BadWire: The response breaks Lambda's contract.
    """
    check_head(request)
    receiving = asyncio.ensure_future(_receive(call, reader, writer))
    giving_up = asyncio.ensure_future(call.gave_up.wait())
    try:
        await asyncio.wait({receiving, giving_up}, return_when=asyncio.FIRST_COMPLETED)
        if receiving.done():
            receiving.result()
        else:
            writer.write(refusal(410))
    except (EOFError, ConnectionError):
        call.end("lost")
    finally:
        receiving.cancel()
        giving_up.cancel()


async def _receive(call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    trailers, held = Trailers(), b""
    if call.refuse_with is not None and call.refuse_after == 0:
        return _refuse(call, call.refuse_with, writer)
    async for data in read_chunks(reader, trailers):
        if call.prelude is None:
            held += data
            if (parsed := parse_prelude(held)) is None:
                continue
            call.prelude, data = parsed
            call.pulse.beat()
        if data:
            call.chunks.append(Chunk(data, time.monotonic()))
            call.pulse.beat()
        if call.cut_after is not None and len(call.chunks) >= call.cut_after:
            call.end("lost")
            writer.transport.abort()
            return None
        if call.refuse_with is not None and len(call.chunks) >= call.refuse_after:
            return _refuse(call, call.refuse_with, writer)
        if call.stall_after is not None and len(call.chunks) >= call.stall_after:
            await asyncio.Event().wait()
    if call.prelude is None:
        raise BadWire("a response without a prelude")
    check_trailers(trailers.fields)
    call.trailers = trailers.fields
    await call.acknowledge.wait()
    writer.write(ACCEPTED)
    call.unclosed = True
    call.end("broken off" if call.trailers else "answered")
    if await reader.read(1):
        raise BadWire("the connection of a response was used again")
    call.unclosed = False
    return None


def _refuse(call: Call, status: int, writer: asyncio.StreamWriter) -> None:
    writer.write(refusal(status))
    call.end("refused")
