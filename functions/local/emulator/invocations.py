"""The invocations of one environment: who waits for the function, who is out, and which of them an answer is for."""

import asyncio
import json
from itertools import count

from functions.local.emulator.call import Call, Pulse
from functions.local.emulator.receiving import refusal
from functions.local.emulator.wire import answer

_INVALID_ID = b'{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}'


class Unanswerable(Exception):
    """There is no invocation that this answer may be for.

    Args:
        reply: What the runtime is told, as it stands on the wire.
        violation: What the runtime did wrong, if it did.
    """

    def __init__(self, reply: bytes, violation: str | None = None) -> None:
        super().__init__(violation)
        self.reply = reply
        self.violation = violation


class Invocations:
    """Those that were made and not forgotten.

    Args:
        pulse: Beats with whatever happens to one of them.
    """

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse
        self._calls: list[Call] = []
        self._numbers = count(1)
        self.queue: asyncio.Queue[Call] = asyncio.Queue()

    def invoke(
        self,
        event: object,
        *,
        deadline: float,
        request_id: str | None = None,
        invocation_id: str | None = "made up",
        trace_id: str | None = None,
    ) -> Call:
        """Queue an invocation for the next `/next`.

        Args:
            event: Anything JSON can hold; bytes go out as they are.
            deadline: Unix seconds.
            request_id: A retry may repeat one; made up when left out.
            invocation_id: What must be echoed; None for a Lambda that does not know it yet.
            trace_id: X-Ray's header.
        """
        number = next(self._numbers)
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        if invocation_id == "made up":
            invocation_id = f"invocation-{number}"
        call = Call(request_id or f"request-{number}", data, deadline, invocation_id, trace_id, self._pulse)
        self._calls.append(call)
        self.queue.put_nowait(call)
        return call

    @property
    def unfinished(self) -> int:
        """How many have not ended, whether a `/next` has got them or not."""
        return sum(call.outcome is None for call in self._calls)

    @property
    def out(self) -> int:
        """How many a `/next` has got that have not ended."""
        return sum(call.began and call.outcome is None for call in self._calls)

    def find(self, request_id: str, echoed: str | None) -> Call:
        """The invocation that is answered.

        Args:
            request_id: As the path of the answer has it.
            echoed: The invocation id that came back.

        Raises:
            Unanswerable: It is not out, or was given up.
        """
        same_id = [call for call in self._calls if call.request_id == request_id and call.began]
        if not same_id:
            raise Unanswerable(answer(400, _INVALID_ID), f"an answer for {request_id}, which is not out")
        call = same_id[-1]
        if echoed != call.invocation_id:
            known = any(echoed == earlier.invocation_id for earlier in same_id)
            raise Unanswerable(refusal(410), None if known else f"{request_id} echoed {echoed} as its invocation id")
        if call.outcome == "timed out":
            raise Unanswerable(refusal(410))
        if call.outcome is not None:
            raise Unanswerable(answer(400, _INVALID_ID), f"{request_id} is answered twice")
        return call

    def forget(self, call: Call) -> None:
        """Keep nothing of one that has ended; an answer that comes for it later is refused."""
        self._calls.remove(call)

    def lose_all(self) -> None:
        """The runtime is gone: what it has not answered is lost."""
        for call in self._calls:
            call.end("lost")

    async def closed(self) -> None:
        """Until the connection of every response has been closed, which is the runtime's duty."""
        await self._pulse.until(lambda: not any(call.unclosed for call in self._calls))
