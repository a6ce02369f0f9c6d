"""What an operator reads of a connection that failed: what happened, whatever the transport calls it."""

import socket
import ssl
from collections.abc import Callable

import httpx
import pytest

from core.errors import UpstreamUnavailable
from core.upstream.faults import upstream_faults
from functions.local.transport import ServerTransport

TRANSPORTS = pytest.mark.parametrize("transport", [ServerTransport, httpx.AsyncHTTPTransport])


def detail(fault: Exception) -> str:
    with pytest.raises(UpstreamUnavailable) as failure, upstream_faults():
        raise fault
    return failure.value.detail


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (socket.gaierror(-2, "Name or service not known"), "name not known"),
        (ConnectionRefusedError("no"), "connection refused"),
        (ConnectionResetError("no"), "connection reset"),
        (TimeoutError("slow"), "timed out"),
        (ssl.SSLCertVerificationError("self-signed"), "certificate not trusted"),
        (KeyError("what"), "ConnectTimeout"),
    ],
)
def test_the_cause_is_told_in_our_words(cause: Exception, words: str) -> None:
    fault = httpx.ConnectTimeout("Cannot connect to host x")
    fault.__cause__ = cause
    assert detail(fault) == f"{words}: Cannot connect to host x"


def test_a_cause_of_a_cause_is_found_and_a_context_too() -> None:
    inner = OSError("All connection attempts failed")
    inner.__cause__ = ConnectionRefusedError("no")
    fault = httpx.ConnectError("All connection attempts failed")
    fault.__context__ = inner
    assert detail(fault) == "connection refused: All connection attempts failed"


@TRANSPORTS
async def test_a_refused_connection_is_no_timeout(transport: Callable[[], httpx.AsyncBaseTransport]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        request = httpx.Request("GET", f"http://127.0.0.1:{closed.getsockname()[1]}/")
        async with transport() as sends:
            with pytest.raises(UpstreamUnavailable) as failure, upstream_faults():
                await sends.handle_async_request(request)
    assert failure.value.detail.startswith("connection refused: ")
