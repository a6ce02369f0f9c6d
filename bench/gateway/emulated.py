"""Callers of the gateway on its Lambda loop: they hand their requests to the emulator of the Runtime API."""

import time
from dataclasses import dataclass
from typing import Any

from bench.gateway.wire import Timing, Wrong
from functions.local.emulator.runtime_api import RuntimeApiEmulator


@dataclass(frozen=True, slots=True)
class EmulatedCaller:
    """A caller behind an API of API Gateway."""

    api: RuntimeApiEmulator
    key: str

    async def exchange(self, body: bytes, token: bytes, tokens: int) -> Timing:
        """Have a request handed out, and take its answer.

        Raises:
            Wrong: The answer is another.
        """
        began = time.monotonic()
        call = self.api.invoke(self._event(body), deadline=time.time() + 60)
        await call.done()
        if call.outcome != "answered" or call.body.count(token) != tokens:
            raise Wrong(f"{call.outcome}: {call.prelude} {call.body[:2000]!r}")
        reads = [chunk.at - began for chunk in call.chunks]
        first = next(chunk.at for chunk in call.chunks if token in chunk.data)
        return Timing(first - began, call.answered_at - began, reads)

    def close(self) -> None:
        """Nothing is open."""

    def _event(self, body: bytes) -> dict[str, Any]:
        """A proxy event of a REST API (payload format 1.0; AWS documentation, read 2026-11-30)."""
        headers = {"Host": "bench", "Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        return {
            "resource": "/{proxy+}",
            "path": "/v1/chat/completions",
            "httpMethod": "POST",
            "headers": headers,
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "queryStringParameters": None,
            "multiValueQueryStringParameters": None,
            "pathParameters": {"proxy": "v1/chat/completions"},
            "stageVariables": None,
            "requestContext": {
                "stage": "live",
                "path": "/live/v1/chat/completions",
                "httpMethod": "POST",
                "protocol": "HTTP/1.1",
                "requestId": "11111111-2222-3333-4444-555555555555",
                "identity": {"sourceIp": "203.0.113.9", "userAgent": "bench"},
            },
            "body": body.decode(),
            "isBase64Encoded": False,
        }
