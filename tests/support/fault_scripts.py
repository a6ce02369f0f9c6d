"""What can go wrong at a host, as scripts of an upstream, and what must come of each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.framing.sse import MAX_EVENT_BYTES
from tests.support.answers import chunk, usage_chunk
from tests.support.script import Close, Head, Raw, Reset, Send, Step, reply

SSE = Head(200, {"content-type": "text/event-stream"})
ONCE, RETRIED, WAITED = 1, 2, 3
"""How often a host is asked: not again, once more after a short wait, or for as long as there are attempts."""

FAILED = "all_attempts_failed"
USED_MICROS = 31 * 3 + 64 * 15
"""What an attempt costs whose host reported `usage_chunk()`, at the prices of the bench."""


@dataclass(frozen=True)
class Fault:
    """A fault of one host.

    `outcome` is that of each attempt, `tries` how often the host is asked when it is the last one; `tries_before_next`
    when there is another (None: the same). `status` and `code` are what a caller sees who has no other host,
    `moves_on` says whether another may be asked. `address` is where the host is, where it is not the upstream.
    `cost` is what each attempt is charged, in micro-dollars. `is_answer` says that the last empty answer is passed on.
    """

    script: Sequence[Step]
    outcome: str = "upstream_error"
    tries: int = RETRIED
    status: int = 502
    code: str = FAILED
    moves_on: bool = True
    tries_before_next: int | None = None
    address: str | None = None
    cost: int = 0
    is_answer: bool = False


def sse(payload: object) -> Send:
    return Send(f"data: {json.dumps(payload)}\n\n".encode())


def error(status: int, code: str | None = None, **headers: str) -> list[Step]:
    return reply({"error": {"message": "the host's own words", "code": code}}, status, headers)


def _once(script: Sequence[Step]) -> Fault:
    """The host is at fault, and asking it again would not help."""
    return Fault(script, tries=ONCE, code="upstream_error")


def _wrong(script: Sequence[Step]) -> Fault:
    """The host says that the request itself is wrong: nobody else is asked."""
    return Fault(script, tries=ONCE, status=400, code="invalid_value", moves_on=False)


def _cut(*steps: Step) -> Fault:
    return Fault(steps, outcome="interrupted")


OVERLOADED: Mapping[str, Any] = {"error": {"message": "overloaded", "code": 503}}
GIGANTIC = b"data: " + b" " * (MAX_EVENT_BYTES + 1)
LIMITED: Mapping[str, Any] = {"outcome": "rate_limited", "status": 429, "code": "upstream_rate_limited"}

BEFORE: Mapping[str, Fault] = {
    "refused": Fault((), address="nowhere"),
    "a name that is not known": Fault((), address="http://nowhere.invalid"),
    "no TLS": Fault((), address="no TLS"),
    "reset before the head": Fault([Reset()]),
    "cut in the head": Fault([Raw(b"HTTP/1.1 200 OK\r\ncontent-ty"), Close()]),
    "cut after the head": _cut(SSE, Close()),
    "not HTTP": _cut(Raw(b"SSH-2.0-OpenSSH\r\n\r\n")),
    "400": _wrong(error(400)),
    "400 with a wait": _wrong(error(400, **{"retry-after": "7"})),
    "401": _once(error(401)),
    "402": _once(error(402)),
    "403": _once(error(403)),
    "404": _once(error(404)),
    "408": Fault(error(408)),
    "409": Fault(error(409)),
    "413": _wrong(error(413)),
    "422": _wrong(error(422)),
    "429": Fault(error(429), tries=WAITED, tries_before_next=ONCE, **LIMITED),
    "429 for two seconds": Fault(error(429, **{"retry-after": "2"}), tries=WAITED, tries_before_next=ONCE, **LIMITED),
    "429 for an hour": Fault(error(429, **{"retry-after": "3600"}), tries=ONCE, **LIMITED),
    "429 for the bill": _once(error(429, "insufficient_quota")),
    "500": Fault(error(500)),
    "502": Fault(error(502)),
    "503": Fault(error(503)),
    "503 for two seconds": Fault(error(503, **{"retry-after": "2"}), tries_before_next=ONCE),
    "503 for half a minute": _once(error(503, **{"retry-after": "30"})),
    "529": Fault(error(529)),
    "too long": Fault(
        error(400, "context_length_exceeded"),
        outcome="context_too_long",
        tries=ONCE,
        status=400,
        code="context_length_exceeded",
        moves_on=False,
    ),
    "html under 200": Fault([Head(200, {"content-type": "text/html"}), Send(b"<html>Bad gateway</html>")]),
    "error under 200": Fault(error(200)),
    "nothing under 200": _cut(Head(200, {"content-type": "application/json"}, "length"), Send(b"")),
    "redirect": Fault([Head(302, {"location": "http://127.0.0.1:1/"}, "length"), Send(b"")]),
    "error in the stream": Fault([SSE, sse(OVERLOADED)]),
    "error after usage": Fault([SSE, sse(usage_chunk()), sse(OVERLOADED)], cost=USED_MICROS),
    "stream without events": _cut(SSE),
    "only done": Fault([SSE, Send(b"data: [DONE]\n\n")]),
    "garbage": Fault([SSE, Send(b"data: {not json}\n\n")]),
    "binary": Fault([SSE, Send(b"data: \xff\xfe\n\n")]),
    "gigantic event": Fault([SSE, Send(GIGANTIC)]),
    "empty answer": Fault(
        [SSE, sse(chunk({}, "stop")), sse(usage_chunk()), Send(b"data: [DONE]\n\n")],
        outcome="no_content",
        cost=USED_MICROS,
        status=200,
        is_answer=True,
    ),
}
"""What happens before any token."""

TOKEN = sse(chunk({"content": "Hel"}))

AFTER: Mapping[str, Fault] = {
    "reset": _cut(SSE, TOKEN, Reset()),
    "closed": _cut(SSE, TOKEN, Close()),
    "ended": _cut(SSE, TOKEN),
    "ended after usage": Fault([SSE, TOKEN, sse(usage_chunk())], outcome="interrupted", cost=USED_MICROS),
    "error event": Fault([SSE, TOKEN, sse(OVERLOADED)]),
    "garbage": Fault([SSE, TOKEN, Send(b"data: {oops\n\n")]),
    "gigantic event": Fault([SSE, TOKEN, Send(GIGANTIC)]),
}
"""What happens after a token: a stream has committed then, a whole answer has not."""
