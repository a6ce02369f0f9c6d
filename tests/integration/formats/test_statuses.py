"""Errors that come instead of an answer, in every vendor's own words, and what callers are told."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
import pytest_asyncio

from core.catalog.model import Format
from tests.support.script import Received, Step, reply
from tests.support.targets import make_target, make_vendor
from tests.support.vendors.hosts import open_hosts

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.shows("error status")]

WORDS = "the vendor's own words, with a secret-key in them"

ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
GEMINI = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
BEDROCK = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
OPENAI = (400, 401, 402, 403, 404, 408, 413, 422, 429, 498, 500, 502, 503, 504, 529)

STATUSES = {
    Format.OPENAI: OPENAI,
    Format.ANTHROPIC: tuple(ANTHROPIC),
    Format.GEMINI: tuple(GEMINI),
    Format.BEDROCK: tuple(BEDROCK),
}
CASES = [(wire, status) for wire, statuses in STATUSES.items() for status in statuses]

# What a caller sees of a host's status, where there is no other host to ask; everything else is 502.
TOLD = {400: (400, "invalid_request_error"), 413: (400, "invalid_request_error"), 422: (400, "invalid_request_error")}
TOLD[429] = (429, "rate_limit_error")


def in_its_words(wire: Format, status: int) -> Sequence[Step]:
    """An error as the vendor of a format puts it."""
    headers = {"retry-after": "7"} if status == 429 else {}
    match wire:
        case Format.OPENAI:
            body: Any = {"error": {"message": WORDS, "type": "error", "param": None, "code": None}}
            return reply(body, status, headers)
        case Format.ANTHROPIC:
            return reply({"type": "error", "error": {"type": ANTHROPIC[status], "message": WORDS}}, status, headers)
        case Format.GEMINI:
            return reply({"error": {"code": status, "message": WORDS, "status": GEMINI[status]}}, status, headers)
        case Format.BEDROCK:
            kind = {"x-amzn-errortype": f"{BEDROCK[status]}:http://internal.amazon.com/"}
            return reply({"message": WORDS}, status, {**headers, **kind})


def answer(host: str, request: Received) -> Sequence[Step]:
    wire, _, status = host.partition("/")
    return in_its_words(Format(wire), int(status))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def callers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    targets = {f"{wire.value}/{status}": make_target(vendor=make_vendor(format=wire)) for wire, status in CASES}
    async with open_hosts(tmp_path_factory.mktemp("statuses"), targets, answer) as (running, _):
        async with running.client() as client:
            yield client


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("wire", "status"), CASES, ids=[f"{wire.value}-{status}" for wire, status in CASES])
async def test_what_a_caller_is_told(callers: httpx.AsyncClient, wire: Format, status: int, stream: bool) -> None:
    body = {
        "model": f"{wire.value}/{status}",
        "messages": [{"role": "user", "content": "Hi."}],
        "routing": {"fallback": False},
        "stream": stream,
    }
    response = await callers.post("/v1/chat/completions", json=body)
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == TOLD.get(status, (502, "upstream_error"))
    assert ("retry-after" in response.headers) == (status == 429)
    if response.status_code != 400:  # only what is wrong with the request itself is told in the host's words
        assert "own words" not in response.text
