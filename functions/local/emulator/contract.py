"""What Lambda asks of a response stream and of a reported error, checked; what breaks it is `BadWire`.

AWS Lambda developer guide, "Building a custom runtime" and "Runtime API"; API Gateway developer guide, "Set up a Lambda
proxy integration with payload response streaming" (read 2026-11-30).
"""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from functions.local.emulator.wire import BadWire, Request

HTTP_RESPONSE = "application/vnd.awslambda.http-integration-response"
ERROR_TYPE = "lambda-runtime-function-error-type"
ERROR_BODY = "lambda-runtime-function-error-body"
PRELUDE_LIMIT = 16 * 1024
DELIMITER = bytes(8)
_KNOWN_TYPE = re.compile(r"(Runtime|Function)\.[A-Z][A-Za-z]+")


def check_head(request: Request) -> None:
    """Check the head of a streamed response.

    Raises:
        BadWire: Lambda would not take it as one.
    """
    declared = {name.strip().lower() for name in request.headers.get("trailer", "").split(",")}
    if request.headers.get("lambda-runtime-function-response-mode") != "streaming":
        raise BadWire("a chunked response that is not declared as streaming")
    if request.headers.get("content-type") != HTTP_RESPONSE:
        raise BadWire(f"a response of type {request.headers.get('content-type')}")
    if declared != {ERROR_TYPE, ERROR_BODY}:
        raise BadWire(f"the trailers {declared} are declared")


def parse_prelude(received: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The prelude and what came after its delimiter; None while it is not whole.

    Raises:
        BadWire: It is too long, or not of the documented shape.
    """
    told, delimiter, rest = received.partition(DELIMITER)
    if not delimiter:
        if len(received) >= PRELUDE_LIMIT:
            raise BadWire("no delimiter in the first 16 KiB")
        return None
    if len(told) + len(DELIMITER) >= PRELUDE_LIMIT:
        raise BadWire(f"the prelude takes {len(told)} bytes")
    prelude = json.loads(told)
    _check_prelude(prelude)
    return prelude, rest


def _check_prelude(prelude: Any) -> None:
    allowed = {"statusCode": int, "headers": dict, "multiValueHeaders": dict, "cookies": list}
    if not isinstance(prelude, dict) or not isinstance(prelude.get("statusCode"), int):
        raise BadWire("the prelude has no status")
    for name, value in prelude.items():
        if name not in allowed or not isinstance(value, allowed[name]):
            raise BadWire(f"the prelude's {name} is {value!r}")
    singles = [*prelude.get("headers", {}).values(), *prelude.get("cookies", [])]
    lists = prelude.get("multiValueHeaders", {}).values()
    if not all(isinstance(each, list) for each in lists):
        raise BadWire("a multi-value header is no list")
    if not all(isinstance(each, str) for each in [*singles, *(value for each in lists for value in each)]):
        raise BadWire("a header's value is no string")
    if "multiValueHeaders" in prelude and "cookies" in prelude:
        raise BadWire("the prelude mixes two payload formats")


def parse_error(body: bytes, kind: str | None) -> dict[str, Any]:
    """The JSON document of a reported error.

    Raises:
        BadWire: Lambda would not keep it.
    """
    if kind is None or not _KNOWN_TYPE.fullmatch(kind):
        raise BadWire(f"Lambda would not keep the error type {kind!r}")
    document = json.loads(body)
    if not isinstance(document, dict) or set(document) != {"errorMessage", "errorType", "stackTrace"}:
        raise BadWire("the error is not of the documented shape")
    if not all(isinstance(document[name], str) for name in ("errorMessage", "errorType")):
        raise BadWire("the error's members are no strings")
    if not all(isinstance(frame, str) for frame in document["stackTrace"]):
        raise BadWire("the stack trace is no list of strings")
    return document


def check_trailers(fields: Mapping[str, str]) -> None:
    """Check the trailers of a response; none are allowed, too.

    Raises:
        BadWire: They are not those of an error.
    """
    if not fields:
        return
    if set(fields) != {ERROR_TYPE, ERROR_BODY}:
        raise BadWire(f"trailers {set(fields)}")
    document = parse_error(base64.b64decode(fields[ERROR_BODY], validate=True), fields[ERROR_TYPE])
    if document["errorType"] != fields[ERROR_TYPE]:
        raise BadWire("the trailers disagree on the type of the error")
