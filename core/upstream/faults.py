"""Which failure each fault of the transport is: one table, the most specific class first."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from core.errors import Interrupted, UpstreamFailure, UpstreamUnavailable

_UNREACHABLE = "The model's host could not be reached. Try again, or name another model."
_BROKEN = "The model's answer broke off before it was complete. Send the request again."

FAULTS: tuple[tuple[type[Exception], type[UpstreamFailure], str], ...] = (
    (httpx.ConnectError, UpstreamUnavailable, _UNREACHABLE),
    (httpx.ConnectTimeout, UpstreamUnavailable, _UNREACHABLE),
    (httpx.PoolTimeout, UpstreamUnavailable, _UNREACHABLE),
    (httpx.ReadError, Interrupted, _BROKEN),
    (httpx.RemoteProtocolError, Interrupted, _BROKEN),
    (httpx.HTTPError, UpstreamUnavailable, _UNREACHABLE),
    (ssl.SSLError, UpstreamUnavailable, _UNREACHABLE),
    (OSError, UpstreamUnavailable, _UNREACHABLE),
)

REASONS: tuple[tuple[type[Exception], str], ...] = (
    (socket.gaierror, "name not known"),
    (ConnectionRefusedError, "connection refused"),
    (ConnectionResetError, "connection reset"),
    (TimeoutError, "timed out"),
    (ssl.SSLCertVerificationError, "certificate not trusted"),
)
"""What operators are told of faults of the system, which are the causes of the transport's own."""


@contextmanager
def upstream_faults() -> Iterator[None]:
    """Raise the transport's faults as failures of the upstream; the fault itself is their cause."""
    try:
        yield
    except Exception as fault:
        for kind, failure, message in FAULTS:
            if isinstance(fault, kind):
                raise failure(message, detail=_detail(fault)) from fault
        raise


def _detail(fault: Exception) -> str:
    name = type(fault).__name__
    # What breaks the protocol is quoted in its message: a header with a key in it, or the host's bytes.
    if isinstance(fault, httpx.ProtocolError):
        return name
    return f"{_reason(fault) or name}: {fault}"[:500]


def _reason(fault: BaseException | None) -> str | None:
    """The first cause that has plain words: transports have one class for connections that failed in different ways."""
    while fault is not None:
        for kind, words in REASONS:
            if isinstance(fault, kind):
                return words
        # httpcore raises its own `from None`.
        fault = fault.__cause__ or fault.__context__
    return None
