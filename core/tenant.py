"""Who calls: organisations and their keys, as values."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Organisation:
    """A paying party. `markup` and `discount` are exact shares of the provider's price."""

    id: str
    name: str
    created_ms: int
    markup: Fraction = Fraction(0)
    discount: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Key:
    """A caller's key. Only its SHA-256 (`digest`, hex) is kept; `hint` is its last four characters.

    Times are Unix milliseconds, None while they do not apply. `policies` names the routing policies it may use, the
    first being its default; `models` the only models it may name, None for all.
    """

    digest: str
    id: str
    org: str
    name: str
    hint: str
    created_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None
    policies: tuple[str, ...] = ("default",)
    models: tuple[str, ...] | None = None

    def is_live(self, now_ms: int) -> bool:
        """Whether the key may be used at that time."""
        return self.revoked_ms is None and (self.expires_ms is None or now_ms < self.expires_ms)
