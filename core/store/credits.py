"""How much an organisation may have paid in, in either store."""

from typing import Final

from core.errors import InvalidRequest

LARGEST_CREDITS: Final = 2**63 - 1
"""The most micro-dollars, on either side of 0: SQLite's largest integer, beyond which it goes on with fractions."""


def too_large() -> InvalidRequest:
    """The failure of a payment that would pass it."""
    return InvalidRequest(
        f"The credits may come to {LARGEST_CREDITS} micro-dollars at most, owed or paid in. Nothing was added.",
        param="micros",
    )
