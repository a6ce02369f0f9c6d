"""What a Bedrock error means: by the name of its exception, else by its status.

Words decide in two cases, as the last resort: a prompt that is too long, and a model that is not to be had under its
name, are told in prose alone, as a wrong request.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from core.catalog.model import Target
from core.chat import Json
from core.errors import (
    AccountFailure,
    ContextTooLong,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamUnavailable,
)
from core.providers.failure_words import caller_message
from core.providers.http_errors import (
    MAX_MESSAGE,
    ErrorBody,
    error_of,
    failure_class,
    failure_detail,
    machine_word,
    read_error,
    retry_after_s,
)

# Of AWS's common errors those about credentials, permission and clocks.
_NO_ACCESS: Final = (
    *("accessdenied", "unrecognizedclient", "invalidclienttokenid", "invalidsignature", "incompletesignature"),
    *("expiredtoken", "requestexpired", "missingauthenticationtoken", "notauthorized", "optinrequired"),
)

# The exceptions of the runtime's service model (botocore 1.43.127) and common ones, with their statuses; without
# `Exception`, in lower case: their first letter is small in streams (wire reference, 11.6, read 2026-11-30).
STATUS_OF: Final[Mapping[str, int]] = {
    **dict.fromkeys(("validation", "servicequotaexceeded"), 400),
    **dict.fromkeys(_NO_ACCESS, 403),
    "resourcenotfound": 404,
    "modeltimeout": 408,
    **dict.fromkeys(("modelerror", "modelstreamerror"), 424),
    **dict.fromkeys(("throttling", "modelnotready"), 429),
    **dict.fromkeys(("internalserver", "internalfailure"), 500),
    "serviceunavailable": 503,
}
_IN_BAND_STATUS: Final = 500

# Where the name says more than the status.
_CLASS_OF: Final[Mapping[str, type[UpstreamFailure]]] = {
    "servicequotaexceeded": ModelUnavailable,
    "modelnotready": UpstreamUnavailable,
    **dict.fromkeys(_NO_ACCESS, AccountFailure),
}

# Failures of the model behind the service say what it answered.
_ORIGINAL: Final = frozenset({"modelerror", "modelstreamerror"})

_TOO_LONG: Final = (
    "input is too long",
    "too many input tokens",
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "exceeds the maximum number of tokens",
)
_NO_MODEL: Final = ("on-demand throughput", "model identifier is invalid")


def failure_of(target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> UpstreamFailure:
    """The failure that an error response means. Header names are lower case."""
    said = read_error(body)
    name = headers.get("x-amzn-errortype") or _named(said)
    return _failure(target, status, name, said, retry_after_s(headers, now))


def failure_in_band(target: Target, name: str, said: Json) -> UpstreamFailure:
    """The failure that an error inside a successful response means: as if it had come with its own status.

    Args:
        target: Who answered.
        name: The exception's name; empty where only the body may tell.
        said: The parsed body.
    """
    error = error_of(said)
    name = name or _named(error)
    return _failure(target, STATUS_OF.get(_key(name), _IN_BAND_STATUS), name, error, None)


def is_error(said: Json) -> bool:
    """Whether a parsed body says anything of an error."""
    error = error_of(said)
    return bool(_named(error) or error.type or _message(error))


def _failure(target: Target, status: int, name: str, said: ErrorBody, retry_after: float | None) -> UpstreamFailure:
    plain = machine_word(_plain(name))
    said = replace(said, code=plain, message=_message(said))
    kind = _class(status, _key(name), said)
    return kind(
        caller_message(kind, said, target),
        retry_after_s=retry_after,
        detail=failure_detail(kind, status, plain),
        upstream_status=status,
        upstream_code=plain or None,
    )


def _class(status: int, key: str, said: ErrorBody) -> type[UpstreamFailure]:
    if key in _ORIGINAL:
        original = said.fields.get("originalStatusCode")
        status = original if type(original) is int and 400 <= original < 600 else status
    if status == 400 and key not in _CLASS_OF:
        prose = said.message.lower()
        if any(words in prose for words in _TOO_LONG):
            return ContextTooLong
        if any(words in prose for words in _NO_MODEL):
            return ModelUnavailable
    return _CLASS_OF.get(key) or failure_class(status)


def _named(said: ErrorBody) -> str:
    name = said.fields.get("__type")
    return name if isinstance(name, str) else said.code


def _message(said: ErrorBody) -> str:
    # Some of AWS's front doors write the member with a capital letter.
    others = (said.fields.get(name) for name in ("Message", "originalMessage"))
    return said.message or next((other[:MAX_MESSAGE] for other in others if isinstance(other, str)), "")


def _plain(name: str) -> str:
    """`ThrottlingException` of `com.amazon#ThrottlingException:http://...`."""
    return name.partition(":")[0].rpartition("#")[2].strip()


def _key(name: str) -> str:
    return _plain(name).lower().removesuffix("exception")
