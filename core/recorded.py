"""Decisions that are read back: under which id they are kept, and what is told of their usage."""

from collections.abc import Mapping

from core.chat import Json
from core.errors import NotFound
from core.record import Record
from core.surfaces.openai_chat import usage_object
from core.surfaces.surface import canonical_request_id, is_request_id


def record_id(response_id: str) -> str:
    """The id of a record, from either form of an answer's.

    Raises:
        NotFound: It is no such id; nothing else is looked up.
    """
    request_id = canonical_request_id(response_id)
    if not is_request_id(request_id):
        raise _no_decision()
    return request_id


def there(record: Record | None) -> Record:
    """The record.

    Raises:
        NotFound: There is none.
    """
    if record is None:
        raise _no_decision()
    return record


def recorded_usage(record: Record) -> Mapping[str, Json] | None:
    """The usage of a request, once it is settled."""
    if not record.is_settled:
        return None
    return usage_object(
        record.usage,
        record.charge,
        latency_ms=record.latency_ms or 0,
        ttft_ms=record.ttft_ms,
        truncated=record.decision.get("truncated"),
    )


def _no_decision() -> NotFound:
    return NotFound(
        "There is no decision of that id. GET /routing-decisions lists the newest.", code="decision_not_found"
    )
