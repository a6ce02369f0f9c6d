"""A failure in the form that Lambda keeps of it; never with an exception's own text, which may quote a request."""

import json
import re
import traceback
from dataclasses import dataclass

_NOT_A_LETTER = re.compile("[^A-Za-z]")


@dataclass(frozen=True, slots=True)
class Failure:
    """What is reported about a failed invocation or start.

    Args:
        type: `Runtime.` or `Function.` and a name of letters only; Lambda replaces any other by "unknown".
        message: What happened, in words of our own.
        frames: Where it happened, outermost first, without source text.
    """

    type: str
    message: str
    frames: tuple[str, ...] = ()

    def document(self) -> bytes:
        """The JSON that `/error` takes (AWS Lambda developer guide, "Runtime API", read 2026-11-30)."""
        body = {"errorMessage": self.message, "errorType": self.type, "stackTrace": list(self.frames)}
        return json.dumps(body, separators=(",", ":")).encode()


def failure_of(error: BaseException, message: str) -> Failure:
    """The failure that an exception of the app's means."""
    name = _NOT_A_LETTER.sub("", type(error).__name__)
    return Failure(f"Function.{name[:1].upper()}{name[1:]}" if name else "Function.Unknown", message, frames(error))


def failure_at_start(error: BaseException, kind: str | None = None) -> Failure:
    """The failure that kept the function from starting: no request is near, so the exception's text may be told.

    Args:
        error: What was raised.
        kind: Lambda's name for it; by default the exception's own.
    """
    told = failure_of(error, f"{type(error).__name__}: {error}")
    return told if kind is None else Failure(kind, told.message, told.frames)


def frames(error: BaseException) -> tuple[str, ...]:
    """Where an exception came from: `file:line function`, outermost first."""
    stack = traceback.extract_tb(error.__traceback__)
    return tuple(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in stack)
