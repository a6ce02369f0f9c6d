"""A small gateway behind Lambda's own runtime client: the handler is `tests.support.buffered_app.handler`."""

import asyncio
import time

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from functions.gateway.buffered import BufferedHandler
from functions.gateway.deadline import DEADLINE
from tests.support.small_gateway import SmallGateway

app = FastAPI()
counted = {"prepared": 0, "after": 0}


@app.post("/echo")
async def echo(request: Request) -> Response:
    return Response(await request.body(), media_type="text/plain")


@app.get("/state")
async def state(request: Request) -> JSONResponse:
    left_s = request.scope[DEADLINE] - time.time()
    response = JSONResponse({**counted, "journal": gateway.journal, "left_s": left_s})
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response


@app.get("/broken")
async def broken() -> Response:
    raise ValueError("a secret")


async def afterwards() -> None:
    await asyncio.sleep(0)
    counted["after"] += 1


gateway = SmallGateway(app, afterwards=afterwards)


def prepare() -> SmallGateway:
    counted["prepared"] += 1
    return gateway


handler = BufferedHandler(prepare)
