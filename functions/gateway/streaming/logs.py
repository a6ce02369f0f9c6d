"""Log lines for CloudWatch: one JSON object a line on standard output, never the text of an exception."""

import json
import logging
import sys
import time
from contextvars import ContextVar
from typing import Any, TextIO

from functions.gateway.streaming.failures import frames

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Lambda's id of the invocation that the current task works for."""

gateway_request_id: ContextVar[str | None] = ContextVar("gateway_request_id", default=None)
"""Our own id of the request, which its caller is told."""


class JsonLines(logging.Formatter):
    """Lambda's own field names, so that its log filters work (AWS Lambda developer guide, "JSON log format")."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "timestamp": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "message": record.getMessage(),
            "logger": record.name,
        }
        if (current := request_id.get()) is not None:
            line["requestId"] = current
        if (named := gateway_request_id.get()) is not None:
            line["request_id"] = named
        line |= getattr(record, "fields", {})
        if record.exc_info and (error := record.exc_info[1]) is not None:
            line |= {"errorType": type(error).__name__, "stackTrace": frames(error)}
        return json.dumps(line, default=str)


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send what is logged anywhere in the process to one place.

    Args:
        level: The least severe level that our own code logs; others' code logs warnings at least.
        stream: Where to; standard output by default.
    """
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    for own in ("core", "functions"):
        logging.getLogger(own).setLevel(level)
    logging.captureWarnings(True)
