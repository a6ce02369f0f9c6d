"""What becomes of each request field in each upstream format: data, with the reason; the only source of `dropped_params`."""

from dataclasses import dataclass
from enum import Enum

from core.catalog.model import Target
from core.chat import ChatRequest


class Disposition(Enum):
    """The four ways in which a field that a caller sent can end (the contract, section 2)."""

    FORWARDED = "forwarded"
    MAPPED = "mapped"
    DROPPED = "not_forwarded"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Disposed:
    """The dispositions of one request at one target; `reported` are the dotted names for `usage.dropped_params`."""

    kept: frozenset[str]
    reported: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    def sends(self, field: str) -> bool:
        """Whether the caller set this field and it reaches the upstream in some form."""
        return field in self.kept


def dispose(request: ChatRequest, target: Target) -> Disposed:
    """Decide for every field that the caller set. Codecs send what `sends` says and nothing else."""
    raise NotImplementedError
