"""What is asked of the list of decisions: which page of it; read from a query string."""

from dataclasses import dataclass
from typing import Final

from core.errors import InvalidRequest
from core.surfaces.query import Parameters, check_names, only_value, page_limit
from core.surfaces.surface import canonical_request_id, is_request_id

USUAL_LIST: Final = 20
LONGEST_LIST: Final = 100

_PARAMETERS: Final = ("limit", "after")


@dataclass(frozen=True, slots=True)
class DecisionsQuestion:
    """A page of the list, newest first; `after` is the request id that the page before ended with."""

    limit: int = USUAL_LIST
    after: str | None = None


def parse_decisions_question(parameters: Parameters) -> DecisionsQuestion:
    """Read a query string; the newest decisions unless it says otherwise.

    Raises:
        InvalidRequest: A value is wrong, or there is no such parameter; the parameter is named.
    """
    check_names(parameters, _PARAMETERS)
    after = only_value(parameters, "after")
    request_id = None if after is None else canonical_request_id(after)
    if request_id is not None and not is_request_id(request_id):
        raise InvalidRequest("'after' must be the id of a decision: the last of the page before.", param="after")
    return DecisionsQuestion(page_limit(parameters, USUAL_LIST, LONGEST_LIST), request_id)
