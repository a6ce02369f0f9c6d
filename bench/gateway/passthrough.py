"""The usual way to write a proxy: FastAPI in front, httpx behind, nothing read of what goes through."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from starlette.background import BackgroundTask

from bench.gateway.child import listener, options


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """One client for all requests."""
    limits = httpx.Limits(max_connections=None)
    base_url = f"http://127.0.0.1:{options()['upstream']}"
    async with httpx.AsyncClient(base_url=base_url, limits=limits, timeout=60, trust_env=False) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/v1/chat/completions")
async def chat_completions(request: Request) -> Response:
    """Pass a request on, and its answer back."""
    client: httpx.AsyncClient = request.app.state.client
    headers = {"content-type": "application/json", "authorization": request.headers["authorization"]}
    outgoing = client.build_request("POST", request.url.path, content=await request.body(), headers=headers)
    answer = await client.send(outgoing, stream=True)
    kind = answer.headers["content-type"]
    if kind.startswith("text/event-stream"):
        closing = BackgroundTask(answer.aclose)
        return StreamingResponse(answer.aiter_raw(), answer.status_code, {"content-type": kind}, background=closing)
    return Response(await answer.aread(), answer.status_code, {"content-type": kind})


if __name__ == "__main__":
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listener()])
