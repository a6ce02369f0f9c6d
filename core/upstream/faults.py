"""Which failure each fault of the transport is: one table, the most specific class first."""

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
    return name if isinstance(fault, httpx.ProtocolError) else f"{name}: {fault}"[:500]
