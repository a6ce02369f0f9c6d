"""DynamoDB's failures in words that an operator can act on, from one table; nothing is decided by prose."""

from typing import TYPE_CHECKING, cast

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ReadTimeoutError,
)

from core.errors import StoreUnavailable

if TYPE_CHECKING:
    from core.store.dynamodb_items import Attributes

CONDITION = "ConditionalCheckFailedException"

_SOON = 1.0  # seconds after which a repeat may help

_NO_CREDENTIALS = "there are no AWS credentials; give the process a role, a profile or keys"
_REFUSED = "AWS refuses the credentials; they are wrong, expired, or for another account"
_FORBIDDEN = "the role lacks the permission; allow it on this table and on its indexes"
_THROTTLED = "DynamoDB throttles; raise the table's limits if it goes on"
_FAILED = "DynamoDB failed for a reason of its own"
_UNREACHABLE = "DynamoDB cannot be reached; check the network, the region and the endpoint"
_LATE = "DynamoDB did not answer in time"
_INVALID = "DynamoDB finds the request invalid; too large an entry, or a table without our keys and indexes"

# By the code in the answer (DynamoDB developer guide, "Error handling", read 2026-11-30).
_ANSWERS: dict[str, tuple[str, float | None]] = {
    "ResourceNotFoundException": ("there is no such table (or index) in this region; deploy it", None),
    "AccessDeniedException": (_FORBIDDEN, None),
    "UnrecognizedClientException": (_REFUSED, None),
    "InvalidSignatureException": (_REFUSED, None),
    "IncompleteSignatureException": (_REFUSED, None),
    "MissingAuthenticationTokenException": (_REFUSED, None),
    "ExpiredTokenException": (_REFUSED, None),
    "ValidationException": (_INVALID, None),
    "ThrottlingException": (_THROTTLED, _SOON),
    "ProvisionedThroughputExceededException": (_THROTTLED, _SOON),
    "RequestLimitExceeded": (_THROTTLED, _SOON),
    "TransactionConflictException": ("another write was at the same entry", _SOON),
    "TransactionCanceledException": ("other writes were at the same entries, or DynamoDB throttles", _SOON),
    "InternalServerError": (_FAILED, _SOON),
    "ServiceUnavailable": (_FAILED, _SOON),
}

_BUSY = frozenset(
    {
        *("ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"),
        *("TransactionConflictException", "TransactionInProgressException"),
    }
)
_BUSY_REASONS = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})

# By exception, where there was no answer; the first that fits.
_SILENCES: tuple[tuple[type[BotoCoreError], str, float | None], ...] = (
    (NoCredentialsError, _NO_CREDENTIALS, None),
    (PartialCredentialsError, _NO_CREDENTIALS, None),
    (CredentialRetrievalError, "the AWS credentials could not be fetched", _SOON),
    (NoRegionError, "no AWS region is set", None),
    (ConnectTimeoutError, _UNREACHABLE, _SOON),
    (EndpointConnectionError, _UNREACHABLE, _SOON),
    (ReadTimeoutError, _LATE, _SOON),
    (ConnectionClosedError, _LATE, _SOON),
    (BotoCoreError, "the AWS client failed", _SOON),
)


def unavailable(error: ClientError | BotoCoreError, table: str) -> StoreUnavailable:
    """What went wrong with a table."""
    words, retry_after_s = _silence(error) if isinstance(error, BotoCoreError) else _answer(error)
    detail = f"The table {table} cannot be used: {words} ({error})."
    fault = StoreUnavailable(detail=detail, retry_after_s=retry_after_s)
    fault.__cause__ = error
    return fault


def throttled(table: str) -> StoreUnavailable:
    """What is raised when DynamoDB leaves a whole batch undone, which is how batches are throttled."""
    return StoreUnavailable(detail=f"The table {table} cannot be used: {_THROTTLED}.", retry_after_s=_SOON)


def refused_by_condition(error: ClientError) -> bool:
    """Whether a write's own condition did not hold."""
    return _code(error) == CONDITION


def found_instead(error: ClientError) -> "Attributes":
    """The item that made a condition fail, for writes that asked for it."""
    return cast("Attributes", error.response.get("Item", {}))


def refused_in_transaction(error: ClientError) -> bool:
    """Whether a transaction was cancelled because a condition in it did not hold."""
    return "ConditionalCheckFailed" in cancellations(error)


def outpaced(error: ClientError) -> bool:
    """Whether a transaction was cancelled because another write was at one of its items; a repeat may go through."""
    return "TransactionConflict" in cancellations(error)


def cancellations(error: ClientError) -> list[str | None]:
    """Why each action of a cancelled transaction failed, in order ("None" for one that did not); empty otherwise."""
    reasons = cast("list[dict[str, str]]", error.response.get("CancellationReasons", []))
    return [reason.get("Code") for reason in reasons]


def found_in_transaction(error: ClientError) -> "list[Attributes | None]":
    """For each action of a cancelled transaction the item that made its condition fail, None where it did not."""
    reasons = error.response.get("CancellationReasons", [])
    return [
        cast("Attributes", reason.get("Item", {})) if reason.get("Code") == "ConditionalCheckFailed" else None
        for reason in reasons
    ]


def may_pass(error: ClientError) -> bool:
    """Whether nothing was written because others were in the way, so that the same may be written in a moment."""
    return _code(error) in _BUSY or not _BUSY_REASONS.isdisjoint(cancellations(error))


def contended(table: str) -> StoreUnavailable:
    """What is raised when an item changes each time before it can be written."""
    return StoreUnavailable(
        detail=f"The table {table} cannot be used: an entry changes faster than it can be written.",
        retry_after_s=_SOON,
    )


def _answer(error: ClientError) -> tuple[str, float | None]:
    return _ANSWERS.get(_code(error), (_FAILED, _SOON))


def _silence(error: BotoCoreError) -> tuple[str, float | None]:
    return next((words, wait) for kind, words, wait in _SILENCES if isinstance(error, kind))


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")
