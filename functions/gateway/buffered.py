"""The gateway behind a buffered integration and under `sam local invoke`: Mangum under Lambda's own runtime.

Nothing is streamed here: the caller waits for what is put off until after the response, too. Nothing happens before
the first event.
"""

import asyncio
import logging
import time
from typing import Any

from mangum import Mangum
from mangum.types import ASGI, LambdaContext, LambdaEvent, Receive, Scope, Send

from functions.gateway.deadline import DEADLINE
from functions.gateway.starting import start
from functions.gateway.streaming.contract import Gateway, Prepare
from functions.gateway.streaming.serve import AFTER_RESPONSE_S, ASLEEP_S

log = logging.getLogger(__name__)


class BufferedHandler:
    """A Lambda handler that makes its gateway when the first event comes, and keeps it.

    Args:
        prepare: Makes the gateway.
    """

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._gateway: Gateway | None = None
        self._mangum: Mangum | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, event: LambdaEvent, context: LambdaContext) -> dict[str, Any]:
        """Answer one event with a proxy response."""
        gateway, mangum, loop = self._started()
        try:
            return mangum(event, context)
        finally:
            left_s = context.get_remaining_time_in_millis() / 1000
            loop.run_until_complete(_after_response(gateway, min(AFTER_RESPONSE_S, left_s - ASLEEP_S)))

    def close(self) -> None:
        """Close the gateway, if an event ever came. Lambda ends environments without a word, so only tests call it."""
        if self._gateway is not None and self._loop is not None:
            self._loop.run_until_complete(self._gateway.close())
            self._loop.close()
        self._gateway = self._mangum = self._loop = None

    def _started(self) -> tuple[Gateway, Mangum, asyncio.AbstractEventLoop]:
        if self._gateway is None or self._mangum is None or self._loop is None:
            gateway = self._prepare()
            loop = asyncio.new_event_loop()
            # Mangum runs the app on the loop that is current, and clients live on the loop that made them.
            asyncio.set_event_loop(loop)
            try:
                loop.run_until_complete(gateway.connect())
            except BaseException:
                loop.close()
                raise
            self._gateway, self._loop = gateway, loop
            self._mangum = Mangum(_with_deadline(gateway.app), lifespan="off")
        return self._gateway, self._mangum, self._loop


def _with_deadline(app: ASGI) -> ASGI:
    async def dated(scope: Scope, receive: Receive, send: Send) -> None:
        left_s = scope["aws.context"].get_remaining_time_in_millis() / 1000
        await app({**scope, DEADLINE: time.time() + left_s}, receive, send)

    return dated


async def _after_response(gateway: Gateway, budget_s: float) -> None:
    try:
        async with asyncio.timeout(budget_s):
            await gateway.after_response()
    except TimeoutError:
        log.error("the work after the response took too long and was stopped")
    except Exception:
        log.exception("the work after the response failed")


handler = BufferedHandler(start)
