"""Where organisations' own keys at vendors are sealed for, and what is told when one does not work."""

from typing import Final

from core.errors import OwnKeyFailure
from core.kept import Place

PURPOSE: Final = "own_key"
"""What they are sealed for."""


def own_key_place(org: str, vendor: str) -> Place:
    """The only place in which an organisation's own key at a vendor opens."""
    return Place(org, PURPOSE, vendor)


def own_key_failed(
    *, detail: str, upstream_status: int | None = None, upstream_code: str | None = None
) -> OwnKeyFailure:
    """What an organisation is told of its own key. Messages name no vendor: the log and the operator's view do."""
    return OwnKeyFailure(
        "Your organisation's own key at the model's host does not work: the key was refused, or the account behind it "
        "has no credit or permission. Mend the account, or have another key set; the operator can tell which it is.",
        detail=detail,
        upstream_status=upstream_status,
        upstream_code=upstream_code,
    )
