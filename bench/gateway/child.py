"""The common part of the processes that are measured: what they were started with, and the socket that they serve."""

import json
import socket
import sys
from typing import Any


def options() -> dict[str, Any]:
    """What this process was started with."""
    found: dict[str, Any] = json.loads(sys.argv[1])
    return found


def listener() -> socket.socket:
    """The socket to serve on; it listens already."""
    return socket.socket(fileno=options()["fd"])
