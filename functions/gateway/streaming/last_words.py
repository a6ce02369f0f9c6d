"""What a caller is told when the app cannot tell it any more, in the words of the error contract."""

import json
from typing import Any

from core.errors import DeadlineExceeded, GatewayError, InternalError

DONE = b"data: [DONE]\n\n"


def internal() -> GatewayError:
    """The app failed."""
    return InternalError("The gateway failed while it worked on this request. The failure has been logged.")


def deadline() -> GatewayError:
    """The time of the invocation is up."""
    return DeadlineExceeded("The request took longer than this gateway may run. Ask for less output, or stream it.")


def envelope(error: GatewayError, request_id: str) -> bytes:
    """The JSON body of an error."""
    return _json({"error": _members(error), "request_id": request_id})


def frames(error: GatewayError, request_id: str, before: bytes) -> bytes:
    """The frames that end an event stream: the error, then the end marker.

    Args:
        error: What is told.
        request_id: The request, as its own response headers name it.
        before: The last bytes that were sent: a line left open is closed first, and nothing follows an end marker.
    """
    if before.rstrip(b"\r\n").endswith(DONE.strip()):
        return b""
    told = {"object": "error", "id": request_id, "choices": [], "error": _members(error)}
    return b"".join((_gap(before), b"data: ", _json(told), b"\n\n", DONE))


def _members(error: GatewayError) -> dict[str, Any]:
    return {"message": error.message, "type": error.type, "param": error.param, "code": error.code}


def _json(told: dict[str, Any]) -> bytes:
    return json.dumps(told, separators=(",", ":")).encode()


def _gap(before: bytes) -> bytes:
    if not before or before.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")):
        return b""
    return b"\n" if before.endswith((b"\n", b"\r")) else b"\n\n"
