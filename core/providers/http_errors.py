"""What every HTTP error says, whatever the format: the body's words, the wait asked for, the class that a status means.

It reads no prose and knows no vendor; codecs refine the class by machine code.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import orjson

from core.chat import Json
from core.errors import (
    AccountFailure,
    BadReply,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)

MAX_MESSAGE: Final = 2000
"""Characters of a host's message that are read at all."""

LONGEST_WAIT_S: Final = 86_400.0
"""A longer wait than a day is no wait that a host means."""

_MAX_WORD: Final = 64
_MAX_STEPS: Final = 32
# Words of letters and short numbers: what mixes the two without a separator may be a key or an id.
_WORD: Final = re.compile(r"(?:[A-Za-z]++|\d{1,5}+)(?:[_.-](?:[A-Za-z]++|\d{1,5}+))*+")

_CLASSES: Final[Mapping[int, type[UpstreamFailure]]] = {
    401: AccountFailure,
    402: AccountFailure,
    403: AccountFailure,
    404: ModelUnavailable,
    405: ModelUnavailable,  # the address is wrong, not the request
    407: AccountFailure,
    408: UpstreamUnavailable,
    409: UpstreamUnavailable,
    410: ModelUnavailable,
    421: UpstreamUnavailable,
    424: UpstreamUnavailable,
    425: UpstreamUnavailable,
    429: UpstreamRateLimited,
    451: ModelUnavailable,
    498: ModelUnavailable,  # Groq: no capacity in the flex tier
    499: UpstreamUnavailable,
}

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+")
_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
_NUMBER: Final = re.compile(r"\d{1,16}(?:\.\d{1,9})?")
_UNIX_SECONDS: Final = 1e9
_UNIX_MILLISECONDS: Final = 1e12


def failure_class(status: int) -> type[UpstreamFailure]:
    """The failure that a status means when no code says more (wire reference, section 11, read 2026-11-30).

    A success or a redirect is no answer that can be read; other client errors are the request's fault.
    """
    if status < 400:
        return BadReply
    return _CLASSES.get(status) or (UpstreamRejected if status < 500 else UpstreamUnavailable)


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """An error as its host words it.

    `code` is the machine-readable code as a string, `type` its class, both empty when missing. `fields` is the error
    object itself, for what one format alone knows.
    """

    message: str = ""
    code: str = ""
    type: str = ""
    param: str | None = None
    fields: Mapping[str, Json] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The most telling machine-readable word: the code, unless that only repeats a status beside a type."""
        code, kind = machine_word(self.code), machine_word(self.type)
        return kind if code.isdigit() and kind else code or kind


def machine_word(text: str) -> str:
    """A code or type as its host wrote it, or nothing where it may be a text, a key or an id instead."""
    text = text[: _MAX_WORD + 1].strip()
    return text if len(text) <= _MAX_WORD and _WORD.fullmatch(text) else ""


def failure_detail(kind: type[UpstreamFailure], status: int, word: str) -> str:
    """What the operator's log says of a failure: never the host's own sentences, which may hold prompts and keys.

    Args:
        kind: The class that was found.
        status: The HTTP status, or the one that an in-band error stands for.
        word: The host's code, as `machine_word` gave it; may be empty.
    """
    said = f"{status} {word}" if word and word != str(status) else f"{status}"
    return f"{said}: {kind.__name__}"


def read_error(body: bytes) -> ErrorBody:
    """Read an error body in any of the known forms; what is not JSON is its own message. Messages are cut short."""
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ErrorBody(message=body[:MAX_MESSAGE].decode(errors="replace").strip())
    return error_of(said)


def error_of(said: Json) -> ErrorBody:
    """The error in a parsed body: OpenAI's and Google's `error`, FastAPI's `detail`, or a bare `message`."""
    if isinstance(said, list):
        said = said[0] if said else None
    if not isinstance(said, dict):
        return ErrorBody(message="" if said is None else _text(said))
    error = said.get("error")
    if isinstance(error, dict):
        return _from_object(error)
    if isinstance(error, str) and error:
        return _from_object({**said, "message": error})
    if said.get("detail"):
        return _from_detail(said)
    return _from_object(said)


def _from_object(error: Mapping[str, Json]) -> ErrorBody:
    param = error.get("param")
    return ErrorBody(
        message=_text(error.get("message")),
        code=_text(error.get("code")),
        type=_text(error.get("type")),
        param=param if isinstance(param, str) and param else None,
        fields=error,
    )


def _from_detail(said: Mapping[str, Json]) -> ErrorBody:
    detail = said["detail"]
    first = detail[0] if isinstance(detail, list) else detail
    if not isinstance(first, dict):
        return ErrorBody(message=_text(first), fields=said)
    place = first.get("loc")
    steps = [str(step)[:_MAX_WORD] for step in place[:_MAX_STEPS] if step != "body"] if isinstance(place, list) else []
    return ErrorBody(
        message=_text(first.get("msg") or first.get("message")),
        type=_text(first.get("type")),
        param=".".join(steps) or None,
        fields=said,
    )


def _text(value: Json) -> str:
    return "" if value is None or isinstance(value, dict | list | bool) else str(value)[:MAX_MESSAGE]


def sensible_wait_s(seconds: float | None) -> float | None:
    """A wait that a host may mean, or None (wire reference, 10.7, read 2026-11-30)."""
    return seconds if seconds is not None and 0 <= seconds <= LONGEST_WAIT_S else None


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a host asks us to wait, or None when it does not say or says something absurd.

    `retry-after-ms` wins over `retry-after` (seconds or an HTTP date); the reset times of rate limits are the fallback:
    of the exhausted limits the last, else of all the first.

    Args:
        headers: Names in lower case.
        now: The current time, with a time zone.
    """
    return sensible_wait_s(_asked_s(headers, now))


def _asked_s(headers: Mapping[str, str], now: datetime) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    if asked is not None:
        seconds = _number(asked)
        return _until(_http_date(asked), now) if seconds is None else seconds
    return _limit_reset(headers, now)


def duration_s(text: str) -> float | None:
    """A duration such as `34.07s`, `7m12s` or `120ms` in seconds, or None when it is none."""
    text = text.strip()
    if not _DURATION.fullmatch(text):
        return None
    return sum(float(amount) * _UNITS[unit] for amount, unit in _DURATION_PART.findall(text))


def _limit_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    exhausted: list[float] = []
    others: list[float] = []
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        seconds = _reset_s(value, now)
        if seconds is not None:
            spent = headers.get(name.replace("reset", "remaining")) == "0"
            (exhausted if spent else others).append(seconds)
    if exhausted:
        return max(exhausted)
    return min(others, default=None)


def _reset_s(value: str, now: datetime) -> float | None:
    number = _number(value)
    if number is None:
        return _until(_iso_date(value), now) if duration_s(value) is None else duration_s(value)
    if number > _UNIX_MILLISECONDS:
        number /= 1000
    return max(0.0, number - now.timestamp()) if number > _UNIX_SECONDS else number


def _number(text: str | None) -> float | None:
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _http_date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None


def _iso_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _until(moment: datetime | None, now: datetime) -> float | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
